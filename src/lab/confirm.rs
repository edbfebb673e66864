//! Confirmation: every witness of a run in plain executables, built with the builds' own flags and nothing that
//! makes code loadable.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::error::LabError;
use super::open::Lab;
use super::panel::{Replies, Unanswered};
use super::programs::Programs;
use crate::findings::{StoredWitness, confirm_row, stored_witnesses, witnesses as all_witnesses};
use crate::model::{
    BuildId, CONFIRM_SCHEMA, ConfirmFile, ConfirmRow, Event, EventSink, Returned, RunFile, Whole,
};
use crate::pool::Mode;

/// One function on one build.
type Place<'a> = (&'a str, &'a BuildId);

/// What every build says to the inputs of its witnesses.
type Answers<'a> = BTreeMap<Place<'a>, Result<BTreeMap<&'a [u64], Whole>, Unanswered>>;

impl Lab {
    /// Compiles the builds that witnesses of a run name, no others, and asks them.
    pub fn confirm(&self, run: &RunFile, sink: &dyn EventSink) -> Result<ConfirmFile, LabError> {
        let mut file = ConfirmFile { schema: CONFIRM_SCHEMA.into(), witnesses: BTreeMap::new() };
        let mut witnesses: Vec<StoredWitness> = Vec::new();
        for row in &run.functions {
            match stored_witnesses(row, &self.experiment.functions) {
                Ok(stored) => witnesses.extend(stored),
                // A function that is gone or changed takes its own witnesses with it and no others.
                Err(error) => file.witnesses.extend(
                    all_witnesses(row).into_iter().map(|w| (w.id, ConfirmRow::unknown(error.to_string()))),
                ),
            }
        }
        if witnesses.is_empty() {
            return Ok(file);
        }
        let noun = if witnesses.len() == 1 { "witness" } else { "witnesses" };
        let text = format!("confirming {} {noun} in plain executables", witnesses.len());
        sink.send(Event::Note { text });
        let programs = self.programs_of(witnesses.iter(), sink)?;
        let answers = self.ask_programs(&programs, &witnesses)?;
        for witness in &witnesses {
            file.witnesses.insert(witness.id.clone(), self.confirmed(&answers, witness));
        }
        Ok(file)
    }

    fn ask_programs<'a>(
        &self,
        programs: &Programs,
        witnesses: &'a [StoredWitness],
    ) -> Result<Answers<'a>, LabError> {
        let mut wanted: BTreeMap<Place<'a>, BTreeSet<&'a [u64]>> = BTreeMap::new();
        for witness in witnesses {
            for build in [&witness.baseline, &witness.build] {
                wanted.entry((&witness.function, build)).or_default().insert(&witness.inputs);
            }
        }
        let wanted: Vec<_> = wanted.into_iter().collect();
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.jobs.max(1)).build();
        let threads = threads.map_err(|e| LabError::Threads { jobs: self.jobs, reason: e.to_string() })?;
        let one = |((function, build), inputs): &(Place<'a>, BTreeSet<&'a [u64]>)| {
            let list: Vec<&[u64]> = inputs.iter().copied().collect();
            let answer = programs.ask(function, build, &list.concat())?;
            Ok((
                (*function, *build),
                answer.map(|found| list.into_iter().zip(found.iter().map(Returned::to_owned)).collect()),
            ))
        };
        threads.install(|| wanted.par_iter().with_max_len(1).map(one).collect())
    }

    fn confirmed(&self, answers: &Answers<'_>, witness: &StoredWitness) -> ConfirmRow {
        let answer = |build: &BuildId| match answers.get(&(witness.function.as_str(), build)) {
            Some(Ok(outcomes)) => {
                let outcome = outcomes.get(witness.inputs.as_slice()).cloned();
                outcome.ok_or_else(|| format!("{build} gave no outcome"))
            }
            Some(Err(reason)) => Err(format!("{build}: {reason}")),
            None => Err(format!("{build} was not asked")),
        };
        let Some((_, function)) = self.function(&witness.function) else {
            return ConfirmRow::unknown(format!("function {} is not in the matrix", witness.function));
        };
        match (answer(&witness.baseline), answer(&witness.build)) {
            (Ok(baseline), Ok(variant)) => confirm_row(
                self.equality(&witness.function, &witness.build),
                &function.results,
                witness,
                (baseline.returned(), variant.returned()),
            ),
            (Err(reason), _) | (_, Err(reason)) => ConfirmRow::unknown(reason),
        }
    }
}

impl Programs {
    /// What the program of a build answers to inputs of a function.
    fn ask(&self, function: &str, build: &str, inputs: &[u64]) -> Result<Replies, LabError> {
        let (function, build) = match self.places(function, build) {
            Ok(places) => places,
            Err(why) => return Ok(Err(why)),
        };
        self.panel.ask(function, build, inputs, Mode::Together)
    }
}
