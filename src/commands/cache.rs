//! `bitrift cache`: what is kept of compiled code, and less of it.

use super::console::Console;
use super::failure::Failure;
use crate::cli::{CacheArgs, Exit};
use crate::lab::CacheFolder;
use crate::report;

pub fn run(args: &CacheArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = CacheFolder::at(args.cache.clone());
    let state = match (args.clear, args.size) {
        (true, _) => folder.clear()?,
        (false, Some(limit)) => folder.trim(limit)?,
        (false, None) => folder.look()?,
    };
    console.print(&match args.json {
        true => report::cache::json(&state),
        false => report::cache::render(&state, console.style),
    })?;
    Ok(Exit::Done)
}
