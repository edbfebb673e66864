//! Evaluates inputs on pairs of builds for one unit: scores them, counts faults, gives up a build
//! that faults too often, and evaluates some inputs again to find nondeterministic builds.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::found::Score;
use super::spread::Spread;
use crate::eval::{EvalError, Evaluator};
use crate::fp::Equality;
use crate::model::{FaultKind, FaultRecord, Outcome, Outcomes, Returned, Whole};
use crate::search::Task;

/// Inputs of one variant that a unit evaluates a second time.
const RECHECKED: usize = 32;
/// Inputs evaluated again whatever their outcome, in a unit that asks for it.
const SPOT_CHECKED: usize = 8;
/// Faulty inputs kept of each kind.
pub const EXAMPLES: usize = 4;
/// Inputs of a first call. Calls grow while nothing faults, so that a function that times out
/// everywhere costs a few timeouts and not a batch of them.
const FIRST_CHUNK: usize = 8;
const CAUTIOUS_CHUNK: usize = 4;

/// Calls of at least so many inputs are timed, and every so many others.
const TIMED_INPUTS: u64 = 256;
const TIMED_CALLS: u64 = 16;

pub struct Probe<'a> {
    task: &'a Task,
    evaluator: &'a mut dyn Evaluator,
    arity: usize,
    /// Faults each build may still have; at 0 it is given up.
    allow: Vec<u32>,
    chunk: usize,
    spot_check: bool,
    faults: BTreeMap<(usize, FaultKind), FaultRecord>,
    /// Inputs with the outcome of the first time, per build.
    again: BTreeMap<usize, Vec<(Vec<u64>, Whole)>>,
    /// Inputs remembered for each build.
    rechecks: Vec<usize>,
    fault_count: u64,
    /// When the unit has used all the time a function may have.
    until: Duration,
    begun: Instant,
    /// What each build's calls took, as far as they were timed.
    clocks: Vec<Clock>,
    baseline: Outcomes,
    variant: Outcomes,
    /// Whether the baseline gives one answer to everything.
    spread: Spread,
    /// What counts as equal to the baseline's answer, for each build.
    equalities: Vec<Equality>,
}

/// How builds behaved during a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    /// Faults, without those of earlier units.
    pub faults: Vec<FaultRecord>,
    /// Builds that answered differently the second time.
    pub nondeterministic: Vec<usize>,
    /// How long each build of the task took, where that is known. Decides nothing but how many evaluations a
    /// slow function may have.
    pub seconds: Vec<f64>,
    /// The baseline's answers.
    pub spread: Spread,
}

