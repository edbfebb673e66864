//! Findings of a stored run by their ids.

use super::error::LabError;
use crate::findings::{StoredWitness, finding, finding_ids, witnesses};
use crate::model::{FindingId, FunctionRow, RunFile};

/// A finding with the row of its function.
#[derive(Clone, Debug)]
pub struct Finding<'r> {
    pub row: &'r FunctionRow,
    pub witness: StoredWitness,
}

impl<'r> Finding<'r> {
    /// The finding of an id, or what is wrong with its name.
    pub fn named(run: &'r RunFile, id: &str) -> Result<Finding<'r>, LabError> {
        let found = id.parse().ok().and_then(|id| finding(run, &id));
        found.map(|(row, witness)| Finding { row, witness }).ok_or_else(|| no_such_finding(run, id))
    }

    /// Every finding of some functions.
    pub fn all(run: &'r RunFile, wanted: impl Fn(&str) -> bool) -> Vec<Finding<'r>> {
        let rows = run.functions.iter().filter(|row| wanted(&row.name));
        let of =
            |row: &'r FunctionRow| witnesses(row).into_iter().map(move |witness| Finding { row, witness });
        rows.flat_map(of).collect()
    }
}

fn no_such_finding(run: &RunFile, id: &str) -> LabError {
    let (function, _) = id.split_once('#').unwrap_or((id, ""));
    let (own, others): (Vec<FindingId>, Vec<FindingId>) =
        finding_ids(run).into_iter().partition(|known| known.function == function);
    let texts = |ids: &[FindingId]| ids.iter().map(FindingId::to_string).collect::<Vec<_>>();
    let near = [texts(&own), texts(&others)].concat();
    let (whose, known) = match own.is_empty() {
        false => (format!("findings of {function}"), texts(&own)),
        true => ("findings of the run".into(), texts(&others)),
    };
    LabError::NoSuchFinding { id: id.into(), near, whose, known }
}
