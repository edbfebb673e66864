//! Sources with shims at their ends. A shim there that does not compile costs no other function and not the source.

use std::collections::BTreeMap;

use super::assembly::Fixed;
use super::bench::Failure;
use super::mix::Part;
use super::object::Made;
use super::pipeline::Pipeline;

/// A source with shims at its end.
pub struct WithinSource {
    /// Its place among the sources.
    pub number: usize,
    /// How it is compiled.
    pub part: Part,
    pub members: Vec<usize>,
}

/// An object that has to be there, and the shims that are missing from it, in the compiler's words.
pub fn make_fixed(
    pipeline: &Pipeline<'_>,
    fixed: &Fixed<'_>,
) -> Result<(Made, BTreeMap<usize, String>), Failure> {
    let Fixed { ready, request, within } = fixed;
    let words = match (pipeline.object(ready.build, request), within) {
        (Ok(made), _) => return Ok((made, BTreeMap::new())),
        (Err(Failure::Tool(words)), Some(_)) => words,
        (Err(other), _) => return Err(other),
    };
    let Some(WithinSource { number, part, members }) = within else { return Err(Failure::Tool(words)) };
    let make = |some: &[usize]| pipeline.object(ready.build, &ready.source(*number, part, some));
    // Words about the source itself are to the point without any shim.
    let bare = make(&[])?;
    let (mut sound, mut missing) = (Vec::new(), BTreeMap::new());
    for &member in members {
        match make(&[member]) {
            Ok(_) => sound.push(member),
            Err(Failure::Tool(words)) => drop(missing.insert(member, words)),
            Err(other) => return Err(other),
        }
    }
    if missing.is_empty() {
        // Each compiles alone, and together they do not.
        missing.extend(sound.drain(..).map(|member| (member, words.clone())));
    }
    let made = if sound.is_empty() { bare } else { make(&sound)? };
    Ok((made, missing))
}