impl<'a> Probe<'a> {
    /// `allow` is the number of faults each build of the task may still have. With `spot_check` the
    /// first inputs are evaluated twice whether they are inconsistent or not.
    pub fn new(
        task: &'a Task,
        evaluator: &'a mut dyn Evaluator,
        allow: Vec<u32>,
        spot_check: bool,
    ) -> Probe<'a> {
        Probe {
            task,
            arity: task.function.arity(),
            evaluator,
            allow,
            chunk: FIRST_CHUNK.min((task.settings.batch as usize).max(1)),
            spot_check,
            faults: BTreeMap::new(),
            again: BTreeMap::new(),
            rechecks: vec![0; task.builds.len()],
            fault_count: 0,
            begun: Instant::now(),
            clocks: vec![Clock::default(); task.builds.len()],
            until: Duration::try_from_secs_f64(task.settings.share_s()).unwrap_or(Duration::MAX),
            baseline: Outcomes::new(task.function.results.width()),
            variant: Outcomes::new(task.function.results.width()),
            spread: Spread::default(),
            equalities: (0..task.builds.len()).map(|build| task.equality(build)).collect(),
        }
    }

    /// Whether the baseline and the variant are still evaluated.
    pub fn is_open(&self, variant: usize) -> bool {
        self.allow[0] > 0 && self.allow[variant] > 0
    }

    /// Evaluates inputs on the baseline and on each variant, and hands over one score for every
    /// input and variant: `each(position in variants, index of the input, input, score)`. The
    /// scores of one variant come in the order of the inputs.
    pub fn scores(
        &mut self,
        variants: &[usize],
        inputs: &[u64],
        mut each: impl FnMut(usize, usize, &[u64], &Score),
    ) -> Result<(), EvalError> {
        let count = inputs.len() / self.arity;
        let mut from = 0;
        while from < count {
            let to = count.min(from + self.chunk);
            let chunk = &inputs[from * self.arity..to * self.arity];
            let faults = self.fault_count;
            let mut baseline = self.take_room(0);
            let clean = self.evaluate(0, chunk, usize::MAX, &mut baseline)?;
            for (position, &variant) in variants.iter().enumerate() {
                let mut other = self.take_room(1);
                let answered = self.evaluate(variant, chunk, clean, &mut other)?;
                for (i, input) in chunk.chunks_exact(self.arity).enumerate() {
                    let score = if i < answered {
                        let pair = [baseline.get(i), other.get(i)];
                        let score = self.score(variant, pair);
                        self.remember(variant, from + i, input, &score, pair);
                        score
                    } else {
                        Score::skipped()
                    };
                    each(position, from + i, input, &score);
                }
                self.variant = other;
            }
            self.baseline = baseline;
            self.resize_chunk(faults);
            from = to;
            // The wall clock is the cheaper one to ask, and never behind.
            let slow = self.begun.elapsed() > self.until && self.evaluator.elapsed() > self.until;
            if slow || self.evaluator.is_late() {
                // As if both builds had faulted too often: the rest is skipped.
                self.allow.fill(0);
            }
        }
        Ok(())
    }

    /// As `scores`, for inputs by the million: hands over only those whose two outcomes differ, as
    /// `each(position in variants, index of the input, input, score)`, and adds to `answered` how
    /// many each variant answered. Equal outcomes cost a comparison of their bits.
    pub fn differences(
        &mut self,
        variants: &[usize],
        inputs: &[u64],
        answered: &mut [u64],
        mut each: impl FnMut(usize, usize, &[u64], &Score),
    ) -> Result<(), EvalError> {
        let arity = self.arity;
        let count = inputs.len() / arity;
        let mut from = 0;
        while from < count {
            let to = count.min(from + self.chunk);
            let chunk = &inputs[from * arity..to * arity];
            let input = |i: usize| &chunk[i * arity..(i + 1) * arity];
            let faults = self.fault_count;
            let mut baseline = self.take_room(0);
            let clean = self.evaluate(0, chunk, usize::MAX, &mut baseline)?;
            for (position, &variant) in variants.iter().enumerate() {
                let mut other = self.take_room(1);
                let both = self.evaluate(variant, chunk, clean, &mut other)?;
                answered[position] += both as u64;
                let spots = if self.spot_check { SPOT_CHECKED } else { 0 };
                for i in 0..both {
                    let pair = [baseline.get(i), other.get(i)];
                    if pair[0] == pair[1] && i >= spots {
                        continue;
                    }
                    let score = self.score(variant, pair);
                    self.remember(variant, i, input(i), &score, pair);
                    if pair[0] != pair[1] {
                        each(position, from + i, input(i), &score);
                    }
                }
                self.variant = other;
            }
            self.spot_check = false;
            self.baseline = baseline;
            self.resize_chunk(faults);
            from = to;
        }
        Ok(())
    }

    fn score(&self, of: usize, [baseline, variant]: [Returned<'_>; 2]) -> Score {
        Score::new(self.task.function.results.compare(self.equalities[of], baseline, variant))
    }

    /// Room for outcomes, which is put back after use so that it is allocated once.
    fn take_room(&mut self, which: usize) -> Outcomes {
        let room = if which == 0 { &mut self.baseline } else { &mut self.variant };
        let width = room.width();
        std::mem::replace(room, Outcomes::new(width))
    }

    /// Given the number of faults before the last call.
    fn resize_chunk(&mut self, faults: u64) {
        self.chunk = if self.fault_count > faults {
            CAUTIOUS_CHUNK
        } else {
            (self.chunk * 2).min((self.task.settings.batch as usize).max(1))
        };
    }

    /// Evaluates the first `most` inputs on a build; how many of them it answered before it was
    /// given up. The size of a call never decides where a build is given up.
    fn evaluate(
        &mut self,
        build: usize,
        inputs: &[u64],
        most: usize,
        out: &mut Outcomes,
    ) -> Result<usize, EvalError> {
        out.clear();
        if self.allow[build] == 0 {
            return Ok(0);
        }
        let inputs = &inputs[..inputs.len().min(most.saturating_mul(self.arity))];
        let count = (inputs.len() / self.arity) as u64;
        let timed = self.clocks[build].starts(count).then(|| self.evaluator.elapsed());
        self.evaluator.evaluate(build, inputs, out)?;
        if let Some(begun) = timed {
            self.clocks[build].stop(count, self.evaluator.elapsed().saturating_sub(begun));
        }
        if build == 0 {
            self.spread.add(&self.task.function.results, self.task.settings.nan, out);
        }
        for i in 0..out.len() {
            let Outcome::Fault(kind) = out.firsts()[i] else { continue };
            let record = self.faults.entry((build, kind)).or_insert_with(|| FaultRecord {
                build,
                kind,
                count: 0,
                examples: Vec::new(),
            });
            record.count += 1;
            self.fault_count += 1;
            if record.examples.len() < EXAMPLES {
                record.examples.push(inputs[i * self.arity..(i + 1) * self.arity].to_vec());
            }
            self.allow[build] -= 1;
            if self.allow[build] == 0 {
                return Ok(i + 1);
            }
        }
        Ok(out.len())
    }

    fn remember(
        &mut self,
        variant: usize,
        index: usize,
        input: &[u64],
        score: &Score,
        pair: [Returned<'_>; 2],
    ) {
        let spot = self.spot_check && index < SPOT_CHECKED;
        if !(spot || score.is_inconsistent()) {
            return;
        }
        if !spot && self.rechecks[variant] >= RECHECKED {
            return;
        }
        self.rechecks[variant] += 1;
        for (build, returned) in [0, variant].into_iter().zip(pair) {
            // A fault is confirmed elsewhere; repeating a timeout here would only cost time.
            if returned.first.value().is_some() {
                self.again.entry(build).or_default().push((input.to_vec(), returned.to_owned()));
            }
        }
    }

    /// Evaluates the remembered inputs again, last first.
    pub fn close(mut self) -> Result<Closing, EvalError> {
        let mut nondeterministic = Vec::new();
        for (build, cases) in std::mem::take(&mut self.again) {
            let inputs: Vec<u64> = cases.iter().rev().flat_map(|(input, _)| input.iter().copied()).collect();
            let mut out = self.take_room(0);
            out.clear();
            self.evaluator.evaluate(build, &inputs, &mut out)?;
            if cases.iter().rev().zip(out.iter()).any(|((_, first), second)| !same(self.task, first, second))
            {
                nondeterministic.push(build);
            }
        }
        let seconds = self.clocks.iter().map(Clock::seconds).collect();
        let faults = self.faults.into_values().collect();
        Ok(Closing { faults, nondeterministic, seconds, spread: self.spread })
    }
}

/// How long one build's inputs take. Asking for the time costs as much as some evaluations, so of
/// small calls only some are timed.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    calls: u64,
    inputs: u64,
    timed: u64,
    time: Duration,
}

impl Clock {
    /// Counts a call; whether it is timed.
    fn starts(&mut self, inputs: u64) -> bool {
        self.calls += 1;
        self.inputs += inputs;
        inputs >= TIMED_INPUTS || self.calls % TIMED_CALLS == 1
    }

    fn stop(&mut self, inputs: u64, time: Duration) {
        self.timed += inputs;
        self.time += time;
    }

    /// Of all inputs, going by those that were timed.
    fn seconds(&self) -> f64 {
        // Counts far below 2^53.
        self.time.as_secs_f64() * self.inputs as f64 / self.timed.max(1) as f64
    }
}

/// NaNs are one answer as far as they count.
fn same(task: &Task, first: &Whole, second: Returned<'_>) -> bool {
    // A call close to the timeout may fall on either side of it.
    second.first == Outcome::Fault(FaultKind::Timeout)
        || task.function.results.agree(task.settings.nan, first.returned(), second)
}
