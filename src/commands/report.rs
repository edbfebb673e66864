//! `bitrift report`: a stored run for a reader in a hurry, a browser, a pull request, a pipeline or another program.

use std::io::{self, Write};
use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, Format, ReportArgs};
use crate::findings::{select, select_explained};
use crate::model::{RunFile, printable};
use crate::report::{Material, github, html, junit, markdown, samples, sarif, summary};
use crate::store::{Beside, page_path, write_text, write_with};

pub fn run(args: &ReportArgs, console: &Console) -> Result<Exit, Failure> {
    let format = args.format();
    #[cfg(not(feature = "parquet"))]
    if format == Format::Parquet {
        return Err(Failure::usage(
            "this bitrift was built without Parquet; build it with `cargo install --path . --features parquet`, \
             or take the CSV of --samples",
        ));
    }
    let (run, beside) = wanted::stored(args.run.name())?;
    let material = gather(args, &run, &beside)?;
    let text = match format {
        Format::Samples => return put(args, console, |out| samples::write_csv(&material, out)),
        #[cfg(feature = "parquet")]
        Format::Parquet => return put(args, console, |out| crate::report::parquet::write(&material, out)),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => String::new(),
        Format::Summary => summary::render(&material, console.style),
        Format::Html => return page(args, beside.folder(), material, console),
        Format::Markdown => markdown::render(&material),
        Format::Junit => junit::render(&material)
            .map_err(|e| Failure::new(Exit::Internal, format!("failed to write JUnit XML: {e}")))?,
        Format::Sarif => sarif::render(&material, &args.source_root),
        Format::Github => github::render(&material, &args.source_root),
    };
    match &args.out {
        Some(path) => write_text(path, &text)?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// Writes what may be too large for one text.
fn put(
    args: &ReportArgs,
    console: &Console,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<Exit, Failure> {
    match &args.out {
        Some(path) => write_with(path, write)?,
        None => console.stream(write)?,
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
fn gather(args: &ReportArgs, run: &RunFile, beside: &Beside) -> Result<Material, Failure> {
    wanted::check_functions(&args.functions, run)?;
    let run = select(run, |name| args.functions.matches(name));
    let samples = beside.samples()?;
    let samples = samples.into_iter().filter(|s| args.functions.matches(&s.function));
    Ok(Material {
        samples: samples.map(|s| (s.function.clone(), s)).collect(),
        confirm: beside.confirm(&run)?,
        speed: beside.speed()?,
        explain: beside.explain()?.map(|file| select_explained(file, &run)),
        name: args.run.name().map(str::to_owned),
        run,
    })
}
