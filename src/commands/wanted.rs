//! From options to what a lab is opened with.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::{RESULTS, interrupt};
use crate::cli::{FunctionGlobs, LabOptions, MeansOptions, RunOption};
use crate::lab::{Lab, LabError, Means, judge_as, load, matrix_of};
use crate::model::{Experiment, RunFile, printable};
use crate::sandbox::Project;
use crate::store::{Beside, open_run, resolve};

/// The matrix where nobody names one.
const MATRIX: &str = "matrix.toml";

/// The means that a command gives its lab; an interrupt ends the work.
pub fn means(options: &MeansOptions) -> Result<Means, Failure> {
    let MeansOptions { cache, cache_size, jobs, no_sandbox } = options.clone();
    Ok(Means { cache, cache_size, jobs, no_sandbox, cancel: interrupt::flag()? })
}

/// A matrix with the functions that were asked for.
pub fn experiment(matrix: &Path, functions: &FunctionGlobs, means: &Means) -> Result<Experiment, Failure> {
    let mut experiment = load(matrix, means)?;
    check_globs(functions, experiment.functions.iter().map(|f| f.name.as_str()), "of the matrix")?;
    experiment.functions.retain(|f| functions.matches(&f.name));
    Ok(experiment)
}

/// The lab of a stored run: with the run's functions and no others, so that its objects are found in the cache. A
/// function that the matrix lost is left out.
pub fn lab_of(run: &RunFile, beside: &Beside, options: &LabOptions) -> Result<Lab, Failure> {
    let means = means(&options.means)?;
    let mut experiment = judged_as(run, beside, options, &means)?;
    experiment.functions.retain(|f| run.functions.iter().any(|row| row.name == f.name));
    Ok(Lab::new(experiment, means)?)
}

/// The lab of a stored run with all functions of its matrix.
pub fn whole_lab_of(run: &RunFile, beside: &Beside, options: &LabOptions) -> Result<Lab, Failure> {
    let means = means(&options.means)?;
    Ok(Lab::new(judged_as(run, beside, options, &means)?, means)?)
}

/// The matrix of a stored run, which takes for equal what the run did.
fn judged_as(
    run: &RunFile,
    beside: &Beside,
    options: &LabOptions,
    means: &Means,
) -> Result<Experiment, Failure> {
    let mut experiment = load(&matrix_of_run(beside, options)?, means)?;
    judge_as(run, &mut experiment);
    Ok(experiment)
}

/// A stored run by the name a user gave; without a name the latest.
pub fn stored(name: Option<&str>) -> Result<(RunFile, Beside), Failure> {
    Ok(open_run(&resolve(Path::new(RESULTS), name)?)?)
}

/// The matrix of a stored run: the one that was named, else the one that the run was made from, else the one that is
/// here.
pub fn matrix_of_run(beside: &Beside, options: &LabOptions) -> Result<PathBuf, Failure> {
    if let Some(named) = &options.matrix {
        return Ok(named.clone());
    }
    let Some(origin) = beside.origin()? else { return Ok(MATRIX.into()) };
    let here = Some(PathBuf::from(MATRIX)).filter(|path| path.is_file());
    let place = |path: &Path| printable(&path.display().to_string());
    let of_run = matrix_of(&origin, beside.folder());
    // A run that came with a project may name any file of the user's, and what is wrong with a matrix is shown with its lines.
    let project = Project::around(&whole(beside.folder()).join(MATRIX));
    if let Some(path) = of_run.as_ref().filter(|path| !project.holds(path))
        && crate::matrix::load(path).is_err()
    {
        let (run, path) = (place(beside.folder()), place(path));
        return Err(Failure::usage(format!(
            "{run} says that its matrix is {path}, outside its project, and that is none that can be used; name the matrix with --matrix"
        )));
    }
    of_run.map(from_here).or(here).ok_or_else(|| {
        Failure::usage(format!(
            "the matrix of {} is not at {} any more; name it with --matrix",
            place(beside.folder()),
            place(&origin.matrix_absolute)
        ))
    })
}

/// A path that starts at the root.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

/// A path below the working folder as a user would type it.
fn from_here(path: PathBuf) -> PathBuf {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf)).unwrap_or(path)
}

/// The matrix of a command that needs no run: the one that was named, else that of the run that was named, else the
/// one that is here, else that of the latest run.
pub fn matrix_or_latest(run: &RunOption, options: &LabOptions) -> Result<PathBuf, Failure> {
    if let Some(named) = &options.matrix {
        return Ok(named.clone());
    }
    if run.run.is_none() && Path::new(MATRIX).exists() {
        return Ok(MATRIX.into());
    }
    match stored(run.run.as_deref()) {
        Ok((_, beside)) => matrix_of_run(&beside, options),
        // There is no run to ask: what is missing is the matrix.
        Err(_) if run.run.is_none() => Ok(MATRIX.into()),
        Err(failure) => Err(failure),
    }
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
