//! Stored witnesses: which inputs to evaluate again, and what a new evaluation says about each.

use super::outcome_text;
use crate::fp::{NanPolicy, ParseNumberError, Scalar, inconsistency, parse_number};
use crate::model::{ClassChange, Function, FunctionRow, NumberText, Outcome, WitnessRow};

/// Why a stored witness cannot be evaluated again with today's matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("function {name} is in the run but not in the matrix")]
    NoFunction { name: String },
    #[error("function {name} was stored as {stored}, the matrix now says {now}")]
    OtherSignature { name: String, stored: String, now: String },
    #[error("witness {id}: {source}")]
    Number { id: String, source: ParseNumberError },
}

/// A witness of a run, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredWitness {
    pub function: String,
    /// The range's id, or `function#build.max` for the comparison's own.
    pub id: String,
    pub build: String,
    pub baseline: String,
    /// Bits of the inputs.
    pub inputs: Vec<u64>,
    pub row: WitnessRow,
}

/// What became of a witness.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Both builds answer as stored.
    Held,
    /// They still disagree, or one fails, but not as stored. Bits only where both gave a value.
    Moved { baseline: NumberText, variant: NumberText, bits: Option<f64> },
    /// They now agree.
    Gone { baseline: NumberText, variant: NumberText },
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
/// has the same input. `functions` are those of the matrix.
pub fn stored_witnesses(
    row: &FunctionRow,
    functions: &[Function],
) -> Result<Vec<StoredWitness>, ReplayError> {
    let function = functions
        .iter()
        .find(|f| f.name == row.name)
        .ok_or_else(|| ReplayError::NoFunction { name: row.name.clone() })?;
    check_signature(row, function)?;
    let mut witnesses = unread_witnesses(row);
    for witness in &mut witnesses {
        witness.inputs = read_inputs(&witness.id, function, &witness.row)?;
    }
    Ok(witnesses)
}

/// The same witnesses with no input read: for a function that the matrix does not know as it was.
pub fn unread_witnesses(row: &FunctionRow) -> Vec<StoredWitness> {
    let mut witnesses = Vec::new();
    for comparison in &row.comparisons {
        let of_ranges = comparison.ranges.iter().map(|r| (r.id.clone(), &r.witness));
        let unseen = |w: &&WitnessRow| !comparison.ranges.iter().any(|r| r.witness.inputs == w.inputs);
        let own = comparison.witness.as_ref().filter(unseen);
        let own = own.map(|w| (format!("{}#{}.max", row.name, comparison.build), w));
        let stored = |(id, witness): (String, &WitnessRow)| StoredWitness {
            inputs: Vec::new(),
            function: row.name.clone(),
            id,
            build: comparison.build.clone(),
            baseline: comparison.baseline.clone(),
            row: witness.clone(),
        };
        witnesses.extend(of_ranges.chain(own).map(stored));
    }
    witnesses
}

pub(super) fn check_signature(row: &FunctionRow, function: &Function) -> Result<(), ReplayError> {
    let spell = |params: Vec<&str>, result: &str| format!("{result} ({})", params.join(", "));
    let stored = spell(row.params.iter().map(|p| p.ty.as_str()).collect(), &row.result);
    let now = spell(function.params.iter().map(|p| p.ty.c_name()).collect(), function.result.c_name());
    if stored == now {
        return Ok(());
    }
    Err(ReplayError::OtherSignature { name: row.name.clone(), stored, now })
}

pub(super) fn read_inputs(
    id: &str,
    function: &Function,
    witness: &WitnessRow,
) -> Result<Vec<u64>, ReplayError> {
    let read = |(text, scalar): (&NumberText, Scalar)| {
        parse_number(scalar, &text.hex).map_err(|source| ReplayError::Number { id: id.into(), source })
    };
    witness.inputs.iter().zip(function.scalars()).map(read).collect()
}

/// Compares what the two builds say now with what is stored.
pub fn judge(
    result: Scalar,
    nan: NanPolicy,
    stored: &WitnessRow,
    baseline: Outcome,
    variant: Outcome,
) -> Verdict {
    let (now_baseline, now_variant) = (outcome_text(result, baseline), outcome_text(result, variant));
    let same = |now: Outcome, stored: &NumberText| is_same(result, nan, now, stored);
    if same(baseline, &stored.baseline) && same(variant, &stored.variant) {
        return Verdict::Held;
    }
    if let (Outcome::Value(a), Outcome::Value(b)) = (baseline, variant) {
        let bits = inconsistency(result, a, b, nan);
        let change = ClassChange::between(result, nan, baseline, variant);
        if bits == 0.0 && !change.is_some_and(ClassChange::is_inconsistent) {
            return Verdict::Gone { baseline: now_baseline, variant: now_variant };
        }
        return Verdict::Moved { baseline: now_baseline, variant: now_variant, bits: Some(bits) };
    }
    Verdict::Moved { baseline: now_baseline, variant: now_variant, bits: None }
}

/// Equal texts, or NaNs that agree as far as they count.
pub(super) fn is_same(result: Scalar, nan: NanPolicy, now: Outcome, stored: &NumberText) -> bool {
    let essence = |bits: u64| nan.essence(result, bits);
    let agree = |bits: u64| parse_number(result, &stored.hex).is_ok_and(|was| essence(was) == essence(bits));
    outcome_text(result, now).hex == stored.hex
        || now.value().is_some_and(|bits| result.is_nan(bits) && agree(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FaultKind;

    fn value(x: f64) -> Outcome {
        Outcome::Value(x.to_bits())
    }

    fn witness(baseline: f64, variant: f64) -> WitnessRow {
        let text = |x| outcome_text(Scalar::F64, value(x));
        WitnessRow { inputs: vec![text(1.0)], baseline: text(baseline), variant: text(variant) }
    }

    fn verdict(stored: &WitnessRow, baseline: Outcome, variant: Outcome) -> &'static str {
        judge(Scalar::F64, NanPolicy::Any, stored, baseline, variant).as_str()
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
        let timeout = Outcome::Fault(FaultKind::Timeout);
        assert_eq!(verdict(&witness(1.0, 2.0), value(1.0), timeout), "moved");
        assert_eq!(verdict(&witness(1.0, 2.0), timeout, timeout), "moved");
    }

    #[test]
    fn a_nan_holds_as_far_as_its_bits_count() {
        let stored = witness(1.0, f64::NAN);
        assert_eq!(verdict(&stored, value(1.0), value(-f64::NAN)), "held");
        let strict = judge(Scalar::F64, NanPolicy::Sign, &stored, value(1.0), value(-f64::NAN));
        assert_eq!(strict.as_str(), "moved");
    }
}
