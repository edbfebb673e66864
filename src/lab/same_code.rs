//! Functions that no flag of a matrix reaches: a library's own code, called as it is. Their builds agree because they are
//! the same, and a run should not look as if that had been tried.

use super::open::Lab;
use crate::c::is_identifier;
use crate::model::{Build, BuildId, BuildRow, Callee, FunctionRow};

/// Whether the builds that were compared on a function run the same code: no source defines or mentions it, each calls it by its
/// name, on one target and with one mathematics library. Builds that differ do not.
pub fn is_same_code(lab: &Lab, function: usize, row: &FunctionRow, builds: &[BuildRow]) -> bool {
    let differs = row.comparisons.iter().any(|c| c.witness.is_some());
    // Code that no reader of C understands, such as that of old libraries, may define it all the same.
    let is_mentioned = || lab.indexed(function).any(|(index, own)| index.mentions(own));
    if row.source.is_some() || row.comparisons.is_empty() || differs || is_mentioned() {
        return false;
    }
    let baseline = row.comparisons.iter().map(|c| &c.baseline).take(1);
    let compared: Vec<&BuildId> = baseline.chain(row.comparisons.iter().map(|c| &c.build)).collect();
    let surroundings = |id: &&BuildId| {
        let row = builds.iter().find(|row| row.id == **id)?;
        Some((&row.implementation, &row.target, &row.libm))
    };
    let Some(first) = compared.first().and_then(surroundings) else { return false };
    let planned = |id: &BuildId| lab.plan.builds.iter().find(|build| build.id == *id);
    compared.iter().all(|id| surroundings(id) == Some(first))
        && compared.iter().all(|id| planned(id).is_some_and(|build| is_bare(lab, function, build)))
}

/// Whether all that a build compiles of a function is the call of it.
fn is_bare(lab: &Lab, function: usize, build: &Build) -> bool {
    let mut known = lab.experiment.implementations.iter();
    let implementation = known.find(|implementation| implementation.name == build.implementation);
    match implementation.and_then(|one| one.callee(&lab.experiment.functions[function])) {
        Some(Callee::Signature(_)) => true,
        Some(Callee::Call(text)) => is_bare_call(text),
        Some(Callee::Body(_) | Callee::Elsewhere) | None => false,
    }
}

/// `name(x, 2)`: nothing that a compiler could compute in another way.
fn is_bare_call(text: &str) -> bool {
    let text = text.trim().trim_end_matches(';').trim_end();
    let Some((name, rest)) = text.split_once('(') else { return false };
    let Some(arguments) = rest.strip_suffix(')') else { return false };
    let is_plain = |argument: &str| {
        let argument = argument.trim();
        is_identifier(argument) || argument.parse::<f64>().is_ok()
    };
    is_identifier(name.trim()) && arguments.split(',').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_call_has_names_and_numbers_and_nothing_to_compute() {
        for text in ["j0(x)", " jn( 2, x )", "gsl_sf_airy_Ai(x, GSL_PREC_DOUBLE)"] {
            assert!(is_bare_call(text), "{text}");
        }
        for text in ["x", "j0(x) + 1", "j0(x * 2)", "j0(j1(x))", "(j0)(x)", "-j0(x)", "1 / j0(x)"] {
            assert!(!is_bare_call(text), "{text}");
        }
    }
}
