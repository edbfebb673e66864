//! Whether plain executables show a witness too. Nothing is evaluated here.

use super::{StoredWitness, Verdict, judge};
use crate::fp::NanPolicy;
use crate::model::{Answer, BuildId, ConfirmRow, Confirmed};

/// Compares what the executables of both builds say with what is stored.
pub fn confirm_row(nan: NanPolicy, witness: &StoredWitness, baseline: Answer, variant: Answer) -> ConfirmRow {
    let verdict = judge(nan, &witness.row, baseline, variant);
    let other = |build: &BuildId, now: Answer, stored: Answer| {
        let text = || format!("{build} answers {} and not {}", now.dec(), stored.dec());
        (!now.agrees(stored, nan)).then(text)
    };
    let mut reasons: Vec<String> = other(&witness.baseline, baseline, witness.row.baseline)
        .into_iter()
        .chain(other(&witness.build, variant, witness.row.variant))
        .collect();
    if matches!(verdict, Verdict::Gone { .. }) {
        reasons.push("the difference is gone".into());
    }
    ConfirmRow {
        confirmed: if verdict == Verdict::Held { Confirmed::Yes } else { Confirmed::No },
        baseline: Some(baseline),
        variant: Some(variant),
        reason: reasons.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{FaultKind, Number, WitnessRow};

    fn value(x: f64) -> Answer {
        Answer::Value(Number::new(Scalar::F64, x.to_bits()))
    }

    fn witness(baseline: f64, variant: f64) -> StoredWitness {
        StoredWitness {
            function: "f".into(),
            id: "f#fast.1".parse().unwrap(),
            build: "fast".into(),
            baseline: "slow".into(),
            inputs: vec![0],
            row: WitnessRow {
                inputs: vec![Number::new(Scalar::F64, 0)],
                baseline: value(baseline),
                variant: value(variant),
            },
        }
    }

    fn row(witness: &StoredWitness, baseline: f64, variant: Answer) -> ConfirmRow {
        confirm_row(NanPolicy::Any, witness, value(baseline), variant)
    }

    #[test]
    fn answers_as_stored_confirm_whatever_the_bits_of_a_nan() {
        let stored = witness(1.0, f64::NAN);
        let row = row(&stored, 1.0, value(-f64::NAN));
        assert_eq!((row.confirmed, row.reason.as_str()), (Confirmed::Yes, ""));
    }

    #[test]
    fn another_answer_is_told_with_the_build_that_gives_it() {
        let stored = witness(1.0, 2.0);
        let gone = row(&stored, 1.0, value(1.0));
        assert_eq!(gone.confirmed, Confirmed::No);
        assert_eq!(gone.reason, "fast answers 1 and not 2; the difference is gone");
        assert_eq!(gone.variant, Some(value(1.0)));
        let crash = row(&stored, 3.0, Answer::Fault(FaultKind::Signal(11)));
        assert_eq!(crash.reason, "slow answers 3 and not 1; fast answers SIGSEGV and not 2");
    }
}
