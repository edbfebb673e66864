//! `bitrift explain`: why findings of a run differ, from the environment to the statement and the compiler's
//! pass. The answers stand beside the run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::console::Console;
use super::explain_times::{fix_times, safe_times};
use super::failure::Failure;
use super::repro::no_such_finding;
use super::{RESULTS, interrupt, lab, sources};
use crate::cli::{Exit, ExplainArgs, FunctionGlobs};
use crate::compile::{Cache, Mixer, Settings};
use crate::explain::{
    Case, Desk, ExplainError, Explainer, Pair, Question, Workshop, fix, group, needed, since,
};
use crate::findings::{StoredWitness, finding, replayable, witnesses};
use crate::model::{
    BuildId, Cost, Event, EventSink, Experiment, ExplainFile, ExplainRow, Explained, FindingId, FunctionRow,
    Layer, LayerRow, RunFile, Standing, Suspect, canonical,
};
use crate::plan::{self, Plan};
use crate::pool::Limits;
use crate::report;
use crate::store::{explain_json, read_explain, read_run, resolve, write_explain};
use crate::toolchain::find;

pub fn run(args: &ExplainArgs, console: &Console) -> Result<Exit, Failure> {
    let (name, word) = words(&args.words)?;
    let folder = resolve(Path::new(RESULTS), name)?;
    let run = read_run(&folder)?;
    let id =
        word.map(|word| word.parse::<FindingId>().map_err(|_| no_such_finding(&run, word))).transpose()?;
    let id = id.as_ref();
    let names: Vec<&str> = run.functions.iter().map(|f| f.name.as_str()).collect();
    lab::check_globs(&args.functions, &names, "of the run")?;
    let mut experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    // As the run was built, so that its objects are found in the cache.
    experiment.functions.retain(|f| names.contains(&f.name.as_str()));
    let plan = plan::expand(&experiment)?;
    let place = args.cache.as_deref().map_or_else(Cache::default_folder, Path::to_path_buf);
    let cache = Cache::open(&place)?;
    let cancel = interrupt::flag()?;
    let jobs = lab::jobs(args.jobs);
    let settings = || Settings { jobs, timeout: Settings::TIMEOUT, cancel: &cancel };
    let mixer = Mixer::new(&experiment, &cache, &settings()).map_err(ExplainError::from)?;
    let limits = Limits {
        timeout: std::time::Duration::from_millis(experiment.search.timeout_ms),
        memory_mb: experiment.search.memory_mb,
        jobs,
    };
    let desk = Desk::new(&experiment, &mixer, limits, cancel.clone());
    let workshop = Workshop::new(&experiment, &cache, settings());
    let sink = console.progress(args.quiet);
    let session = Session {
        args,
        folder: &folder,
        run: &run,
        experiment: &experiment,
        plan: &plan,
        desk: &desk,
        workshop: &workshop,
        sink: sink.as_ref(),
    };
    let file = session.explain(id)?;
    let shown = session.selected(id)?.into_iter().map(|(_, w)| w.id).collect();
    console.print(&match (args.json, args.patch, id) {
        (true, ..) => explain_json(&file),
        (_, true, _) => report::explain::patches(&file, &shown),
        (.., Some(id)) => report::explain::render_one(&run, &file, id, console.style),
        (.., None) => report::explain::render(&run, &file, &shown, console.style),
    })?;
    Ok(Exit::Done)
}

/// A run and a finding among the words: an id has a `#`, a run's name has none.
fn words(words: &[String]) -> Result<(Option<&str>, Option<&str>), Failure> {
    match words {
        [] => Ok((None, None)),
        [id] if id.contains('#') => Ok((None, Some(id))),
        [run] => Ok((Some(run), None)),
        [run, id] => Ok((Some(run), Some(id))),
        _ => Err(Failure::usage("expected at most a run and a finding")),
    }
}

/// One command at work.
struct Session<'a> {
    args: &'a ExplainArgs,
    folder: &'a PathBuf,
    run: &'a RunFile,
    experiment: &'a Experiment,
    plan: &'a Plan,
    desk: &'a Desk<'a>,
    workshop: &'a Workshop<'a>,
    sink: &'a dyn EventSink,
}

/// A finding with the row of its function.
type Selected<'a> = (&'a FunctionRow, StoredWitness);

