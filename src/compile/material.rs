//! What a build is made of: its sources, its setup, and the C that calls each function there. The stages behind
//! this file know a build's material and not the matrix it comes from.

use std::path::Path;

use super::shim::{Call, Shim, function_shims, setup_shim};
use crate::model::{Build, Experiment, Function, Implementation, Sources};

/// What there is to compile of one implementation, apart from how.
pub struct Material<'a> {
    /// The matrix's folder, from which sources are shown.
    pub folder: &'a Path,
    pub sources: &'a Sources,
    pub setup: Option<Shim>,
    /// One for each function, in the experiment's order.
    pub shims: Vec<Shim>,
}

impl<'a> Material<'a> {
    pub fn of(experiment: &'a Experiment, implementation: &'a Implementation) -> Material<'a> {
        let functions = &experiment.functions;
        let called: Vec<Option<Function>> = functions.iter().map(|f| implementation.function(f)).collect();
        let mut calls = Vec::new();
        for (function, called) in functions.iter().zip(&called) {
            calls.push(match called {
                Some(Function { callee, headers, .. }) => Call { function, callee, headers, lacking: None },
                None => Call {
                    function,
                    callee: &function.callee,
                    headers: &[],
                    lacking: Some(implementation.lacks(function)),
                },
            });
        }
        let statements = implementation.setup.as_deref();
        Material {
            folder: experiment.path.parent().unwrap_or(Path::new("/")),
            sources: &implementation.sources,
            setup: statements.map(|statements| setup_shim(statements, &implementation.setup_headers)),
            shims: function_shims(&calls),
        }
    }
}

/// The material of every implementation, by name.
pub struct Materials<'a>(Vec<(&'a str, Material<'a>)>);

impl<'a> Materials<'a> {
    pub fn of(experiment: &'a Experiment) -> Materials<'a> {
        let of = |i: &'a Implementation| (i.name.as_str(), Material::of(experiment, i));
        Materials(experiment.implementations.iter().map(of).collect())
    }

    /// What a build is made of, or why nobody knows.
    pub fn of_build(&self, build: &Build) -> Result<&Material<'a>, String> {
        let found = self.0.iter().find(|(name, _)| *name == build.implementation);
        let reason = || format!("the matrix has no implementation `{}`", build.implementation);
        found.map(|(_, material)| material).ok_or_else(reason)
    }
}
