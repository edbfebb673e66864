//! Whether plain executables show a witness too. Nothing is evaluated here.

use super::replay::is_same;
use super::{StoredWitness, Verdict, judge, outcome_text};
use crate::fp::{NanPolicy, Scalar};
use crate::model::{ConfirmRow, Confirmed, NumberText, Outcome};

/// Compares what the executables of both builds say with what is stored.
pub fn confirm_row(
    (result, nan): (Scalar, NanPolicy),
    witness: &StoredWitness,
    baseline: Outcome,
    variant: Outcome,
) -> ConfirmRow {
    let verdict = judge(result, nan, &witness.row, baseline, variant);
    let other = |build: &str, now: Outcome, stored: &NumberText| {
        let text = || format!("{build} answers {} and not {}", outcome_text(result, now).dec, stored.dec);
        (!is_same(result, nan, now, stored)).then(text)
    };
    let mut reasons: Vec<String> = other(&witness.baseline, baseline, &witness.row.baseline)
        .into_iter()
        .chain(other(&witness.build, variant, &witness.row.variant))
        .collect();
    if matches!(verdict, Verdict::Gone { .. }) {
        reasons.push("the difference is gone".into());
    }
    ConfirmRow {
        confirmed: if verdict == Verdict::Held { Confirmed::Yes } else { Confirmed::No },
        baseline: Some(outcome_text(result, baseline)),
        variant: Some(outcome_text(result, variant)),
        reason: reasons.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FaultKind, WitnessRow};

    fn number(x: f64) -> NumberText {
        NumberText::new(Scalar::F64, x.to_bits())
    }

    fn witness(baseline: f64, variant: f64) -> StoredWitness {
        StoredWitness {
            function: "f".into(),
            id: "f#fast.1".into(),
            build: "fast".into(),
            baseline: "slow".into(),
            inputs: vec![0],
            row: WitnessRow {
                inputs: vec![number(0.0)],
                baseline: number(baseline),
                variant: number(variant),
            },
        }
    }

    fn row(witness: &StoredWitness, baseline: f64, variant: Outcome) -> ConfirmRow {
        confirm_row((Scalar::F64, NanPolicy::Any), witness, Outcome::Value(baseline.to_bits()), variant)
    }

    #[test]
    fn answers_as_stored_confirm_whatever_the_bits_of_a_nan() {
        let stored = witness(1.0, f64::NAN);
        let row = row(&stored, 1.0, Outcome::Value(f64::NAN.to_bits() | 1 << 63));
        assert_eq!((row.confirmed, row.reason.as_str()), (Confirmed::Yes, ""));
    }

    #[test]
    fn another_answer_is_told_with_the_build_that_gives_it() {
        let stored = witness(1.0, 2.0);
        let gone = row(&stored, 1.0, Outcome::Value(1f64.to_bits()));
        assert_eq!(gone.confirmed, Confirmed::No);
        assert_eq!(gone.reason, "fast answers 1 and not 2; the difference is gone");
        assert_eq!(gone.variant, Some(number(1.0)));
        let crash = row(&stored, 3.0, Outcome::Fault(FaultKind::Signal(11)));
        assert_eq!(crash.reason, "slow answers 3 and not 1; fast answers SIGSEGV and not 2");
    }
}
