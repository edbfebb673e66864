//! Whether plain executables show a witness too. Nothing is evaluated here.

use super::{StoredWitness, Verdict, judge};
use crate::fp::Equality;
use crate::model::{Answer, BuildId, ConfirmRow, Confirmed, ResultValue, Results, Returned};

/// Compares what the executables of both builds say with what is stored.
pub fn confirm_row(
    equality: Equality,
    results: &Results,
    witness: &StoredWitness,
    both: (Returned<'_>, Returned<'_>),
) -> ConfirmRow {
    let verdict = judge(equality, results, &witness.row, both);
    let (then, now) = (witness.row.answers(), (results.answers(both.0), results.answers(both.1)));
    // The first value that is another one.
    let other = |build: &BuildId, now: &[Answer], then: &[Answer]| {
        let at = now.iter().zip(then).position(|(now, then)| !now.agrees(*then, equality.nan))?;
        let name = results.values().get(at).filter(|_| results.is_wide());
        let name = name.map(|value| format!("{} = ", value.name)).unwrap_or_default();
        Some(format!("{build} answers {name}{} and not {}", now[at].dec(), then[at].dec()))
    };
    let mut reasons: Vec<String> = other(&witness.baseline, &now.0, &then.0)
        .into_iter()
        .chain(other(&witness.build, &now.1, &then.1))
        .collect();
    if matches!(verdict, Verdict::Gone { .. }) {
        reasons.push("the difference is gone".into());
    }
    let is_worst = |value: &ResultValue| witness.row.worst.as_ref() == Some(&value.name);
    let worst = results.values().iter().position(is_worst).unwrap_or(0);
    ConfirmRow {
        confirmed: if verdict == Verdict::Held { Confirmed::Yes } else { Confirmed::No },
        baseline: now.0.get(worst).copied(),
        variant: now.1.get(worst).copied(),
        worst: witness.row.worst.clone(),
        reason: reasons.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{FaultKind, Number, Outcome, WitnessRow};

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
            row: WitnessRow::of_one(vec![Number::new(Scalar::F64, 0)], value(baseline), value(variant)),
        }
    }

    fn row(witness: &StoredWitness, baseline: f64, variant: Answer) -> ConfirmRow {
        let variant = match variant {
            Answer::Value(number) => Outcome::Value(number.bits),
            Answer::Fault(kind) => Outcome::Fault(kind),
        };
        let both = (Outcome::Value(baseline.to_bits()).into(), variant.into());
        confirm_row(Equality::default(), &Results::one(Scalar::F64), witness, both)
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
