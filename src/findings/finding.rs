//! A finding by its id, and what a program that shows it prints.

use super::replay::{check_signature, read_inputs};
use super::{ReplayError, StoredWitness, unread_witnesses};
use crate::fp::{NanPolicy, Scalar, parse_number};
use crate::model::{FaultKind, Function, FunctionRow, NumberText, RunFile};

/// What a program that is given up prints in place of bits.
const TIMEOUT: &str = "timeout";

/// The ids of a run's findings: of every range, and of every comparison's own witness where no range has it.
pub fn finding_ids(run: &RunFile) -> Vec<String> {
    run.functions.iter().flat_map(unread_witnesses).map(|witness| witness.id).collect()
}

/// The witness of an id, with the row of its function; a comparison's own has an id even where a range has it.
pub fn finding<'a>(run: &'a RunFile, id: &str) -> Option<(&'a FunctionRow, StoredWitness)> {
    run.functions.iter().find_map(|row| {
        if let Some(witness) = unread_witnesses(row).into_iter().find(|w| w.id == id) {
            return Some((row, witness));
        }
        let own = row.comparisons.iter().find(|c| id == format!("{}#{}.max", row.name, c.build))?;
        let witness = StoredWitness {
            function: row.name.clone(),
            id: id.into(),
            build: own.build.clone(),
            baseline: own.baseline.clone(),
            inputs: Vec::new(),
            row: own.witness.clone()?,
        };
        Some((row, witness))
    })
}

/// The same witness with its inputs read as today's matrix means them.
pub fn with_inputs(
    row: &FunctionRow,
    witness: &StoredWitness,
    functions: &[Function],
) -> Result<StoredWitness, ReplayError> {
    let function = functions.iter().find(|f| f.name == row.name);
    let function = function.ok_or_else(|| ReplayError::NoFunction { name: row.name.clone() })?;
    check_signature(row, function)?;
    let inputs = read_inputs(&witness.id, function, &witness.row)?;
    Ok(StoredWitness { inputs, ..witness.clone() })
}

/// The word by which a program's answer is known: its bits, as far as they count, or how it ends. None for what a
/// single call cannot show.
pub fn answer_word(result: Scalar, nan: NanPolicy, stored: &NumberText) -> Option<String> {
    if let Ok(bits) = parse_number(result, &stored.hex) {
        return Some(format!("{:016x}", nan.essence(result, bits)));
    }
    if stored.hex == FaultKind::Timeout.to_string() {
        return Some(TIMEOUT.into());
    }
    if let Some(code) = stored.hex.strip_prefix("exit ") {
        return Some(format!("status {code}"));
    }
    // A shell adds 128 to the number of a signal.
    let signal = (1..=64).find(|&number| FaultKind::Signal(number).to_string() == stored.hex)?;
    Some(format!("status {}", 128 + signal))
}

/// Whether a stored answer is that there is none in time.
pub fn is_timeout(stored: &NumberText) -> bool {
    stored.hex == FaultKind::Timeout.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_bits_or_how_the_program_ends() {
        let word = |hex: &str| {
            let stored = NumberText { hex: hex.into(), dec: String::new() };
            answer_word(Scalar::F64, NanPolicy::Any, &stored)
        };
        assert_eq!(word("0x1p+0").unwrap(), "3ff0000000000000");
        assert_eq!(word("-0x0p+0").unwrap(), "8000000000000000");
        assert_eq!(word("nan:0xfff8000000000007").unwrap(), "7ff0000000000001");
        assert_eq!(word("SIGSEGV").unwrap(), "status 139");
        assert_eq!(word("exit 3").unwrap(), "status 3");
        assert_eq!(word("timeout").unwrap(), "timeout");
        assert_eq!(word("fpenv"), None);
    }
}
