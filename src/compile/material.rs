//! What a build is made of: its sources, its setup, and the C that calls each function there. The stages behind
//! this file know a build's material and not the matrix it comes from.

use std::path::Path;

use super::shim::{Shim, setup_shim};
use super::shims::{MOST_TOGETHER, Shims};
use crate::model::{Experiment, Sources};

/// What there is to compile, apart from how.
pub struct Material<'a> {
    /// The matrix's folder, from which sources are shown.
    pub folder: &'a Path,
    pub sources: &'a Sources,
    pub setup: Option<Shim>,
    pub shims: Shims<'a>,
}

impl<'a> Material<'a> {
    pub fn of(experiment: &'a Experiment) -> Material<'a> {
        Material::grouped(experiment, MOST_TOGETHER)
    }

    /// With at most so many shims in a file.
    pub fn grouped(experiment: &'a Experiment, most: usize) -> Material<'a> {
        let Experiment { declared, functions, sources, setup, setup_headers, .. } = experiment;
        Material {
            folder: experiment.path.parent().unwrap_or(Path::new("/")),
            sources,
            setup: setup.as_deref().map(|statements| setup_shim(statements, setup_headers)),
            shims: Shims::new(declared, functions, most),
        }
    }
}
