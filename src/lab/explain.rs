//! A session of explaining: findings of a stored run one after the other, each answer stored beside the run as soon
//! as it is there.

use std::collections::{BTreeMap, BTreeSet};

use super::error::LabError;
use super::finding::Finding;
use super::open::Lab;
use super::sources;
use super::times::Stopwatch;
use crate::compile::Mixer;
use crate::explain::{
    Case, Desk, ExplainError, Explainer, Pair, Question, Workshop, fix_all, gives_up, is_answered, needed,
    regroup, since,
};
use crate::findings::{finding, replayable};
use crate::model::{
    Build, BuildId, Event, EventSink, ExplainFile, ExplainRow, Explained, FindingId, Layer, RunFile, SafeRow,
    canonical,
};
use crate::store::Beside;

/// What is asked of a session.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Those they stand on are looked at too; empty: all.
    pub layers: BTreeSet<Layer>,
    /// Bits that a witness may have with the safe set of flags; None: no safe sets.
    pub limit: Option<f64>,
    /// Find out again what is known from before.
    pub again: bool,
}

/// One session at work.
struct Session<'a> {
    lab: &'a Lab,
    run: &'a RunFile,
    beside: &'a Beside,
    wish: &'a Wish,
    desk: &'a Desk<'a>,
    workshop: &'a Workshop<'a>,
    watch: Stopwatch<'a>,
    sink: &'a dyn EventSink,
}

