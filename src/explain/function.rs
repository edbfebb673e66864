//! The guilty functions of the guilty files: all others are made precise by a pragma or an attribute, which
//! does not depend on what the compiler inlines where.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::delta::Parts;
use super::environment::row;
use super::error::ExplainError;
use super::file::{FileSet, words};
use super::inquiry::{Inquiry, Search};
use super::text::{FunctionAt, Guilt, Loose, Texts};
use crate::model::{LayerRow, Standing, Suspect};

/// The layer's answer, and its sets with the texts they stand in.
pub fn functions(inquiry: &Inquiry<'_>, sets: &[FileSet]) -> Result<(LayerRow, Vec<Guilt>), ExplainError> {
    let (mut causes, mut found, mut complete, mut stops) = (Vec::new(), Vec::new(), true, Vec::new());
    for set in sets {
        match of_set(inquiry, set)? {
            Ok((texts, guilty, whole)) => {
                complete &= whole;
                for functions in guilty {
                    causes.push(
                        functions
                            .iter()
                            .map(|at| texts.function_suspect(inquiry, at))
                            .collect::<Vec<Suspect>>(),
                    );
                    found.push(Guilt { texts: texts.clone(), functions, statements: None });
                }
            }
            Err(why) => stops.push(why),
        }
    }
    let trouble = inquiry.troubles();
    let stopped = stops.join("; ");
    if causes.is_empty() {
        return Ok((row(Standing::Stopped, causes, format!("{stopped}{trouble}")), found));
    }
    let standing = if complete && stops.is_empty() { Standing::Found } else { Standing::Likely };
    let more = if stops.is_empty() { String::new() } else { format!("; {stopped}") };
    let text =
        format!("{}{more}{trouble}", words(&causes, complete, |s| format!("{} in {}", s.function, s.file)));
    Ok((row(standing, causes, text), found))
}

type Guilty = (Arc<Texts>, Vec<BTreeSet<FunctionAt>>, bool);

fn of_set(inquiry: &Inquiry<'_>, set: &FileSet) -> Result<Result<Guilty, String>, ExplainError> {
    if set.call {
        return Ok(Err("the matrix's own C, which calls the function, has a part in it".into()));
    }
    let texts = match Texts::read(inquiry, set) {
        Ok(texts) => texts,
        Err(why) => return Ok(Err(why)),
    };
    let all = texts.functions();
    let pick = |parts: &Parts| parts.iter().map(|&part| all[part]).collect::<BTreeSet<FunctionAt>>();
    let mix = |parts: &Parts| texts.only(inquiry, &Loose { functions: pick(parts), statements: None });
    if all.is_empty() {
        let why = texts.obstacles().join("; ");
        return Ok(Err(format!(
            "no function could be rewritten{}{why}",
            if why.is_empty() { "" } else { ": " }
        )));
    }
    match inquiry.search(all.len(), mix)? {
        Search::Senseless(why) => {
            let obstacles = texts.obstacles();
            let more =
                if obstacles.is_empty() { String::new() } else { format!(" ({})", obstacles.join("; ")) };
            Ok(Err(format!("its functions cannot be told apart: {why}{more}")))
        }
        Search::Found(found) => {
            let sets = found.sets.iter().map(pick).collect();
            Ok(Ok((Arc::new(texts), sets, found.complete)))
        }
    }
}
