//! What a build is made of: its sources, its setup, and the C that calls each function there. The stages behind
//! this file know a build's material and not the matrix it comes from.

use std::path::Path;

use super::cache::Cache;
use super::shelf::Shelf;
use super::shim::{Shim, setup_shim};
use super::shims::{MOST_TOGETHER, Shims};
use super::support::Support;
use crate::model::{Build, Experiment, Implementation, Sources};

/// What there is to compile of one implementation, apart from how.
pub struct Material<'a> {
    /// The matrix's folder, from which sources are shown.
    pub folder: &'a Path,
    pub sources: &'a Sources,
    pub setup: Option<Shim>,
    pub shims: Shims<'a>,
    pub support: Support<'a>,
    pub shelf: Shelf,
}

impl<'a> Material<'a> {
    /// As it is with the user's own cache.
    pub fn of(experiment: &'a Experiment, implementation: &'a Implementation) -> Material<'a> {
        Material::grouped(experiment, implementation, MOST_TOGETHER, &Cache::default_folder())
    }

    /// With at most so many shims in a file, and with this folder as the cache.
    pub fn grouped(
        experiment: &'a Experiment,
        implementation: &'a Implementation,
        most: usize,
        cache: &Path,
    ) -> Material<'a> {
        let Experiment { declared, functions, .. } = experiment;
        let Implementation { sources, setup, setup_headers, .. } = implementation;
        Material {
            folder: experiment.path.parent().unwrap_or(Path::new("/")),
            sources,
            setup: setup.as_deref().map(|statements| setup_shim(statements, setup_headers)),
            shims: Shims::new(implementation, (declared, functions), most),
            support: Support::of(experiment),
            shelf: Shelf::new(sources, cache),
        }
    }
}

/// The material of every implementation, by name.
pub struct Materials<'a>(Vec<(&'a str, Material<'a>)>);

impl<'a> Materials<'a> {
    pub fn of(experiment: &'a Experiment, cache: &Path) -> Materials<'a> {
        Materials::grouped(experiment, MOST_TOGETHER, cache)
    }

    /// With at most so many shims in a file.
    pub fn grouped(experiment: &'a Experiment, most: usize, cache: &Path) -> Materials<'a> {
        let of = |i: &'a Implementation| (i.name.as_str(), Material::grouped(experiment, i, most, cache));
        Materials(experiment.implementations.iter().map(of).collect())
    }

    /// What a build is made of, or why nobody knows.
    pub fn of_build(&self, build: &Build) -> Result<&Material<'a>, String> {
        let found = self.0.iter().find(|(name, _)| *name == build.implementation);
        let reason = || format!("the matrix has no implementation `{}`", build.implementation);
        found.map(|(_, material)| material).ok_or_else(reason)
    }
}
