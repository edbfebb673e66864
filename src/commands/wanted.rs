//! From options to what a lab is opened with.

use std::path::Path;

use super::failure::Failure;
use super::interrupt;
use crate::cli::{FunctionGlobs, LabOptions, MeansOptions};
use crate::lab::{Lab, LabError, Means, load};
use crate::model::{Experiment, RunFile};

/// The means that a command gives its lab; an interrupt ends the work.
pub fn means(options: &MeansOptions) -> Result<Means, Failure> {
    Ok(Means { cache: options.cache.clone(), jobs: options.jobs, cancel: interrupt::flag()? })
}

/// A matrix with the functions that were asked for.
pub fn experiment(matrix: &Path, functions: &FunctionGlobs) -> Result<Experiment, Failure> {
    let mut experiment = load(matrix)?;
    check_globs(functions, experiment.functions.iter().map(|f| f.name.as_str()), "of the matrix")?;
    experiment.functions.retain(|f| functions.matches(&f.name));
    Ok(experiment)
}

/// The lab of a stored run: with the run's functions and no others, so that its objects are found in the cache. A
/// function that the matrix lost is left out.
pub fn lab_of(run: &RunFile, options: &LabOptions) -> Result<Lab, Failure> {
    let mut experiment = load(&options.matrix)?;
    experiment.functions.retain(|f| run.functions.iter().any(|row| row.name == f.name));
    Ok(Lab::new(experiment, means(&options.means)?)?)
}

/// Every glob must match a function of a run.
pub fn check_functions(functions: &FunctionGlobs, run: &RunFile) -> Result<(), Failure> {
    check_globs(functions, run.functions.iter().map(|f| f.name.as_str()), "of the run")
}

/// Every glob must match a function; `whose` says where the names come from.
pub fn check_globs<'n>(
    functions: &FunctionGlobs,
    names: impl Iterator<Item = &'n str> + Clone,
    whose: &'static str,
) -> Result<(), Failure> {
    let Some(word) = functions.unmatched(names.clone()) else { return Ok(()) };
    let known = names.map(str::to_owned).collect();
    Err(LabError::NoSuchFunction { word: word.into(), known, whose }.into())
}