impl<'a> Session<'a> {
    /// The findings that were asked for.
    fn selected(&self, id: Option<&FindingId>) -> Result<Vec<Selected<'a>>, Failure> {
        if let Some(id) = id {
            let found = finding(self.run, id);
            return Ok(vec![found.ok_or_else(|| no_such_finding(self.run, &id.to_string()))?]);
        }
        let rows = self.run.functions.iter().filter(|row| self.args.functions.matches(&row.name));
        Ok(rows.flat_map(|row| witnesses(row).into_iter().map(move |w| (row, w))).collect())
    }

    fn explain(&self, id: Option<&FindingId>) -> Result<ExplainFile, Failure> {
        let selected = self.selected(id)?;
        let mut file = read_explain(self.folder)?.unwrap_or_default();
        let wanted: BTreeSet<Layer> = match self.args.layers.is_empty() {
            true => Layer::ALL.into(),
            false => self.args.layers.iter().copied().collect(),
        };
        let layers = needed(&wanted);
        let changed = sources::changed(self.run, self.experiment);
        self.sink.send(Event::ExplainStarted { findings: selected.len() });
        let progress = |id: &FindingId, layer: Layer| {
            self.sink.send(Event::ExplainStep { finding: id.to_string(), layer: layer.as_str().into() });
        };
        let mut explainer = Explainer {
            desk: self.desk,
            workshop: self.workshop,
            layers: layers.clone(),
            known: Vec::new(),
            progress: &progress,
        };
        let mut fresh = BTreeSet::new();
        for (row, witness) in &selected {
            let inputs = self.digest(row, witness);
            let known = file.findings.get(&witness.id).filter(|row| row.inputs == inputs);
            let unchanged = changed.is_empty() && !self.args.again;
            if !(unchanged && known.is_some_and(|row| is_answered(row, &layers))) {
                let found = self.one(&mut explainer, row, witness, &changed)?;
                file.findings
                    .insert(witness.id.clone(), ExplainRow { inputs, asked: layers.clone(), ..found });
                fresh.insert(witness.id.clone());
                self.regroup(&mut file);
                write_explain(self.folder, &file)?;
            }
            self.sink.send(Event::ExplainDone { finding: witness.id.to_string() });
        }
        if layers.contains(&Layer::Fix) {
            self.fixes(&explainer, &mut file)?;
        }
        if id.is_none() && !self.args.no_safe && layers.contains(&Layer::Flags) {
            self.safe_sets(&selected, &fresh, &mut file)?;
        }
        self.sink.send(Event::ExplainFinished);
        write_explain(self.folder, &file)?;
        Ok(file)
    }

    /// Everything an answer depends on, as far as it can be told without running anything.
    fn digest(&self, row: &FunctionRow, witness: &StoredWitness) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("bitrift explain 2");
        let mut add = |text: String| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        add(canonical(&witness.row));
        add(canonical(&self.experiment.functions.iter().find(|f| f.name == row.name)));
        for name in [&witness.baseline, &witness.build] {
            let build = self.plan.builds.iter().find(|b| b.id == *name);
            add(canonical(&build));
            add(build.and_then(|b| find(&b.command).ok()).map(|c| c.identity).unwrap_or_default());
        }
        add(canonical(&self.run.sources));
        hasher.finalize().to_hex()[..16].to_string()
    }

    fn one(
        &self,
        explainer: &mut Explainer<'_>,
        row: &FunctionRow,
        witness: &StoredWitness,
        changed: &[String],
    ) -> Result<ExplainRow, Failure> {
        if !changed.is_empty() {
            let reason = format!("changed since the run: {}; run it again", changed.join(", "));
            return Ok(unexplained(Explained::SourceChanged, reason));
        }
        let case = match self.case(row, witness) {
            Ok(case) => case,
            Err(reason) => return Ok(unexplained(Explained::Unavailable, reason)),
        };
        match self.pair(witness) {
            Ok(pair) => match explainer.explain(&pair, &case) {
                Ok(row) => Ok(row),
                Err(ExplainError::Unloadable(words)) => Ok(unexplained(Explained::Unavailable, words)),
                Err(other) => Err(other.into()),
            },
            Err(reason) => Ok(unexplained(Explained::Unavailable, reason)),
        }
    }

    fn case(&self, row: &FunctionRow, witness: &StoredWitness) -> Result<Case, String> {
        let functions = &self.experiment.functions;
        replayable(row, functions).map_err(|error| error.to_string())?;
        let function = functions.iter().position(|f| f.name == row.name);
        let function = function.ok_or_else(|| format!("{} is not in the matrix", row.name))?;
        let result = functions[function].result;
        Ok(Case {
            id: witness.id.clone(),
            function,
            inputs: witness.inputs.clone(),
            result,
            nan: self.run.nan,
        })
    }

    fn pair(&self, witness: &StoredWitness) -> Result<Pair, String> {
        let build = |name: &BuildId| {
            let found = self.plan.builds.iter().find(|b| b.id == *name).cloned();
            found.ok_or_else(|| format!("{name} is not a build of the matrix any more"))
        };
        Ok(Pair { baseline: build(&witness.baseline)?, variant: build(&witness.build)? })
    }

    /// Groups all findings of the file by cause; a fix that is known stays with its cause.
    fn regroup(&self, file: &mut ExplainFile) {
        let builds = |id: &FindingId| finding(self.run, id).map(|(_, w)| (w.baseline, w.build));
        let mut causes = group(file.findings.iter(), builds);
        for cause in &mut causes {
            let old = file.causes.iter().find(|old| {
                (&old.causes, &old.build, &old.baseline) == (&cause.causes, &cause.build, &cause.baseline)
            });
            cause.fix = old.and_then(|old| old.fix.clone());
        }
        file.causes = causes;
    }

    /// A patch for every cause that was found now.
    fn fixes(&self, explainer: &Explainer<'_>, file: &mut ExplainFile) -> Result<(), Failure> {
        for known in &explainer.known {
            let Some(first) = known.cases.first().map(|(case, _)| case) else { continue };
            (explainer.progress)(&first.id, Layer::Fix);
            let before = explainer.spent();
            let fixed = fix(self.desk, known)?;
            let cost = since(explainer.spent(), before);
            let (standing, text) = match &fixed {
                Ok(fixed) => (Standing::Found, fixed.row.what.clone()),
                Err(why) => (Standing::Stopped, why.clone()),
            };
            let layer = LayerRow { standing, causes: Vec::new(), text, cost };
            for (case, _) in &known.cases {
                let cost = if case.id == first.id { cost } else { Cost::default() };
                if let Some(row) = file.findings.get_mut(&case.id) {
                    row.layers.insert(Layer::Fix, LayerRow { cost, ..layer.clone() });
                }
            }
            let Ok(mut fixed) = fixed else { continue };
            fixed.row.ns = fix_times(self.folder, self.desk, first.function, &fixed)?;
            let cause = file.causes.iter_mut().find(|cause| cause.findings.contains(&first.id));
            if let Some(cause) = cause {
                cause.fix = Some(fixed.row);
            }
        }
        Ok(())
    }

    /// For every variant with findings the flags that may stay.
    fn safe_sets(
        &self,
        selected: &[Selected<'_>],
        fresh: &BTreeSet<FindingId>,
        file: &mut ExplainFile,
    ) -> Result<(), Failure> {
        let mut builds: BTreeMap<(&BuildId, &BuildId), Vec<&Selected<'_>>> = BTreeMap::new();
        for pick in selected {
            builds.entry((&pick.1.baseline, &pick.1.build)).or_default().push(pick);
        }
        for ((baseline, build), picks) in builds {
            let known = |row: &&crate::model::SafeRow| {
                row.build == *build && row.baseline == *baseline && row.limit == self.args.limit
            };
            if file.safe.iter().any(|row| known(&row)) && !picks.iter().any(|(_, w)| fresh.contains(&w.id)) {
                continue;
            }
            let explained = |w: &StoredWitness| {
                file.findings.get(&w.id).is_some_and(|row| row.explained == Explained::Yes)
            };
            let cases: Vec<Case> = picks
                .iter()
                .filter(|(_, w)| explained(w))
                .filter_map(|(row, w)| self.case(row, w).ok())
                .collect();
            let Ok(pair) = self.pair(&picks[0].1) else { continue };
            let guilty: Vec<Vec<String>> =
                picks.iter().flat_map(|(_, w)| guilty_flags(file, &w.id)).collect();
            // Where no flag is guilty there is nothing to give up.
            if guilty.is_empty() && !picks.iter().any(|(_, w)| is_flushing(file, &w.id)) {
                continue;
            }
            self.sink.send(Event::ExplainStep { finding: build.to_string(), layer: "safe set".into() });
            let before = spent(self);
            let question = Question {
                desk: self.desk,
                workshop: self.workshop,
                pair: &pair,
                cases: &cases,
                guilty: &guilty,
                limit: self.args.limit,
            };
            let answer = question.answer()?;
            file.safe.retain(|row| row.build != *build || row.baseline != *baseline);
            match answer {
                Ok(mut safe) => {
                    safe.row.cost = since(spent(self), before);
                    safe.row.ns = safe_times(self.folder, self.desk, &cases, &safe)?;
                    file.safe.push(safe.row);
                }
                Err(why) => self.sink.send(Event::Note { text: format!("no safe set of {build}: {why}") }),
            }
        }
        Ok(())
    }
}

