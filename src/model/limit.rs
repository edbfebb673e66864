//! A limit of the matrix: what a gate lets pass, whatever was accepted.

use super::BuildGlob;
use crate::fp::Tolerance;

/// A `[[limit]]`, or the limits of a `[[function]]`. Globs; None means every one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    pub function: Option<String>,
    pub build: Option<String>,
    pub rule: Option<LimitRule>,
    /// Differences within it are counted and not reported.
    pub tolerance: Option<Tolerance>,
    /// A difference has to be there.
    pub expect: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LimitRule {
    /// More bits than these are never accepted.
    MaxBits(f64),
    /// Differences never fail, for this reason.
    Allow(String),
}

impl Limit {
    pub fn matches(&self, function: &str, build: &str) -> bool {
        let of_function = |glob: &String| glob::Pattern::new(glob).is_ok_and(|p| p.matches(function));
        let of_build = |glob: &String| BuildGlob::new(glob).is_ok_and(|g| g.matches(build));
        self.function.as_ref().is_none_or(of_function) && self.build.as_ref().is_none_or(of_build)
    }
}

/// Takes every tolerance back: only equal numbers are equal.
pub fn tolerate_nothing(limits: &mut [Limit]) {
    limits.iter_mut().for_each(|limit| limit.tolerance = None);
}

/// How far apart results of a function on a build may be: the last limit about both that says so decides.
pub fn tolerance_of(limits: &[Limit], function: &str, build: &str) -> Tolerance {
    let about = limits.iter().rev().filter(|limit| limit.tolerance.is_some());
    about.filter(|limit| limit.matches(function, build)).find_map(|limit| limit.tolerance).unwrap_or_default()
}
