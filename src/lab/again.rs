//! The inputs that decide a gate, evaluated again: all of a function in one process, there and back, so that every
//! input is evaluated twice and with two histories.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::built::Built;
use super::error::LabError;
use crate::gate::{Look, Seen};
use crate::model::Whole;
use crate::pool::{Mode, Question};

/// Some functions of one build, in one helper process.
struct Piece {
    build: usize,
    questions: Vec<Question>,
    /// For each question, which looks its inputs are.
    looks: Vec<Vec<usize>>,
}

/// Outcomes of looks on a build, first and second.
type Found = BTreeMap<(usize, usize), (Whole, Whole)>;

impl Built<'_> {
    /// What the builds say about every look. One whose function or build is not there is left out.
    pub fn look_again(&self, looks: Vec<Look>) -> Result<Vec<Seen>, LabError> {
        let builds: Vec<Option<usize>> = looks.iter().map(|look| self.lab.build(&look.build)).collect();
        let pieces = self.pieces(&looks, &builds);
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Ok(Found::new())));
        std::thread::scope(|scope| {
            for _ in 0..self.lab.jobs.min(pieces.len()) {
                scope.spawn(|| {
                    while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let found = self.outcomes(piece);
                        let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                        match (found, all.as_mut()) {
                            (Ok(found), Ok(all)) => all.extend(found),
                            (Err(error), Ok(_)) => *all = Err(error),
                            (_, Err(_)) => {}
                        }
                    }
                });
            }
        });
        let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        let baseline = self.lab.plan.baseline;
        let seen = looks.into_iter().zip(builds).enumerate().filter_map(|(index, (look, build))| {
            let (first, second) = outcomes.get(&(baseline, index)).cloned()?;
            let variant = outcomes.get(&(build?, index)).cloned()?;
            Some(Seen { look, first: (first, variant.0), second: (second, variant.1) })
        });
        Ok(seen.collect())
    }

    /// For each build the functions it is asked about, in as many parts as there are jobs.
    fn pieces(&self, looks: &[Look], builds: &[Option<usize>]) -> Vec<Piece> {
        // By build, then function: the looks that need it.
        let mut wanted: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (index, (look, build)) in looks.iter().zip(builds).enumerate() {
            let (Some((function, _)), Some(build)) = (self.lab.function(&look.function), *build) else {
                continue;
            };
            let mut builds = vec![self.lab.plan.baseline, build];
            builds.dedup();
            for build in builds {
                if self.lacks(build, function).is_none() {
                    wanted.entry(build).or_default().entry(function).or_default().push(index);
                }
            }
        }
        let question = |(function, indices): &(usize, Vec<usize>)| {
            let there = indices.iter().chain(indices.iter().rev());
            let inputs =
                there.flat_map(|&index| looks[index].inputs.iter().map(|input| input.bits)).collect();
            self.panel.question(*function, inputs, Mode::Together)
        };
        let mut pieces = Vec::new();
        for (build, functions) in wanted {
            let functions: Vec<(usize, Vec<usize>)> = functions.into_iter().collect();
            for part in functions.chunks(functions.len().div_ceil(self.lab.jobs).max(1)) {
                pieces.push(Piece {
                    build,
                    questions: part.iter().map(question).collect(),
                    looks: part.iter().map(|(_, looks)| looks.clone()).collect(),
                });
            }
        }
        pieces
    }

    fn outcomes(&self, piece: &Piece) -> Result<Found, LabError> {
        let answers = self.panel.ask_all(piece.build, &piece.questions)?;
        let mut outcomes = Found::new();
        for (answer, looks) in answers.into_iter().zip(&piece.looks) {
            let found = answer.map_err(|why| LabError::Unanswered {
                build: self.build_id(piece.build).clone(),
                reason: why.0,
            })?;
            let back = found.iter().rev();
            for ((&look, first), second) in looks.iter().zip(found.iter()).zip(back) {
                outcomes.insert((piece.build, look), (first.to_owned(), second.to_owned()));
            }
        }
        Ok(outcomes)
    }
}
