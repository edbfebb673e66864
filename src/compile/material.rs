//! What a build is made of: its sources, its setup, and the C that calls each function there. The stages behind
//! this file know a build's material and not the matrix it comes from.

use std::path::Path;

use super::shim::{Call, Shim, function_shims, setup_shim};
use crate::model::{Experiment, Sources};

/// What there is to compile, apart from how.
pub struct Material<'a> {
    /// The matrix's folder, from which sources are shown.
    pub folder: &'a Path,
    pub sources: &'a Sources,
    pub setup: Option<Shim>,
    /// One for each function, in the experiment's order.
    pub shims: Vec<Shim>,
}

impl<'a> Material<'a> {
    pub fn of(experiment: &'a Experiment) -> Material<'a> {
        let call = |function| Call { function, callee: &function.callee, headers: &function.headers };
        let calls: Vec<Call> = experiment.functions.iter().map(call).collect();
        let statements = experiment.setup.as_deref();
        Material {
            folder: experiment.path.parent().unwrap_or(Path::new("/")),
            sources: &experiment.sources,
            setup: statements.map(|statements| setup_shim(statements, &experiment.setup_headers)),
            shims: function_shims(&calls),
        }
    }
}
