//! The library files that a linked build gets from the loader: checked against those that the matrix names, and told
//! with their digests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::bench::{Bench, Failure};
use super::ready::Ready;
use crate::toolchain::{Libraries, ToolReach, is_system, libraries_of, libraries_of_program};

/// What the loader takes for a build. Of a foreign one only the files that its matrix names are known.
pub fn libraries(ready: &Ready<'_>, linked: &Path, reach: &ToolReach) -> Result<Libraries, Failure> {
    let shelf = &ready.lines.material.shelf;
    let found = match (ready.build.is_loaded(), ready.build.is_native()) {
        (true, _) => libraries_of(linked, reach),
        (false, true) => libraries_of_program(linked, reach),
        (false, false) => return Ok(shelf.named().iter().cloned().collect()),
    };
    shelf.check(&found).map_err(Failure::Tool)?;
    Ok(found)
}

/// A digest of each file that is not the machine's own C library or its compiler's, by its path: from the matrix's
/// folder where it is below that.
pub fn digests(bench: &Bench<'_>, folder: &Path, libraries: &Libraries) -> BTreeMap<String, String> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let row = |(name, file): (&String, &PathBuf)| {
        if is_system(name, file) {
            return None;
        }
        let hash = blake3::Hash::from_bytes(bench.files.hash(file)?).to_hex();
        let shown = file.strip_prefix(&folder).unwrap_or(file);
        Some((shown.display().to_string(), hash[..16].to_string()))
    };
    libraries.iter().filter_map(row).collect()
}
