//! `bitrift repro`: folders that show findings on a machine without bitrift.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::RESULTS;
use super::console::Console;
use super::failure::Failure;
use super::plain::{Plain, Programs};
use super::plan::family;
use super::{interrupt, lab};
use crate::cli::{Exit, FunctionGlobs, ReproArgs};
use crate::compile::{Cache, REPRO_FILE, Relocation, ReproCall, repro_lines, repro_text, setting_words};
use crate::findings::{StoredWitness, answer_word, finding, finding_ids, is_timeout, with_inputs};
use crate::matrix;
use crate::model::{Build, Confirmed, Experiment, FpSetting, FunctionRow, NumberText, RunFile, printable};
use crate::plan::{self, Plan};
use crate::report::repro::{Repro, Side, readme, script};
use crate::store::{REPRO_SCRIPT, read_confirm, read_run, resolve, write_repro};

/// Where folders go when nothing is said.
const PLACE: &str = "repro";
/// The C files of baseline and variant where they are not the same.
const REPRO_FILES: [&str; 2] = ["repro-baseline.c", "repro-variant.c"];
/// Where copies of the sources go in one.
const FILES: &str = "files";
/// A call that is to give a value has this long.
const PATIENCE_MS: u64 = 60_000;

pub fn run(args: &ReproArgs, console: &Console) -> Result<Exit, Failure> {
    let (run_name, wanted) = words(args)?;
    let folder = resolve(Path::new(RESULTS), run_name)?;
    let run = read_run(&folder)?;
    let ids = match wanted {
        Some(id) => vec![id.to_string()],
        None => finding_ids(&run),
    };
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let found: Vec<(&FunctionRow, StoredWitness)> =
        ids.iter().map(|id| known(&run, id, &experiment)).collect::<Result<_, _>>()?;
    let plan = plan::expand(&experiment)?;
    let place = args.cache.as_deref().map_or_else(Cache::default_folder, Path::to_path_buf);
    let plain = Plain {
        experiment: &experiment,
        cache: &Cache::open(&place)?,
        jobs: lab::jobs(args.jobs),
        cancel: interrupt::flag()?,
    };
    let functions: BTreeSet<&str> = found.iter().map(|(row, _)| row.name.as_str()).collect();
    let names = found.iter().flat_map(|(_, w)| [w.baseline.as_str(), w.build.as_str()]);
    let builds = plan.builds.iter().filter(|b| names.clone().any(|name| name == b.id.as_str()));
    let programs = plain.programs(
        |f| functions.contains(f.name.as_str()),
        builds,
        console.progress(args.quiet).as_ref(),
    )?;
    let confirm = read_confirm(&folder)?;
    let mut text = String::new();
    for (row, witness) in &found {
        let maker = Maker { run: &run, plan: &plan, programs: &programs, row, witness };
        let out = out_folder(args, &witness.id);
        maker.write(&out)?;
        let shown = crate::report::plan::quoted(&out.join(REPRO_SCRIPT).display().to_string());
        text.push_str(&format!("sh {shown}\n"));
        let row = confirm.as_ref().and_then(|c| c.witnesses.get(&witness.id));
        if let Some(row) = row.filter(|row| row.confirmed == Confirmed::No) {
            console.complain(&format!(
                "{} is not confirmed, so its script will say so: {}",
                witness.id, row.reason
            ));
        }
    }
    console.print(&text)?;
    Ok(Exit::Done)
}

/// The run and the finding among the words.
fn words(args: &ReproArgs) -> Result<(Option<&str>, Option<&str>), Failure> {
    match (args.words.as_slice(), args.all) {
        ([], true) => Ok((None, None)),
        ([run], true) => Ok((Some(run), None)),
        ([finding], false) => Ok((None, Some(finding))),
        ([run, finding], false) => Ok((Some(run), Some(finding))),
        (_, true) => Err(Failure::usage("--all means every finding of the run; leave the finding out")),
        (_, false) => Err(Failure::usage(
            "which finding? Give its id, such as `function#build.1` (run.json and `bitrift replay --all` have them), \
             or --all",
        )),
    }
}

/// A finding with its inputs, or what is wrong with its name.
fn known<'a>(
    run: &'a RunFile,
    id: &str,
    experiment: &Experiment,
) -> Result<(&'a FunctionRow, StoredWitness), Failure> {
    let Some((row, witness)) = finding(run, id) else { return Err(no_such_finding(run, id)) };
    let witness = with_inputs(row, &witness, &experiment.functions).map_err(|error| {
        Failure::usage(format!("{id} cannot be shown: {error}; give the run's own --matrix"))
    })?;
    Ok((row, witness))
}

/// What to say when an id is none of the run's.
pub(super) fn no_such_finding(run: &RunFile, id: &str) -> Failure {
    let ids = finding_ids(run);
    let function = id.split('#').next().unwrap_or(id);
    let of_function: Vec<&str> =
        ids.iter().map(String::as_str).filter(|known| known.split('#').next() == Some(function)).collect();
    let near = matrix::nearest(id, of_function.iter().copied().chain(ids.iter().map(String::as_str)));
    let meant = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    let (whose, listed) = match of_function.is_empty() {
        false => (format!("findings of {function}"), of_function),
        true => ("findings of the run".into(), ids.iter().map(String::as_str).collect()),
    };
    Failure::usage(format!("no finding `{id}`{meant}\n{whose}: {}", matrix::quoted(listed)))
}