impl Lab {
    /// Explains findings of a run; the answers are stored beside it one by one. The lab must have the functions of the
    /// run and no others, so that the run's objects are found in the cache.
    pub fn explain(
        &self,
        (run, beside): (&RunFile, &Beside),
        findings: &[Finding<'_>],
        wish: &Wish,
        sink: &dyn EventSink,
    ) -> Result<ExplainFile, LabError> {
        let mixer =
            Mixer::new(&self.experiment, &self.cache, &self.settings()).map_err(ExplainError::from)?;
        let sandbox = self.sandbox();
        let desk = Desk::new(&self.experiment, &mixer, self.limits(), sandbox, self.cancel.clone());
        let workshop = Workshop::new(&self.experiment, &self.cache, self.settings());
        let watch = Stopwatch { lab: self, beside };
        let session = Session { lab: self, run, beside, wish, desk: &desk, workshop: &workshop, watch, sink };
        let explained = session.explain(findings);
        sink.send(Event::ExplainFinished);
        self.note_cache_size(sink);
        explained
    }
}

impl Session<'_> {
    fn explain(&self, findings: &[Finding<'_>]) -> Result<ExplainFile, LabError> {
        let mut file = self.beside.explain()?.unwrap_or_default();
        let layers = match self.wish.layers.is_empty() {
            true => needed(&Layer::ALL.into()),
            false => needed(&self.wish.layers),
        };
        let changed = sources::changed(self.run, &self.lab.experiment);
        self.sink.send(Event::ExplainStarted { findings: findings.len() });
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
        for found in findings {
            let (id, inputs) = (&found.witness.id, self.digest(found));
            let known = file.findings.get(id).filter(|row| row.inputs == inputs);
            let unchanged = changed.is_empty() && !self.wish.again;
            if !(unchanged && known.is_some_and(|row| is_answered(row, &layers))) {
                let row = self.one(&mut explainer, found, &changed)?;
                file.findings.insert(id.clone(), ExplainRow { inputs, asked: layers.clone(), ..row });
                // They were to hold for what was known before.
                let (baseline, build) = (&found.witness.baseline, &found.witness.build);
                file.safe.retain(|row| (&row.baseline, &row.build) != (baseline, build));
                regroup(&mut file, |id| finding(self.run, id).map(|(_, w)| (w.baseline, w.build)));
                self.beside.write_explain(&file)?;
            }
            self.sink.send(Event::ExplainDone { finding: id.to_string() });
        }
        if layers.contains(&Layer::Fix) {
            let time = |function: usize, fixed: &_| self.watch.fix(function, fixed);
            fix_all(&explainer, &mut file, time, |file| Ok(self.beside.write_explain(file)?))?;
        }
        if let Some(limit) = self.wish.limit.filter(|_| layers.contains(&Layer::Flags)) {
            self.safe_sets(findings, limit, &mut file)?;
        }
        self.beside.write_explain(&file)?;
        Ok(file)
    }

    /// Everything an answer depends on, as far as it can be told without running anything.
    fn digest(&self, Finding { row, witness }: &Finding<'_>) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("bitrift explain 2");
        let mut add = |text: String| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        add(canonical(&witness.row));
        let function = self.lab.function(&row.name).map(|(_, function)| function);
        add(canonical(&function));
        for name in [&witness.baseline, &witness.build] {
            let build = self.build(name);
            add(canonical(&build));
            let of = build.map(|build| self.lab.experiment.implementation(build));
            add(canonical(&of.map(|of| {
                let called = function.map(|function| (of.callee(function), of.headers(function)));
                (called, &of.sources, &of.setup, &of.setup_headers)
            })));
            let stored = self.run.builds.iter().find(|row| row.id == *name);
            add(canonical(&stored.map(|row| &row.libraries)));
            add(build
                .and_then(|b| self.lab.compilers.find(&b.command).ok())
                .map(|c| c.identity.clone())
                .unwrap_or_default());
        }
        add(canonical(&self.run.sources));
        hasher.finalize().to_hex()[..16].to_string()
    }

    fn build(&self, name: &str) -> Option<&Build> {
        Some(&self.lab.plan.builds[self.lab.build(name)?])
    }

    fn one(
        &self,
        explainer: &mut Explainer<'_>,
        found: &Finding<'_>,
        changed: &[String],
    ) -> Result<ExplainRow, LabError> {
        if !changed.is_empty() {
            let reason = format!("changed since the run: {}; run it again", changed.join(", "));
            return Ok(unexplained(Explained::SourceChanged, reason));
        }
        let (case, pair) = match (self.case(found), self.pair(found)) {
            (Ok(case), Ok(pair)) => (case, pair),
            (Err(reason), _) | (_, Err(reason)) => return Ok(unexplained(Explained::Unavailable, reason)),
        };
        match explainer.explain(&pair, &case) {
            Ok(row) => Ok(row),
            Err(ExplainError::Unloadable(words)) => Ok(unexplained(Explained::Unavailable, words)),
            Err(other) => Err(other.into()),
        }
    }

    fn case(&self, Finding { row, witness }: &Finding<'_>) -> Result<Case, String> {
        let functions = &self.lab.experiment.functions;
        replayable(row, functions).map_err(|error| error.to_string())?;
        let found = self.lab.function(&row.name);
        let (function, of) = found.ok_or_else(|| format!("{} is not in the matrix", row.name))?;
        Ok(Case {
            id: witness.id.clone(),
            function,
            inputs: witness.inputs.clone(),
            results: of.results.clone(),
            equality: self.lab.equality(&row.name, &witness.build),
        })
    }

    fn pair(&self, Finding { witness, .. }: &Finding<'_>) -> Result<Pair, String> {
        let build = |name: &str| {
            let found = self.build(name).cloned();
            found.ok_or_else(|| format!("{name} is not a build of the matrix any more"))
        };
        Ok(Pair { baseline: build(&witness.baseline)?, variant: build(&witness.build)? })
    }

    /// For every variant with findings the flags that may stay.
    fn safe_sets(
        &self,
        findings: &[Finding<'_>],
        limit: f64,
        file: &mut ExplainFile,
    ) -> Result<(), LabError> {
        let mut builds: BTreeMap<(&BuildId, &BuildId), Vec<&Finding<'_>>> = BTreeMap::new();
        for found in findings {
            let pair = (&found.witness.baseline, &found.witness.build);
            builds.entry(pair).or_default().push(found);
        }
        for ((baseline, build), findings) in builds {
            let same = |row: &SafeRow| row.build == *build && row.baseline == *baseline;
            if file.safe.iter().any(|row| same(row) && row.limit == limit) {
                continue;
            }
            let ids = || findings.iter().map(|found| &found.witness.id);
            let Some(guilty) = gives_up(file, ids()) else { continue };
            let explained = |found: &&&Finding<'_>| {
                let row = file.findings.get(&found.witness.id);
                row.is_some_and(|row| row.explained == Explained::Yes)
            };
            let cases: Vec<Case> =
                findings.iter().filter(explained).filter_map(|found| self.case(found).ok()).collect();
            let Ok(pair) = self.pair(findings[0]) else { continue };
            self.sink.send(Event::ExplainStep { finding: build.to_string(), layer: "safe set".into() });
            let (desk, workshop) = (self.desk, self.workshop);
            let question = Question { desk, workshop, pair: &pair, cases: &cases, guilty: &guilty, limit };
            let before = question.spent();
            let answer = question.answer()?;
            file.safe.retain(|row| !same(row));
            match answer {
                Ok(mut safe) => {
                    safe.row.cost = since(question.spent(), before);
                    safe.row.ns = self.watch.safe(&cases, &safe)?;
                    file.safe.push(safe.row);
                    self.beside.write_explain(file)?;
                }
                Err(why) => self.sink.send(Event::Note { text: format!("no safe set of {build}: {why}") }),
            }
        }
        Ok(())
    }
}

fn unexplained(explained: Explained, reason: String) -> ExplainRow {
    ExplainRow { explained, reason, ..ExplainRow::default() }
}
