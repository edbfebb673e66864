//! Nothing is believed that was seen once: faults are re-run alone, witnesses in a fresh process.
//!
//! A fault that does not repeat depends on the calls before it; a witness with another answer makes
//! its build nondeterministic, and a nondeterministic build keeps a label and no values.

use std::collections::{BTreeMap, BTreeSet};

use crate::eval::EvalError;
use crate::fp::NanPolicy;
use crate::model::{
    FaultKind, FaultRecord, FunctionResult, Outcome, Outcomes, Results, Returned, StopReason, Whole, Witness,
};

/// Evaluates in processes that no search has touched. Builds are indices in the task's.
pub(super) trait Recheck {
    /// All inputs in one process.
    fn together(&mut self, build: usize, inputs: &[u64]) -> Result<Outcomes, EvalError>;

    /// One input in its own process, with twice the timeout; and whether the call took at least
    /// half the timeout.
    fn alone(&mut self, build: usize, input: &[u64]) -> Result<(Outcome, bool), EvalError>;

    /// What the function gives, and what of a NaN counts.
    fn rule(&self) -> (Results, NanPolicy);
}

/// Confirms a result. Returns how many timeouts turned out to be close ones.
pub(super) fn confirm(result: &mut FunctionResult, recheck: &mut dyn Recheck) -> Result<u64, EvalError> {
    let close = confirm_faults(result, recheck)?;
    let answers = ask_again(result, recheck)?;
    let (results, nan) = recheck.rule();
    for build in unsteady_builds(result, &answers, &results, nan) {
        disown(result, build);
    }
    if results.is_wide() {
        fill_values(result, &answers, &results);
    }
    result.faults.sort_by_key(|record| (record.build, record.kind));
    Ok(close)
}

/// Moves every fault that does not repeat alone to `StateDependent`.
fn confirm_faults(result: &mut FunctionResult, recheck: &mut dyn Recheck) -> Result<u64, EvalError> {
    let mut close = 0;
    let mut moved: BTreeMap<usize, FaultRecord> = BTreeMap::new();
    for record in &mut result.faults {
        if matches!(record.kind, FaultKind::Nondeterministic | FaultKind::StateDependent) {
            continue;
        }
        let mut repeated = Vec::new();
        let mut changed = Vec::new();
        for example in std::mem::take(&mut record.examples) {
            let (outcome, long) = recheck.alone(record.build, &example)?;
            let is_close = record.kind == FaultKind::Timeout && long && outcome.value().is_some();
            close += u64::from(is_close);
            let same = outcome == Outcome::Fault(record.kind) || is_close;
            if same { &mut repeated } else { &mut changed }.push(example);
        }
        record.examples = repeated;
        if changed.is_empty() {
            continue;
        }
        // When no example repeats, nothing speaks for the faults that were only counted.
        let count = if record.examples.is_empty() { record.count } else { changed.len() as u64 };
        record.count = record.count.saturating_sub(count);
        let (build, kind) = (record.build, FaultKind::StateDependent);
        let to = moved.entry(build).or_insert(FaultRecord { build, kind, count: 0, examples: Vec::new() });
        to.count += count;
        to.examples.extend(changed);
    }
    result.faults.retain(|record| record.count > 0);
    for record in moved.into_values() {
        let same = |r: &&mut FaultRecord| r.build == record.build && r.kind == record.kind;
        match result.faults.iter_mut().find(same) {
            Some(to) => {
                to.count += record.count;
                to.examples.extend(record.examples);
            }
            None => result.faults.push(record),
        }
    }
    Ok(close)
}

/// Of each build the inputs of the witnesses it has a part in, there and back, so that every input but one meets two
/// different histories, and what it makes of them.
type Answers = BTreeMap<usize, (Vec<Vec<u64>>, Outcomes)>;

fn witnesses(result: &FunctionResult) -> impl Iterator<Item = (usize, &Witness)> {
    result.comparisons.iter().flat_map(|comparison| {
        let ranges = comparison.ranges.iter().map(|range| &range.witness);
        ranges.chain(&comparison.witness).map(|witness| (comparison.variant, witness))
    })
}

fn ask_again(result: &FunctionResult, recheck: &mut dyn Recheck) -> Result<Answers, EvalError> {
    let mut wanted: BTreeMap<usize, Vec<&[u64]>> = BTreeMap::new();
    for (variant, witness) in witnesses(result) {
        wanted.entry(0).or_default().push(&witness.inputs);
        wanted.entry(variant).or_default().push(&witness.inputs);
    }
    let ask = |(build, inputs): (usize, Vec<&[u64]>)| {
        let order: Vec<Vec<u64>> = inputs.iter().chain(inputs.iter().rev()).map(|i| i.to_vec()).collect();
        let outcomes = recheck.together(build, &order.concat())?;
        Ok((build, (order, outcomes)))
    };
    wanted.into_iter().map(ask).collect()
}

