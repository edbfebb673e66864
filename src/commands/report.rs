//! `bitrift report`: a stored run for a browser, a pull request, a pipeline or another program.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, lab};
use crate::cli::{Exit, ReportArgs};
use crate::findings::select;
use crate::report::Material;
use crate::store::{read_confirm, read_run, read_samples, read_speed, resolve, write_text};

pub fn run(args: &ReportArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let material = gather(args, &folder)?;
    let text = format!("{}\n", material.run.name);
    match &args.out {
        Some(path) => write_text(path, &text)?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// The run and what stands beside it.
fn gather(args: &ReportArgs, folder: &Path) -> Result<Material, Failure> {
    let run = read_run(folder)?;
    let names: Vec<&str> = run.functions.iter().map(|f| f.name.as_str()).collect();
    lab::check_globs(&args.functions, &names, "of the run")?;
    let run = select(&run, |name| args.functions.matches(name));
    let samples = read_samples(folder)?;
    let samples = samples.into_iter().filter(|s| args.functions.matches(&s.function));
    Ok(Material {
        samples: samples.map(|s| (s.function.clone(), s)).collect(),
        confirm: read_confirm(folder)?,
        speed: read_speed(folder)?,
        name: args.run.clone(),
        run,
    })
}
