//! `--function GLOB`: which functions a user means.

use glob::Pattern;

/// Patterns of function names; no pattern means every function.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct FunctionGlobs {
    /// Only functions whose name matches, such as 'gsl_sf_*' (may be given several times)
    #[arg(long = "function", alias = "functions", value_name = "GLOB", value_parser = pattern)]
    patterns: Vec<Pattern>,
}

impl FunctionGlobs {
    /// Only the functions of these names, whatever characters they have.
    pub fn exactly<'a>(names: impl IntoIterator<Item = &'a str>) -> FunctionGlobs {
        let patterns = names.into_iter().flat_map(|name| Pattern::new(&Pattern::escape(name)));
        FunctionGlobs { patterns: patterns.collect() }
    }

    /// Whether every function is meant.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    pub fn matches(&self, name: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|p| p.matches(name))
    }

    /// The first pattern that matches none of the names: most likely a typing error.
    pub fn unmatched<'a>(&self, names: impl IntoIterator<Item = &'a str> + Clone) -> Option<&str> {
        let unused = |p: &&Pattern| !names.clone().into_iter().any(|name| p.matches(name));
        self.patterns.iter().find(unused).map(Pattern::as_str)
    }
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text)
        .map_err(|e| format!("{} at character {}; expected a name with * ? [..]", e.msg, e.pos + 1))
}
