//! Findings of a stored run by their ids.

use super::error::LabError;
use crate::findings::{StoredWitness, finding, finding_ids, unread_witnesses};
use crate::model::{FunctionRow, RunFile};

/// A finding with the row of its function. Its inputs are not read yet.
#[derive(Clone, Debug)]
pub struct Finding<'r> {
    pub row: &'r FunctionRow,
    pub witness: StoredWitness,
}

impl<'r> Finding<'r> {
    /// The finding of an id, or what is wrong with its name.
    pub fn named(run: &'r RunFile, id: &str) -> Result<Finding<'r>, LabError> {
        let found = finding(run, id).map(|(row, witness)| Finding { row, witness });
        found.ok_or_else(|| no_such_finding(run, id))
    }

    /// Every finding of some functions.
    pub fn all(run: &'r RunFile, wanted: impl Fn(&str) -> bool) -> Vec<Finding<'r>> {
        let rows = run.functions.iter().filter(|row| wanted(&row.name));
        let of = |row: &'r FunctionRow| {
            unread_witnesses(row).into_iter().map(move |witness| Finding { row, witness })
        };
        rows.flat_map(of).collect()
    }
}

fn no_such_finding(run: &RunFile, id: &str) -> LabError {
    let ids = finding_ids(run);
    let function = id.split('#').next().unwrap_or(id);
    let of_function: Vec<String> =
        ids.iter().filter(|known| known.split('#').next() == Some(function)).cloned().collect();
    let near = of_function.iter().chain(&ids).cloned().collect();
    let (whose, known) = match of_function.is_empty() {
        false => (format!("findings of {function}"), of_function),
        true => ("findings of the run".into(), ids),
    };
    LabError::NoSuchFinding { id: id.into(), near, whose, known }
}
