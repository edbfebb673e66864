//! `bitrift accept`: makes the lock file of a gate from a run, or updates it.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{AcceptArgs, Exit};
use crate::findings::select;
use crate::gate::{Wish, accept_gated, carry};
use crate::report::accept::{self as page, AcceptPage};
use crate::store::{lock_json, read_lock, read_values, write_lock, write_values};

pub fn run(args: &AcceptArgs, console: &Console) -> Result<Exit, Failure> {
    let (mut run, beside) = wanted::stored(args.run.name())?;
    let mut moved = Vec::new();
    if let Some(gate) = beside.gate(&run)? {
        if gate.partial.is_some() && args.prune {
            return Err(Failure::usage(
                "this run is a partial gate's: functions that it has not got were not asked for, and --prune would forget \
                 them; prune after a whole `bitrift run`",
            ));
        }
        carry(&mut run, &gate);
        moved = gate.moved;
    }
    wanted::check_functions(&args.functions, &run)?;
    let old = read_lock(&args.lock)?;
    let part = select(&run, |name| args.functions.matches(name));
    let wish = Wish { loosen: args.loosen, prune: args.prune };
    let mut update = accept_gated(old.as_ref(), &part, &moved, wish)?;
    // What was not asked for is not absent.
    update.changes.retain(|change| change.function.is_empty() || args.functions.matches(&change.function));
    let is_new = old.is_none();
    let changed = old.as_ref().map(lock_json) != Some(lock_json(&update.lock));
    if changed && !args.dry_run {
        write_lock(&args.lock, &update.lock)?;
    }
    if !args.dry_run {
        let mut values = read_values(&args.lock)?;
        values.retain(|name, _| update.lock.functions.contains_key(name));
        for samples in beside.samples()? {
            let row = part.functions.iter().find(|row| row.name == samples.function);
            let held = update.lock.functions.get(&samples.function).and_then(|f| f.held.as_ref());
            // Of those that stayed out the lock has the digest of the old ones.
            if row.is_some_and(|row| row.held.is_some() && row.held.as_ref() == held) {
                values.insert(samples.function, samples.held);
            }
        }
        write_values(&args.lock, &values)?;
    }
    let page = AcceptPage {
        update: &update,
        lock: &args.lock.display().to_string(),
        run: &beside.folder().display().to_string(),
        run_name: args.run.name(),
        is_new,
        changed,
        dry_run: args.dry_run,
    };
    console.print(&page::render(&page, console.style))?;
    Ok(Exit::Done)
}