/// The builds that give another answer to some witness than the stored one, or two answers.
fn unsteady_builds(
    result: &FunctionResult,
    answers: &Answers,
    results: &Results,
    nan: NanPolicy,
) -> BTreeSet<usize> {
    let timeout = Outcome::Fault(FaultKind::Timeout);
    // The clock may decide either way on a slow call; that is no other answer.
    let is_other = |now: Outcome, claim: Outcome, worst: u8| {
        !now.agrees(claim, results.ty(worst), nan) && now != timeout && claim != timeout
    };
    let is_two = |there: Returned<'_>, back: Returned<'_>| {
        !results.agree(nan, there, back) && there.first != timeout && back.first != timeout
    };
    let mut claims: BTreeMap<usize, Vec<(u8, Outcome)>> = BTreeMap::new();
    for (variant, Witness { baseline, variant: other, worst, .. }) in witnesses(result) {
        claims.entry(0).or_default().push((*worst, *baseline));
        claims.entry(variant).or_default().push((*worst, *other));
    }
    let is_unsteady = |(build, claims): &(usize, Vec<(u8, Outcome)>)| {
        let Some((order, outcomes)) = answers.get(build) else { return true };
        let both = claims.iter().chain(claims.iter().rev());
        outcomes.len() != order.len()
            || outcomes
                .iter()
                .zip(both)
                .any(|(now, &(worst, claim))| is_other(now.value(usize::from(worst)), claim, worst))
            || outcomes.iter().zip(outcomes.iter().rev()).any(|(there, back)| is_two(there, back))
    };
    claims.into_iter().filter(is_unsteady).map(|(build, _)| build).collect()
}

/// Gives every witness all values of both builds.
fn fill_values(result: &mut FunctionResult, answers: &Answers, results: &Results) {
    let found: BTreeMap<usize, BTreeMap<&[u64], Whole>> = answers
        .iter()
        .map(|(build, (order, outcomes))| {
            let whole = outcomes.iter().map(Returned::to_owned);
            (*build, order.iter().map(Vec::as_slice).zip(whole).collect())
        })
        .collect();
    for comparison in &mut result.comparisons {
        let ranges = comparison.ranges.iter_mut().map(|range| &mut range.witness);
        for witness in ranges.chain(&mut comparison.witness) {
            let of = |build: usize| found.get(&build)?.get(witness.inputs.as_slice());
            if let (Some(baseline), Some(variant)) = (of(0), of(comparison.variant)) {
                let value = |k| (baseline.returned().value(k), variant.returned().value(k));
                witness.values = (0..results.width()).map(value).collect();
            }
        }
    }
}

