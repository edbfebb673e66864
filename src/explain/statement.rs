//! The guilty statements of the guilty functions, for compilers that can make a single one precise.

use std::collections::BTreeSet;

use super::delta::Parts;
use super::environment::row;
use super::error::ExplainError;
use super::file::words;
use super::inquiry::{Inquiry, Search};
use super::text::{Guilt, Loose, StatementAt};
use crate::c::Dialect;
use crate::model::{LayerRow, Standing, Suspect};

/// More statements than this that are needed together only say that the function cannot be taken apart.
const MOST_TOGETHER: usize = 4;

/// The layer's answer, and the guilty code as narrow as it is known now.
pub fn statements(inquiry: &Inquiry<'_>, guilty: &[Guilt]) -> Result<(LayerRow, Vec<Guilt>), ExplainError> {
    let (mut narrow, mut stops, mut complete) = (Vec::new(), Vec::new(), true);
    for guilt in guilty {
        match of_guilt(inquiry, guilt)? {
            Ok((sets, whole)) => {
                complete &= whole;
                let with = |set| Guilt { statements: Some(set), ..guilt.clone() };
                narrow.extend(sets.into_iter().map(with).map(fewer_functions));
            }
            Err(why) => {
                stops.push(why);
                narrow.push(guilt.clone());
            }
        }
    }
    let trouble = inquiry.troubles();
    let found: Vec<Vec<Suspect>> =
        narrow.iter().filter(|g| g.statements.is_some()).map(|g| g.suspects(inquiry)).collect();
    let stopped = stops.join("; ");
    if found.is_empty() {
        return Ok((row(Standing::Stopped, Vec::new(), format!("{stopped}{trouble}")), narrow));
    }
    let standing = if complete && stops.is_empty() { Standing::Found } else { Standing::Likely };
    let more = if stops.is_empty() { String::new() } else { format!("; {stopped}") };
    let text = words(&found, complete, |s| format!("{}:{}:{} `{}`", s.file, s.line, s.column, s.text));
    Ok((row(standing, found, format!("{text}{more}{trouble}")), narrow))
}

type Sets = (Vec<BTreeSet<StatementAt>>, bool);

fn of_guilt(inquiry: &Inquiry<'_>, guilt: &Guilt) -> Result<Result<Sets, String>, ExplainError> {
    if guilt.texts.dialect != Dialect::Clang {
        return Ok(Err(
            "gcc cannot make a single statement precise: the function is the smallest unit".into()
        ));
    }
    let all = guilt.texts.statements(&guilt.functions);
    if all.is_empty() {
        return Ok(Err("it has no statement that floating-point flags could change".into()));
    }
    let pick = |parts: &Parts| parts.iter().map(|&part| all[part]).collect::<BTreeSet<StatementAt>>();
    let mix = |parts: &Parts| {
        let loose = Loose { functions: guilt.functions.clone(), statements: Some(pick(parts)) };
        guilt.texts.only(inquiry, &loose)
    };
    let found = match inquiry.search(all.len(), mix)? {
        Search::Senseless(why) => return Ok(Err(format!("its statements cannot be told apart: {why}"))),
        Search::Found(found) => found,
    };
    if let Some(large) = found.sets.iter().map(BTreeSet::len).find(|&size| size > MOST_TOGETHER) {
        return Ok(Err(format!(
            "it takes {large} statements together: what the compiler does depends on the whole function"
        )));
    }
    Ok(Ok((found.sets.iter().map(pick).collect(), found.complete)))
}

/// Only the functions that have one of the statements.
fn fewer_functions(mut guilt: Guilt) -> Guilt {
    if let Some(statements) = &guilt.statements {
        guilt.functions = statements.iter().map(|at| (at.0, at.1)).collect();
    }
    guilt
}
