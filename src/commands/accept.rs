//! `bitrift accept`: makes the lock file of a gate from a run, or updates it.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{AcceptArgs, Exit};
use crate::findings::select;
use crate::gate::{Wish, accept, carry};
use crate::report::accept::{self as page, AcceptPage};
use crate::store::{lock_json, read_gate, read_lock, read_run, resolve, write_lock};

pub fn run(args: &AcceptArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let mut run = read_run(&folder)?;
    if let Some(gate) = read_gate(&folder, &run)? {
        carry(&mut run, &gate);
    }
    wanted::check_functions(&args.functions, &run)?;
    let old = read_lock(&args.lock)?;
    let part = select(&run, |name| args.functions.matches(name));
    let wish = Wish { loosen: args.loosen, prune: args.prune };
    let mut update = accept(old.as_ref(), &part, wish)?;
    // What was not asked for is not absent.
    update.changes.retain(|change| change.function.is_empty() || args.functions.matches(&change.function));
    let is_new = old.is_none();
    let changed = old.as_ref().map(lock_json) != Some(lock_json(&update.lock));
    if changed && !args.dry_run {
        write_lock(&args.lock, &update.lock)?;
    }
    let page = AcceptPage {
        update: &update,
        lock: &args.lock.display().to_string(),
        run: &folder.display().to_string(),
        run_name: args.run.as_deref(),
        is_new,
        changed,
        dry_run: args.dry_run,
    };
    console.print(&page::render(&page, console.style))?;
    Ok(Exit::Done)
}
