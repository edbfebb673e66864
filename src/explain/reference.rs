//! A build that agrees with the baseline and whose objects can be linked with the variant's: without one no
//! file, function or statement can be tried.

use std::sync::Arc;

use super::case::Yardstick;
use super::environment::{Looker, Pair};
use super::error::ExplainError;
use super::scene::Side;
use crate::model::{Build, Experiment};

/// What targets do differently unless they are told: the sign of `char`, the precision of i686's arithmetic.
const TARGET_HABITS: [&str; 4] = ["-fsigned-char", "-funsigned-char", "-msse2 -mfpmath=sse", "-ffloat-store"];

/// The reference, and in words why it is not the baseline itself.
pub type Reference = (Arc<Side>, Option<String>);

/// The baseline itself where its objects fit; else the variant's own compiler with flags that agree.
pub fn reference(
    looker: &Looker<'_>,
    (baseline, variant): (&Arc<Side>, &Arc<Side>),
    by: &Yardstick,
) -> Result<Option<Reference>, ExplainError> {
    let Pair { baseline: from, variant: to } = looker.pair;
    let fits = fits(from, to);
    if fits && from.command == to.command {
        return Ok(Some((baseline.clone(), None)));
    }
    for (args, with) in candidates(looker.desk.experiment, from, to) {
        if args == to.args {
            continue;
        }
        let build = Build { args, ..to.clone() };
        if looker.shows(&build, by)? == Some(false)
            && let Some(side) = looker.make(&build)?
        {
            let words = format!("{} with {with} agrees with {}", to.id, from.id);
            return Ok(Some((side, Some(words))));
        }
    }
    if fits {
        let words = format!(
            "{} differs with {}'s flags too: the compiler has a part in it",
            variant.build.compiler, from.id
        );
        return Ok(Some((baseline.clone(), Some(words))));
    }
    Ok(None)
}

/// Whether objects of the two can be linked into one.
fn fits(a: &Build, b: &Build) -> bool {
    let (x, y) = (&a.environment, &b.environment);
    a.target == b.target && (&x.libm, &x.tunables) == (&y.libm, &y.tunables)
}

/// The arguments of the variant's compiler with the baseline's flag set in place of its own. What its compiler and
/// target add stays: without it there may be no such target.
pub fn baseline_args(experiment: &Experiment, from: &Build, to: &Build) -> Vec<String> {
    let theirs = set_args(experiment, &from.flags).unwrap_or(&from.args);
    [theirs, added(experiment, to)].concat()
}

fn set_args<'e>(experiment: &'e Experiment, name: &str) -> Option<&'e [String]> {
    experiment.flags.iter().find(|set| set.name == name).map(|set| set.args.as_slice())
}

/// A build's arguments beyond its flag set.
fn added<'b>(experiment: &Experiment, build: &'b Build) -> &'b [String] {
    let own = set_args(experiment, &build.flags).unwrap_or_default();
    build.args.strip_prefix(own).unwrap_or_default()
}

/// Other arguments for the variant's compiler, with words for them, the nearest to the baseline first.
fn candidates(experiment: &Experiment, from: &Build, to: &Build) -> Vec<(Vec<String>, String)> {
    let off = ["-ffp-contract=off".to_string()];
    let theirs = baseline_args(experiment, from, to);
    let plain = [&["-O0".to_string()], added(experiment, to), &off].concat();
    let mut all = vec![
        (theirs.clone(), "the baseline's flags".into()),
        ([&to.args[..], &off].concat(), "-ffp-contract=off".into()),
        ([&theirs[..], &off].concat(), "the baseline's flags and -ffp-contract=off".into()),
        (plain, "-O0 -ffp-contract=off".into()),
    ];
    if from.target != to.target {
        all.extend(TARGET_HABITS.iter().map(|habit| {
            let more: Vec<String> = habit.split(' ').map(String::from).collect();
            ([&to.args[..], &more].concat(), (*habit).to_string())
        }));
    }
    all
}
