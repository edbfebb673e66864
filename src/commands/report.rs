//! `bitrift report`: a stored run for a browser, a pull request, a pipeline or another program.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, lab};
use crate::cli::{Exit, ReportArgs};
use crate::findings::select;
use crate::model::printable;
use crate::report::{Material, html};
use crate::store::{page_path, read_confirm, read_run, read_samples, read_speed, resolve, write_text};

pub fn run(args: &ReportArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let material = gather(args, &folder)?;
    if args.html {
        return page(args, &folder, material, console);
    }
    let text = format!("{}\n", material.run.name);
    match &args.out {
        Some(path) => write_text(path, &text)?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// The page for a browser, in the run's folder unless told otherwise; says where it is.
fn page(
    args: &ReportArgs,
    folder: &Path,
    mut material: Material,
    console: &Console,
) -> Result<Exit, Failure> {
    // A page outlives the time when its run is the latest.
    let own = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    material.name = material.name.or(own);
    let path = args.out.clone().unwrap_or_else(|| page_path(folder));
    let text = html::render(&material)
        .map_err(|e| Failure::new(Exit::Internal, format!("failed to render: {e}")))?;
    write_text(&path, &text)?;
    console.print(&format!("{}\n", printable(&path.display().to_string())))?;
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
