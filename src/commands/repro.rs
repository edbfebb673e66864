//! `bitrift repro`: folders that show findings on a machine without bitrift.

use std::path::{Path, PathBuf};

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, ReproArgs};
use crate::lab::{Finding, Kit};
use crate::model::{Confirmed, FindingId};
use crate::report::plan::quoted;
use crate::report::repro::{readme, script};
use crate::store::{REPRO_SCRIPT, write_repro};

/// Where folders go when nothing is said.
const PLACE: &str = "repro";

pub fn run(args: &ReproArgs, console: &Console) -> Result<Exit, Failure> {
    let (run_name, wanted) = words(args)?;
    let (run, beside) = wanted::stored(run_name)?;
    let lab = wanted::whole_lab_of(&run, &beside, &args.lab)?;
    let findings = match wanted {
        Some(id) => vec![Finding::named(&run, id)?],
        None => Finding::all(&run, |_| true),
    };
    let repros = lab.repros(&run, findings, console.progress(args.lab.quiet).as_ref())?;
    let confirm = beside.confirm(&run)?;
    let mut text = String::new();
    for found in &repros.findings {
        let id = &found.witness.id;
        let out = out_folder(args, id);
        write(&out, repros.kit(found)?)?;
        let shown = quoted(&out.join(REPRO_SCRIPT).display().to_string());
        text.push_str(&format!("sh {shown}\n"));
        let row = confirm.as_ref().and_then(|c| c.witnesses.get(id));
        if let Some(row) = row.filter(|row| row.confirmed == Confirmed::No) {
            console.complain(&format!("{id} is not confirmed, so its script will say so: {}", row.reason));
        }
    }
    console.print(&text)?;
    Ok(Exit::Done)
}

fn write(out: &Path, Kit { repro, mut texts, copies }: Kit) -> Result<(), Failure> {
    texts.extend([(REPRO_SCRIPT, script(&repro)), ("README.txt", readme(&repro))]);
    Ok(write_repro(out, &texts, &copies)?)
}

/// The run and the finding among the words.
fn words(args: &ReproArgs) -> Result<(Option<&str>, Option<&str>), Failure> {
    if let Some(run) = &args.run.run {
        return match (args.words.as_slice(), args.all) {
            ([], true) => Ok((Some(run), None)),
            ([finding], false) => Ok((Some(run), Some(finding))),
            _ => Err(Failure::usage("beside --run give the id of a finding, or --all")),
        };
    }
    match (args.words.as_slice(), args.all) {
        ([], true) => Ok((None, None)),
        ([run], true) => Ok((Some(run), None)),
        ([finding], false) => Ok((None, Some(finding))),
        ([run, finding], false) => Ok((Some(run), Some(finding))),
        (_, true) => Err(Failure::usage("--all means every finding of the run; leave the finding out")),
        (_, false) => Err(Failure::usage(
            "which finding? Give its id, such as `function#build.1` (run.json and `bitrift replay --all` have them), \
             or --all",
        )),
    }
}

/// The folder of one finding.
fn out_folder(args: &ReproArgs, id: &FindingId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let name: String = id.to_string().chars().map(plain).take(200).collect();
    match (&args.out, args.all) {
        (Some(out), false) => out.clone(),
        (out, _) => out.clone().unwrap_or_else(|| PLACE.into()).join(name),
    }
}
