//! A limit of the matrix: what a gate lets pass, whatever was accepted.

use super::BuildGlob;

/// A `[[limit]]`, or the limits of a `[[function]]`. Globs; None means every one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    pub function: Option<String>,
    pub build: Option<String>,
    pub rule: Option<LimitRule>,
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