/// The folder of one finding.
fn out_folder(args: &ReproArgs, id: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let name: String = id.chars().map(plain).take(200).collect();
    match (&args.out, args.all) {
        (Some(out), false) => out.clone(),
        (out, _) => out.clone().unwrap_or_else(|| PLACE.into()).join(name),
    }
}

/// One finding on its way into a folder.
struct Maker<'a> {
    run: &'a RunFile,
    plan: &'a Plan,
    programs: &'a Programs,
    row: &'a FunctionRow,
    witness: &'a StoredWitness,
}

impl Maker<'_> {
    fn write(&self, out: &Path) -> Result<(), Failure> {
        let StoredWitness { id, function, baseline, build, row, .. } = self.witness;
        let parts = [self.part(baseline)?, self.part(build)?];
        let headers = parts.iter().flat_map(|part| part.headers).cloned().collect();
        let mut experiment = self.programs.experiment.clone();
        experiment.functions.retain(|f| f.name == *function);
        let moved = Relocation::new(&experiment, &[parts[0].build, parts[1].build], &headers, FILES);
        let experiment = moved.experiment(&experiment);
        let about =
            format!("{}: prints the bits of the result at one input. Made by bitrift.", printable(id));
        let limit_ms = match [&row.baseline, &row.variant].into_iter().any(is_timeout) {
            true => experiment.search.timeout_ms,
            false => PATIENCE_MS,
        };
        let call = |part: &Part<'_>| ReproCall {
            experiment: &experiment,
            implementation: experiment.implementation(part.build),
            inputs: &self.witness.inputs,
            forced: parts.iter().any(|part| part.setting != FpSetting::default()),
            limit_ms,
            about: &about,
        };
        let text = |part: &Part<'_>| {
            repro_text(&call(part)).ok_or_else(|| Failure::new(Exit::Internal, "a finding without function"))
        };
        let calls = [text(&parts[0])?, text(&parts[1])?];
        // Two implementations are called in two ways.
        let files = if calls[0] == calls[1] { [REPRO_FILE; 2] } else { REPRO_FILES };
        let sides = [
            self.side(&moved, &experiment, (&parts[0], files[0], "baseline"), &row.baseline)?,
            self.side(&moved, &experiment, (&parts[1], files[1], "variant"), &row.variant)?,
        ];
        let names = self.row.params.iter().map(|p| p.name.clone());
        let repro = Repro {
            id: id.clone(),
            function: function.clone(),
            inputs: names.zip(row.inputs.iter().cloned()).collect(),
            sides,
            host: format!("{}, {}", self.run.host.cpu, self.run.host.libm),
        };
        let mut texts: BTreeMap<&str, String> = files.into_iter().zip(calls).collect();
        texts.extend([(REPRO_SCRIPT, script(&repro)), ("README.txt", readme(&repro))]);
        let copies = moved.files().map(|(from, to)| (to, from.to_path_buf())).collect();
        Ok(write_repro(out, &texts, &copies)?)
    }

    /// What is known of a build that has the function.
    fn part(&self, name: &str) -> Result<Part<'_>, Failure> {
        let StoredWitness { id, function, .. } = self.witness;
        let cannot = |reason: String| {
            Failure::new(Exit::Unevaluated, format!("{id} cannot be shown: {name}: {reason}"))
        };
        let (place, object) = self.programs.program(function, name).map_err(cannot)?;
        let build = self.plan.builds.iter().find(|b| b.id.as_str() == name);
        let build = build.ok_or_else(|| cannot("not a build of the matrix".into()))?;
        let setting = object.runner.as_ref().map(|runner| runner.setting).unwrap_or_default();
        Ok(Part { build, setting, headers: &self.programs.objects[place].headers })
    }

    fn side(
        &self,
        moved: &Relocation,
        experiment: &Experiment,
        (part, file, folder): (&Part<'_>, &str, &str),
        answer: &NumberText,
    ) -> Result<Side, Failure> {
        let Part { build, setting, .. } = part;
        let relocated = moved.build(&build.plainly());
        let (compile, link) = repro_lines(experiment, &relocated, family(&build.command), (file, folder));
        let tunables = build.environment.tunables.iter();
        let mut run: Vec<String> =
            tunables.flat_map(|value| ["env".to_string(), format!("GLIBC_TUNABLES={value}")]).collect();
        run.extend(build.runner.iter().cloned());
        run.push(format!("./{folder}/repro"));
        run.extend(setting_words(setting));
        let result = experiment.functions.first().map(|f| f.result);
        let word = result.and_then(|result| answer_word(result, experiment.search.nan, answer));
        let word = word.ok_or_else(|| {
            let id = &self.witness.id;
            Failure::usage(format!(
                "{id} cannot be shown: `{}` is nothing that one call of a program shows",
                answer.dec
            ))
        })?;
        let version = self.run.builds.iter().find(|row| row.id == build.id.as_str());
        Ok(Side {
            build: build.id.to_string(),
            version: version.map(|row| row.version.clone()).unwrap_or_default(),
            folder: folder.into(),
            compile: compile.into_iter().map(|line| line.argv).collect(),
            link: link.into_iter().map(|line| line.argv).collect(),
            run,
            word,
            answer: answer.clone(),
        })
    }
}

/// One of the two builds.
struct Part<'a> {
    build: &'a Build,
    setting: FpSetting,
    headers: &'a BTreeSet<PathBuf>,
}
