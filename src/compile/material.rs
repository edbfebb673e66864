//! What a build is made of: its sources, its setup, and the C that calls each function there. The stages behind
//! this file know a build's material and not the matrix it comes from.

use std::path::Path;

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
}

impl<'a> Material<'a> {
    pub fn of(experiment: &'a Experiment, implementation: &'a Implementation) -> Material<'a> {
        Material::grouped(experiment, implementation, MOST_TOGETHER)
    }

    /// With at most so many shims in a file.
    fn grouped(experiment: &'a Experiment, implementation: &'a Implementation, most: usize) -> Material<'a> {
        let Experiment { declared, functions, .. } = experiment;
        let Implementation { sources, setup, setup_headers, .. } = implementation;
        Material {
            folder: experiment.path.parent().unwrap_or(Path::new("/")),
            sources,
            setup: setup.as_deref().map(|statements| setup_shim(statements, setup_headers)),
            shims: Shims::new(implementation, (declared, functions), most),
            support: Support::of(experiment),
        }
    }

    /// Its libraries as arguments of a link.
    pub fn libraries(&self) -> Vec<String> {
        self.sources.libs.iter().flat_map(|lib| library_args(lib)).collect()
    }
}

/// A library by its name, or by its file, which the loader is to find where it was.
fn library_args(lib: &str) -> Vec<String> {
    let Some((folder, file)) = lib.rsplit_once('/') else { return vec![format!("-l{lib}")] };
    let mut args = vec![lib.to_string()];
    if file.contains(".so") {
        args.push(format!("-Wl,-rpath={folder}"));
    }
    args
}

/// The material of every implementation, by name.
pub struct Materials<'a>(Vec<(&'a str, Material<'a>)>);

impl<'a> Materials<'a> {
    pub fn of(experiment: &'a Experiment) -> Materials<'a> {
        Materials::grouped(experiment, MOST_TOGETHER)
    }

    /// With at most so many shims in a file.
    pub fn grouped(experiment: &'a Experiment, most: usize) -> Materials<'a> {
        let of = |i: &'a Implementation| (i.name.as_str(), Material::grouped(experiment, i, most));
        Materials(experiment.implementations.iter().map(of).collect())
    }

    /// What a build is made of, or why nobody knows.
    pub fn of_build(&self, build: &Build) -> Result<&Material<'a>, String> {
        let found = self.0.iter().find(|(name, _)| *name == build.implementation);
        let reason = || format!("the matrix has no implementation `{}`", build.implementation);
        found.map(|(_, material)| material).ok_or_else(reason)
    }
}