fn spent(session: &Session<'_>) -> Cost {
    let mut sum = session.desk.cost();
    sum += session.workshop.cost();
    sum
}

/// Whether a finding is there because a build's start-up code flushes subnormals.
fn is_flushing(file: &ExplainFile, id: &FindingId) -> bool {
    let row = file.findings.get(id).and_then(|row| row.layers.get(&Layer::Environment));
    row.is_some_and(|row| row.causes.iter().flatten().any(|suspect| suspect.environment == "flushing"))
}

/// The flag sets that a finding's flags layer found.
fn guilty_flags(file: &ExplainFile, id: &FindingId) -> Vec<Vec<String>> {
    let row = file.findings.get(id).and_then(|row| row.layers.get(&Layer::Flags));
    let names = |set: &Vec<Suspect>| set.iter().map(|s| s.flag.clone()).collect();
    row.map(|row| row.causes.iter().map(names).collect()).unwrap_or_default()
}

/// Whether a row of an earlier time has all that is asked for. What was missing then may be there now.
fn is_answered(row: &ExplainRow, layers: &BTreeSet<Layer>) -> bool {
    matches!(row.explained, Explained::Yes | Explained::No) && layers.is_subset(&row.asked)
}

fn unexplained(explained: Explained, reason: String) -> ExplainRow {
    ExplainRow { explained, reason, ..ExplainRow::default() }
}
