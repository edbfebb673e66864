//! Stored witnesses: which inputs to evaluate again, and what a new evaluation says about each.

use crate::fp::{Equality, NanPolicy};
use crate::model::{
    Answer, BuildId, ComparisonRow, FindingId, Function, FunctionRow, Results, Returned, Shape, WitnessRow,
};

/// Why a stored witness cannot be evaluated again with today's matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("function {name} is in the run but not in the matrix")]
    NoFunction { name: String },
    #[error("function {name} was stored as {stored}, the matrix now says {now}")]
    OtherSignature { name: String, stored: Shape, now: Shape },
}

/// A witness of a run, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredWitness {
    pub id: FindingId,
    pub function: String,
    pub build: BuildId,
    pub baseline: BuildId,
    /// Bits of the inputs.
    pub inputs: Vec<u64>,
    pub row: WitnessRow,
}

impl StoredWitness {
    pub(super) fn new(id: FindingId, comparison: &ComparisonRow, row: &WitnessRow) -> StoredWitness {
        StoredWitness {
            function: id.function.clone(),
            build: comparison.build.clone(),
            baseline: comparison.baseline.clone(),
            inputs: row.bits(),
            row: row.clone(),
            id,
        }
    }
}

/// What became of a witness.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Both builds answer as stored.
    Held,
    /// They still disagree, or one fails, but not as stored. Bits only where both gave a value.
    Moved { baseline: Answer, variant: Answer, bits: Option<f64> },
    /// They now agree.
    Gone { baseline: Answer, variant: Answer },
    /// It could not be evaluated: a build or the function is not there.
    Unevaluated { reason: String },
}

impl Verdict {
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::Moved { .. } => "moved",
            Verdict::Gone { .. } => "gone",
            Verdict::Unevaluated { .. } => "unevaluated",
        }
    }
}

/// The witnesses of one function of a run: of every range, and of every comparison where no range
/// has the same input.
pub fn witnesses(row: &FunctionRow) -> Vec<StoredWitness> {
    let mut witnesses = Vec::new();
    for comparison in &row.comparisons {
        let of_ranges = comparison.ranges.iter().map(|r| (r.id.clone(), &r.witness));
        let unseen = |w: &&WitnessRow| !comparison.ranges.iter().any(|r| r.witness.inputs == w.inputs);
        let own = comparison.witness.as_ref().filter(unseen);
        let own = own.map(|w| (FindingId::of_max(&row.name, &comparison.build), w));
        let stored = |(id, witness)| StoredWitness::new(id, comparison, witness);
        witnesses.extend(of_ranges.chain(own).map(stored));
    }
    witnesses
}

/// The same, if the matrix knows the function as it was. `functions` are those of the matrix.
pub fn stored_witnesses(
    row: &FunctionRow,
    functions: &[Function],
) -> Result<Vec<StoredWitness>, ReplayError> {
    replayable(row, functions).map(|_| witnesses(row))
}

/// The matrix's function of a row, if it takes and gives what the row's did.
pub fn replayable<'f>(row: &FunctionRow, functions: &'f [Function]) -> Result<&'f Function, ReplayError> {
    let function = functions.iter().find(|f| f.name == row.name);
    let function = function.ok_or_else(|| ReplayError::NoFunction { name: row.name.clone() })?;
    let (stored, now) = (row.shape(), Shape::of(function));
    if stored.fits(&now) {
        return Ok(function);
    }
    Err(ReplayError::OtherSignature { name: row.name.clone(), stored, now })
}

/// Whether a build says what is stored, in every value.
fn is_as_stored(nan: NanPolicy, stored: &[Answer], now: &[Answer]) -> bool {
    stored.len() == now.len() && stored.iter().zip(now).all(|(then, now)| now.agrees(*then, nan))
}

/// Compares what the two builds say now with what is stored; a verdict has the values that differ most now.
pub fn judge(
    equality: Equality,
    results: &Results,
    stored: &WitnessRow,
    (baseline, variant): (Returned<'_>, Returned<'_>),
) -> Verdict {
    let then = stored.answers();
    if is_as_stored(equality.nan, &then.0, &results.answers(baseline))
        && is_as_stored(equality.nan, &then.1, &results.answers(variant))
    {
        return Verdict::Held;
    }
    let difference = results.compare(equality, baseline, variant);
    let answer = |outcome| Answer::new(results.ty(difference.worst), outcome);
    let (baseline, variant) = (answer(difference.baseline), answer(difference.variant));
    let both = baseline.number().is_some() && variant.number().is_some();
    if both && !difference.is_inconsistent() {
        return Verdict::Gone { baseline, variant };
    }
    Verdict::Moved { baseline, variant, bits: both.then_some(difference.bits) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{FaultKind, Number, Outcome};

    fn number(x: f64) -> Number {
        Number::new(Scalar::F64, x.to_bits())
    }

    fn value(x: f64) -> Answer {
        Answer::Value(number(x))
    }

    fn witness(baseline: f64, variant: f64) -> WitnessRow {
        WitnessRow::of_one(vec![number(1.0)], value(baseline), value(variant))
    }

    fn judged(nan: NanPolicy, stored: &WitnessRow, answers: [Answer; 2]) -> &'static str {
        let outcome = |answer: Answer| match answer {
            Answer::Value(number) => Outcome::Value(number.bits),
            Answer::Fault(kind) => Outcome::Fault(kind),
        };
        let [baseline, variant] = answers.map(|answer| Returned::from(outcome(answer)));
        let equality = Equality { nan, ..Equality::default() };
        judge(equality, &Results::one(Scalar::F64), stored, (baseline, variant)).as_str()
    }

    fn verdict(stored: &WitnessRow, baseline: Answer, variant: Answer) -> &'static str {
        judged(NanPolicy::Any, stored, [baseline, variant])
    }

    #[test]
    fn a_witness_holds_moves_or_goes() {
        let stored = witness(1.0, 2.0);
        assert_eq!(verdict(&stored, value(1.0), value(2.0)), "held");
        assert_eq!(verdict(&stored, value(1.0), value(3.0)), "moved");
        assert_eq!(verdict(&stored, value(1.0), value(f64::NAN)), "moved");
        assert_eq!(verdict(&stored, value(1.0), value(1.0)), "gone");
        assert_eq!(verdict(&stored, value(f64::NAN), value(-f64::NAN)), "gone");
    }

    #[test]
    fn a_witness_that_now_times_out_has_moved_and_never_counts_as_gone() {
        let timeout = Answer::Fault(FaultKind::Timeout);
        assert_eq!(verdict(&witness(1.0, 2.0), value(1.0), timeout), "moved");
        assert_eq!(verdict(&witness(1.0, 2.0), timeout, timeout), "moved");
    }

    #[test]
    fn a_nan_holds_as_far_as_its_bits_count() {
        let stored = witness(1.0, f64::NAN);
        assert_eq!(verdict(&stored, value(1.0), value(-f64::NAN)), "held");
        assert_eq!(judged(NanPolicy::Sign, &stored, [value(1.0), value(-f64::NAN)]), "moved");
    }
}