/// Takes every value that rests on a nondeterministic build out of the result.
fn disown(result: &mut FunctionResult, build: usize) {
    let mut columns = BTreeSet::new();
    for comparison in &mut result.comparisons {
        if build != 0 && comparison.variant != build {
            continue;
        }
        // Samples have a column for each variant.
        columns.insert(comparison.variant.saturating_sub(1));
        // How much was evaluated followed the answers too.
        result.evaluations = result.evaluations.saturating_sub(comparison.evaluations);
        comparison.evaluations = 0;
        comparison.stop = StopReason::Nondeterministic;
        comparison.ranges.clear();
        comparison.witness = None;
        comparison.class_changes.clear();
        comparison.census = None;
    }
    for sample in &mut result.samples {
        for (column, value) in sample.bits.iter_mut().enumerate() {
            if columns.contains(&column) {
                *value = 0.0;
            }
        }
    }
    result.constant = None;
    if build == 0 {
        result.stop = StopReason::Nondeterministic;
        result.samples.clear();
    }
    let kind = FaultKind::Nondeterministic;
    result.faults.retain(|record| !(record.build == build && record.kind == kind));
    result.faults.push(FaultRecord { build, kind, count: 1, examples: Vec::new() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{ComparisonResult, RangeResult, Sample};

    /// Answers from closures instead of processes.
    struct Scripted<T, A> {
        together: T,
        alone: A,
    }

    impl<T: Fn(usize, u64) -> Outcome, A: Fn(usize, u64) -> (Outcome, bool)> Recheck for Scripted<T, A> {
        fn together(&mut self, build: usize, inputs: &[u64]) -> Result<Outcomes, EvalError> {
            Ok(inputs.iter().map(|&x| (self.together)(build, x)).collect())
        }

        fn alone(&mut self, build: usize, input: &[u64]) -> Result<(Outcome, bool), EvalError> {
            Ok((self.alone)(build, input[0]))
        }

        fn rule(&self) -> (Results, NanPolicy) {
            (Results::one(Scalar::F64), NanPolicy::Any)
        }
    }

    const CRASH: Outcome = Outcome::Fault(FaultKind::Signal(11));

    fn fault(kind: FaultKind, count: u64, examples: &[u64]) -> FaultRecord {
        FaultRecord { build: 1, kind, count, examples: examples.iter().map(|&x| vec![x]).collect() }
    }

    fn steady(_: usize, x: u64) -> Outcome {
        Outcome::Value(x)
    }

    #[test]
    fn a_fault_that_does_not_repeat_alone_is_state_dependent() {
        let faults = vec![fault(FaultKind::Signal(11), 9, &[1, 2]), fault(FaultKind::Exit(3), 4, &[3])];
        let mut result = FunctionResult { faults, ..Default::default() };
        let alone = |_, x| (if x == 1 { CRASH } else { Outcome::Value(0) }, false);
        confirm(&mut result, &mut Scripted { together: steady, alone }).unwrap();
        let expected = [fault(FaultKind::Signal(11), 8, &[1]), fault(FaultKind::StateDependent, 5, &[2, 3])];
        assert_eq!(result.faults, expected);
    }

    #[test]
    fn a_timeout_that_ends_soon_after_is_a_close_one_and_stays_a_timeout() {
        let faults = vec![fault(FaultKind::Timeout, 2, &[1, 2])];
        let mut result = FunctionResult { faults, ..Default::default() };
        let alone = |_, x| if x == 1 { (Outcome::Value(0), true) } else { (Outcome::Value(0), false) };
        let close = confirm(&mut result, &mut Scripted { together: steady, alone }).unwrap();
        assert_eq!(close, 1);
        assert_eq!(
            result.faults,
            [fault(FaultKind::Timeout, 1, &[1]), fault(FaultKind::StateDependent, 1, &[2])]
        );
    }

    fn witness(input: u64) -> Witness {
        let (baseline, variant) = (Outcome::Value(input), Outcome::Value(input));
        Witness {
            inputs: vec![input],
            baseline,
            variant,
            bits: 1.0,
            change: None,
            worst: 0,
            values: Vec::new(),
        }
    }

    fn compared() -> FunctionResult {
        let range = |x| RangeResult {
            lo: vec![x],
            hi: vec![x],
            edges: Vec::new(),
            samples: 1,
            inconsistent: 1,
            mean_bits: 1.0,
            witness: witness(x),
            class_changes: BTreeMap::new(),
        };
        let comparison = |variant| ComparisonResult {
            variant,
            evaluations: 10,
            ranges: vec![range(1), range(2)],
            witness: Some(witness(2)),
            ..Default::default()
        };
        FunctionResult {
            evaluations: 20,
            comparisons: vec![comparison(1), comparison(2)],
            samples: vec![Sample { input: vec![1], bits: vec![1.0, 2.0], worst: Vec::new() }],
            ..Default::default()
        }
    }

    fn no_faults(_: usize, _: u64) -> (Outcome, bool) {
        unreachable!("there are no faults to re-run")
    }

    #[test]
    fn a_steady_result_stays_as_it_is() {
        let mut result = compared();
        confirm(&mut result, &mut Scripted { together: steady, alone: no_faults }).unwrap();
        assert_eq!(result, compared());
    }

    #[test]
    fn a_nan_with_other_bits_is_no_other_answer() {
        let mut result = compared();
        let nan = f64::NAN.to_bits();
        result.comparisons[0].ranges[0].witness.variant = Outcome::Value(nan);
        let before = result.clone();
        let together = |build, x| Outcome::Value(if build == 1 && x == 1 { nan | 1 << 63 } else { x });
        confirm(&mut result, &mut Scripted { together, alone: no_faults }).unwrap();
        assert_eq!(result, before);
    }

    #[test]
    fn a_build_with_another_answer_keeps_its_label_and_nothing_else() {
        let mut result = compared();
        let together = |build, x| Outcome::Value(if build == 2 && x == 1 { 99 } else { x });
        confirm(&mut result, &mut Scripted { together, alone: no_faults }).unwrap();
        assert_eq!(result.comparisons[0], compared().comparisons[0]);
        let second = &result.comparisons[1];
        assert_eq!(second.stop, StopReason::Nondeterministic);
        assert!(second.ranges.is_empty() && second.witness.is_none());
        assert_eq!(result.samples[0].bits, [1.0, 0.0]);
        assert_eq!(result.evaluations, 10);
        assert_eq!((result.faults[0].build, result.faults[0].kind), (2, FaultKind::Nondeterministic));
    }

    #[test]
    fn a_nondeterministic_baseline_takes_every_comparison_with_it() {
        let mut result = compared();
        let together = |build, x| Outcome::Value(if build == 0 { x + 1 } else { x });
        confirm(&mut result, &mut Scripted { together, alone: no_faults }).unwrap();
        assert!(result.comparisons.iter().all(|c| c.stop == StopReason::Nondeterministic));
        assert_eq!(result.faults.len(), 1);
        assert_eq!(result.faults[0].build, 0);
    }
}
