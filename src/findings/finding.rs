//! A finding by its id, and what a program that shows it prints.

use super::{StoredWitness, witnesses};
use crate::fp::NanPolicy;
use crate::model::{Answer, FaultKind, FindingId, FunctionRow, RunFile};

/// What a program that is given up prints in place of bits.
const TIMEOUT: &str = "timeout";

/// The ids of a run's findings: of every range, and of every comparison's own witness where no range has it.
pub fn finding_ids(run: &RunFile) -> Vec<FindingId> {
    run.functions.iter().flat_map(witnesses).map(|witness| witness.id).collect()
}

/// The witness of an id, with the row of its function; a comparison's own has an id even where a range has it.
pub fn finding<'a>(run: &'a RunFile, id: &FindingId) -> Option<(&'a FunctionRow, StoredWitness)> {
    let row = run.functions.iter().find(|row| row.name == id.function)?;
    if let Some(witness) = witnesses(row).into_iter().find(|w| w.id == *id) {
        return Some((row, witness));
    }
    let own = row.comparisons.iter().find(|c| FindingId::of_max(&row.name, &c.build) == *id)?;
    Some((row, StoredWitness::new(id.clone(), own, own.witness.as_ref()?)))
}

/// The word by which a program's answer is known: its bits, as far as they count, or how it ends. None for what a
/// single call cannot show.
pub fn answer_word(nan: NanPolicy, stored: Answer) -> Option<String> {
    match stored {
        Answer::Value(number) => Some(format!("{:016x}", nan.essence(number.scalar, number.bits))),
        Answer::Fault(FaultKind::Timeout) => Some(TIMEOUT.into()),
        Answer::Fault(FaultKind::Exit(code)) => Some(format!("status {code}")),
        // A shell adds 128 to the number of a signal.
        Answer::Fault(FaultKind::Signal(number)) => Some(format!("status {}", 128 + number)),
        Answer::Fault(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::Number;

    #[test]
    fn an_answer_is_its_bits_or_how_the_program_ends() {
        let bits =
            |bits: u64| answer_word(NanPolicy::Any, Answer::Value(Number::new(Scalar::F64, bits))).unwrap();
        assert_eq!(bits(1f64.to_bits()), "3ff0000000000000");
        assert_eq!(bits((-0f64).to_bits()), "8000000000000000");
        assert_eq!(bits(0xfff8_0000_0000_0007), "7ff0000000000001");
        let fault = |kind| answer_word(NanPolicy::Any, Answer::Fault(kind));
        assert_eq!(fault(FaultKind::Signal(11)).unwrap(), "status 139");
        assert_eq!(fault(FaultKind::Exit(3)).unwrap(), "status 3");
        assert_eq!(fault(FaultKind::Timeout).unwrap(), "timeout");
        assert_eq!(fault(FaultKind::Fpenv), None);
    }
}
