//! The guilty flags: the difference between the two builds' arguments, taken apart as the compiler itself
//! reports it, reduced from the full set because flags act together.

use std::sync::Arc;

use super::delta::Parts;
use super::environment::row;
use super::error::ExplainError;
use super::file::{FileSet, words};
use super::inquiry::{Inquiry, Search};
use crate::compile::{Mix, Part};
use crate::model::{Build, LayerRow, Standing, Suspect};
use crate::toolchain::Atoms;

/// The layer's answer, with the flags that can be switched and the sets among them that are guilty.
pub type Flags = (LayerRow, Option<(Atoms, Vec<Parts>)>);

pub fn flags(inquiry: &Inquiry<'_>, files: &[FileSet]) -> Result<Flags, ExplainError> {
    let (from, to) = (&inquiry.scene.reference.build, &inquiry.scene.variant.build);
    let stopped = |text: String| Ok((row(Standing::Stopped, Vec::new(), text), None));
    if from.command != to.command {
        return stopped(format!(
            "{} and {} are two compilers: their flags cannot be compared",
            from.command, to.command
        ));
    }
    let atoms = match inquiry
        .scene
        .desk
        .mixer
        .compilers()
        .find(&to.command)
        .map_err(|e| e.to_string())
        .and_then(|compiler| Atoms::between(&compiler, &from.args, &to.args))
    {
        Ok(atoms) => atoms,
        Err(words) => return stopped(words),
    };
    if atoms.list().is_empty() {
        return stopped("both builds have the same flags".into());
    }
    // Where the code has fused instructions, contraction is the likeliest cause, and the cheapest to give up.
    let first = atoms.contraction().filter(|_| inquiry.is_fused());
    let mix = |parts: &Parts| flagged(inquiry, files, &atoms, parts);
    let found = match inquiry.search_around(first, atoms.list().len(), mix)? {
        Search::Senseless(why) => {
            let text = format!("the flags as single ones do not tell: {why}{}", inquiry.troubles());
            return Ok((row(Standing::Stopped, Vec::new(), text), Some((atoms, Vec::new()))));
        }
        Search::Found(found) => found,
    };
    let of = |part: &usize| Suspect { flag: atoms.list()[*part].name.clone(), ..Suspect::default() };
    let causes: Vec<Vec<Suspect>> = found.sets.iter().map(|set| set.iter().map(of).collect()).collect();
    let standing = if found.complete { Standing::Found } else { Standing::Likely };
    let text = format!("{}{}", words(&causes, found.complete, |s| s.flag.clone()), inquiry.troubles());
    Ok((row(standing, causes, text), Some((atoms, found.sets))))
}

/// The guilty files compiled with some of the flags, all others the reference's.
fn flagged(inquiry: &Inquiry<'_>, files: &[FileSet], atoms: &Atoms, on: &Parts) -> Mix {
    let to = &inquiry.scene.variant.build;
    let build = Arc::new(Build { args: atoms.args(on), ..Build::clone(to) });
    let mut mix = inquiry.scene.innocent();
    for set in files {
        set.files.iter().for_each(|&file| mix.sources[file] = Part::of(&build));
        if set.call {
            mix.shims[inquiry.case.function] = build.clone();
        }
    }
    mix
}
