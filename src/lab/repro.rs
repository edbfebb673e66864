//! What shows one finding on a machine without bitrift: command lines, a C file with a `main`, copies of the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::error::LabError;
use super::finding::Finding;
use super::open::Lab;
use super::programs::Programs;
use crate::compile::{REPRO_FILE, Relocation, ReproCall, repro_lines, repro_text, setting_words};
use crate::findings::{StoredWitness, answer_word, replayable};
use crate::model::{
    Answer, Build, BuildId, EventSink, Experiment, FaultKind, FindingId, FpSetting, Number, RunFile,
    printable,
};
use crate::toolchain::{Compilers, Family};

/// The C files of baseline and variant where they are not the same.
const REPRO_FILES: [&str; 2] = ["repro-baseline.c", "repro-variant.c"];
/// Where copies of the sources go.
const FILES: &str = "files";
/// A call that is to give a value has this long.
const PATIENCE_MS: u64 = 60_000;

/// One of the two builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub build: BuildId,
    /// The compiler's first line about itself, when the finding was stored.
    pub version: String,
    /// Where its objects and its program go.
    pub folder: String,
    pub compile: Vec<Vec<String>>,
    /// Ways to link, of which the first that works counts.
    pub link: Vec<Vec<String>>,
    /// The line that runs the program.
    pub run: Vec<String>,
    /// The word by which the stored answer is known.
    pub word: String,
    pub answer: Answer,
    /// All values by name, of a function that gives several.
    pub values: Vec<(String, Answer)>,
}

/// A finding that is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repro {
    pub id: FindingId,
    pub function: String,
    /// Names of the parameters with the witness.
    pub inputs: Vec<(String, Number)>,
    /// The value that differs most, of a function that gives several.
    pub worst: Option<String>,
    /// The baseline, then the variant.
    pub sides: [Side; 2],
    /// The machine that found it.
    pub host: String,
}

/// A finding with the files that show it.
#[derive(Clone, Debug)]
pub struct Kit {
    pub repro: Repro,
    /// The C files that call the function: one where both builds call it in the same way.
    pub texts: BTreeMap<&'static str, String>,
    /// Files to copy, by their places beside the script.
    pub copies: BTreeMap<PathBuf, PathBuf>,
}

/// Findings of a run that are to be shown, with their programs.
pub struct Repros<'r> {
    lab: &'r Lab,
    run: &'r RunFile,
    pub findings: Vec<Finding<'r>>,
    programs: Programs,
}

/// One of the two builds, and what its program was linked from.
struct Part<'a> {
    build: &'a Build,
    setting: FpSetting,
    headers: &'a BTreeSet<PathBuf>,
}

/// Which arguments a compiler understands; one that is not here is judged by its name.
pub fn family(command: &str, compilers: &Compilers) -> Family {
    compilers.find(command).map_or_else(|_| Family::guess(command), |compiler| compiler.family)
}

impl Lab {
    /// Compiles the programs that show findings of a run.
    pub fn repros<'r>(
        &'r self,
        run: &'r RunFile,
        findings: Vec<Finding<'r>>,
        sink: &dyn EventSink,
    ) -> Result<Repros<'r>, LabError> {
        for Finding { row, witness } in &findings {
            replayable(row, &self.experiment.functions).map_err(|error| {
                let reason = format!("{error}; give the run's own --matrix");
                LabError::NotShown { id: witness.id.clone(), reason }
            })?;
        }
        let programs = self.programs_of(findings.iter().map(|found| &found.witness), sink)?;
        Ok(Repros { lab: self, run, findings, programs })
    }
}

