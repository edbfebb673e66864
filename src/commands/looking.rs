//! Evaluates the inputs that decide a gate: all of a build in one process, there and back, so that every input
//! is evaluated twice and with two histories.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::failure::Failure;
use super::lab::Lab;
use crate::cli::Exit;
use crate::eval::EvalError;
use crate::gate::{Look, Seen};
use crate::model::{BuildId, Outcome};
use crate::pool::Batch;

/// Some functions of one build, in one helper process.
struct Piece {
    build: usize,
    batches: Vec<Batch>,
    /// For each batch, which looks its inputs are.
    looks: Vec<Vec<usize>>,
}

/// Outcomes of looks on a build, first and second.
type Outcomes = BTreeMap<(usize, usize), (Outcome, Outcome)>;

/// What the builds say about every look. One whose function or build is not there is left out.
pub fn look(lab: &Lab, looks: Vec<Look>) -> Result<Vec<Seen>, Failure> {
    let builds: Vec<Option<usize>> = looks.iter().map(|look| place_of(lab, &look.build)).collect();
    let pieces = pieces(lab, &looks, &builds);
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Ok(Outcomes::new())));
    std::thread::scope(|scope| {
        for _ in 0..lab.jobs.min(pieces.len()) {
            scope.spawn(|| {
                while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = evaluate(lab, piece);
                    let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    match (found, all.as_mut()) {
                        (Ok(found), Ok(all)) => all.extend(found),
                        (Err(failure), Ok(_)) => *all = Err(failure),
                        (_, Err(_)) => {}
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    let baseline = lab.plan.baseline;
    let seen = looks.into_iter().zip(builds).enumerate().filter_map(|(index, (look, build))| {
        let (first, second) = outcomes.get(&(baseline, index))?;
        let variant = outcomes.get(&(build?, index))?;
        Some(Seen { look, first: (*first, variant.0), second: (*second, variant.1) })
    });
    Ok(seen.collect())
}

fn place_of(lab: &Lab, build: &BuildId) -> Option<usize> {
    lab.plan.builds.iter().position(|b| b.id == *build)
}

/// For each build the functions it is asked about, in as many parts as there are jobs.
fn pieces(lab: &Lab, looks: &[Look], builds: &[Option<usize>]) -> Vec<Piece> {
    // By build, then function: the looks that need it.
    let mut wanted: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (index, (look, build)) in looks.iter().zip(builds).enumerate() {
        let (Some((function, _)), Some(build)) = (lab.function(&look.function), *build) else { continue };
        let mut builds = vec![lab.plan.baseline, build];
        builds.dedup();
        for build in builds {
            if lab.lacks(build, function).is_none() {
                wanted.entry(build).or_default().entry(function).or_default().push(index);
            }
        }
    }
    let mut pieces = Vec::new();
    for (build, functions) in wanted {
        let functions: Vec<(usize, Vec<usize>)> = functions.into_iter().collect();
        for part in functions.chunks(functions.len().div_ceil(lab.jobs).max(1)) {
            let batch = |(function, indices): &(usize, Vec<usize>)| {
                let there = indices.iter().chain(indices.iter().rev());
                Batch {
                    function_index: *function,
                    arity: lab.experiment.functions[*function].arity(),
                    inputs: there
                        .flat_map(|&index| looks[index].inputs.iter().map(|input| input.bits))
                        .collect(),
                }
            };
            let batches = part.iter().map(batch).collect();
            pieces.push(Piece {
                build,
                batches,
                looks: part.iter().map(|(_, looks)| looks.clone()).collect(),
            });
        }
    }
    pieces
}

fn evaluate(lab: &Lab, piece: &Piece) -> Result<Outcomes, Failure> {
    let Some(object) = lab.object(piece.build) else { return Ok(Outcomes::new()) };
    let answers = lab.pool.evaluate_many(object, &piece.batches);
    let mut outcomes = Outcomes::new();
    for (answer, looks) in answers.into_iter().zip(&piece.looks) {
        let found = answer.map_err(|error| match error {
            EvalError::Stopped => Failure::interrupted(""),
            error => Failure::new(Exit::Unevaluated, format!("{}: {error}", lab.build_id(piece.build))),
        })?;
        let back = found.iter().rev();
        for ((&look, &first), &second) in looks.iter().zip(&found).zip(back) {
            outcomes.insert((piece.build, look), (first, second));
        }
    }
    Ok(outcomes)
}