impl Repros<'_> {
    /// What shows one of the findings.
    pub fn kit(&self, Finding { row: function_row, witness }: &Finding<'_>) -> Result<Kit, LabError> {
        let StoredWitness { id, function, baseline, build, row, inputs } = witness;
        let parts = [self.part(witness, baseline)?, self.part(witness, build)?];
        let headers = parts.iter().flat_map(|part| part.headers).cloned().collect();
        let mut experiment = self.programs.experiment.clone();
        experiment.functions.retain(|f| f.name == *function);
        let moved = Relocation::new(&experiment, &[parts[0].build, parts[1].build], &headers, FILES);
        let experiment = moved.experiment(&experiment);
        let limit_ms = match [row.baseline, row.variant].contains(&Answer::Fault(FaultKind::Timeout)) {
            true => experiment.search.timeout_ms,
            false => PATIENCE_MS,
        };
        let shown = printable(&id.to_string());
        let about = format!("{shown}: prints the bits of the result at one input. Made by bitrift.");
        let forced = parts.iter().any(|part| part.setting != FpSetting::default());
        let text = |part: &Part<'_>| {
            let implementation = experiment.implementation(part.build);
            let about = about.as_str();
            let call = ReproCall { experiment: &experiment, implementation, inputs, forced, limit_ms, about };
            repro_text(&call).ok_or_else(|| LabError::NotShown {
                id: id.clone(),
                reason: format!("function {function} is not in the matrix"),
            })
        };
        let calls = [text(&parts[0])?, text(&parts[1])?];
        // Two implementations are called in two ways.
        let files = if calls[0] == calls[1] { [REPRO_FILE; 2] } else { REPRO_FILES };
        let names: Vec<String> = row.results.iter().map(|value| value.name.clone()).collect();
        let (baseline, variant) = row.answers();
        let of_baseline = (row.baseline, baseline, names.as_slice());
        let of_variant = (row.variant, variant, names.as_slice());
        let sides = [
            self.side(id, &moved, &experiment, (&parts[0], files[0], "baseline"), of_baseline)?,
            self.side(id, &moved, &experiment, (&parts[1], files[1], "variant"), of_variant)?,
        ];
        let params = function_row.params.iter().map(|p| p.name.clone());
        let repro = Repro {
            id: id.clone(),
            function: function.clone(),
            worst: row.worst.clone(),
            inputs: params.zip(row.inputs.iter().copied()).collect(),
            sides,
            host: format!("{}, {}", self.run.host.cpu, self.run.host.libm),
        };
        let copies = moved.files().map(|(from, to)| (to, from.to_path_buf())).collect();
        Ok(Kit { repro, texts: files.into_iter().zip(calls).collect(), copies })
    }

    /// What is known of a build that has the function.
    fn part(&self, witness: &StoredWitness, name: &BuildId) -> Result<Part<'_>, LabError> {
        let cannot =
            |reason: String| LabError::NoProgram { id: witness.id.clone(), build: name.clone(), reason };
        let program = self.programs.program(&witness.function, name).map_err(|why| cannot(why.0))?;
        let build = self.lab.build(name).ok_or_else(|| cannot("not a build of the matrix".into()))?;
        let (object, objects) = program;
        let setting = object.runner.as_ref().map(|runner| runner.setting).unwrap_or_default();
        Ok(Part { build: &self.lab.plan.builds[build], setting, headers: &objects.headers })
    }

    fn side(
        &self,
        id: &FindingId,
        moved: &Relocation,
        experiment: &Experiment,
        (part, file, folder): (&Part<'_>, &str, &str),
        (answer, all, names): (Answer, Vec<Answer>, &[String]),
    ) -> Result<Side, LabError> {
        let Part { build, setting, .. } = part;
        let relocated = moved.build(&build.plainly());
        let (family, cache) = (family(&build.command, &self.lab.compilers), self.lab.cache.root());
        let (compile, link) = repro_lines(experiment, &relocated, family, (file, folder), cache);
        let tunables = build.environment.tunables.iter();
        let mut run: Vec<String> =
            tunables.flat_map(|value| ["env".to_string(), format!("GLIBC_TUNABLES={value}")]).collect();
        run.extend(build.runner.iter().cloned());
        run.push(format!("./{folder}/repro"));
        run.extend(setting_words(setting));
        let words = |all: &[Answer]| -> Option<Vec<String>> {
            all.iter().map(|answer| answer_word(experiment.search.nan, *answer)).collect()
        };
        // A fault stands for all values.
        let shown = if answer.number().is_some() { all.as_slice() } else { &[answer] };
        let word = words(shown).map(|words| words.join(" ")).ok_or_else(|| LabError::NotShown {
            id: id.clone(),
            reason: format!("`{}` is nothing that one call of a program shows", answer.dec()),
        })?;
        let version = self.run.builds.iter().find(|row| row.id == build.id);
        Ok(Side {
            build: build.id.clone(),
            version: version.map(|row| row.version.clone()).unwrap_or_default(),
            folder: folder.into(),
            compile: compile.into_iter().map(|line| line.argv).collect(),
            link: link.into_iter().map(|line| line.argv).collect(),
            run,
            word,
            answer,
            values: names.iter().cloned().zip(all).collect(),
        })
    }
}
