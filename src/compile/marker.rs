//! How a folder is known to be a cache of bitrift: nothing is removed where this is not so.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::error::CompileError;

/// The name by which programs that make backups know a cache, too: <https://bford.info/cachedir/>.
pub const TAG: &str = "CACHEDIR.TAG";

const TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
    # This folder is a cache of bitrift: everything in it can be made again.\n\
    # `bitrift cache` says what is in it, `bitrift cache --clear` empties it.\n";

/// Where processes have the folders of their jobs.
pub const JOBS: &str = "tmp";

/// The folders of a cache.
pub const FOLDERS: [&str; 4] = ["objects", "recipes", "libraries", JOBS];

/// Whether bitrift marked a folder as its own.
pub fn is_marked(root: &Path) -> bool {
    let tag = root.join(TAG);
    let is_file = fs::symlink_metadata(&tag).is_ok_and(|meta| meta.is_file());
    is_file && fs::read(tag).is_ok_and(|text| text == TEXT.as_bytes())
}

/// That a folder can become a cache: none of its own files could be taken for the cache's later on. A folder with those
/// of a cache and nothing else is one that an older version made.
pub fn check_usable(root: &Path) -> Result<(), CompileError> {
    let Ok(entries) = fs::read_dir(root) else { return Ok(()) };
    check_private(root)?;
    if is_marked(root) {
        return Ok(());
    }
    let names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let refused = |reason: String| Err(CompileError::NotACache { path: root.into(), reason });
    if names.iter().any(|name| name == TAG) {
        return refused(format!("its {TAG} is another program's"));
    }
    let is_own = |name: &&String| FOLDERS.contains(&name.as_str());
    let is_foreign = |name: &&String| !is_own(name) && !name.starts_with('.');
    match (names.iter().find(is_own), names.iter().find(is_foreign)) {
        (Some(own), Some(other)) => {
            refused(format!("beside `{own}`, a name that the cache needs, it has `{other}`"))
        }
        _ => Ok(()),
    }
}

/// That nobody else decides what is in a folder: an entry that somebody put there would be believed.
fn check_private(root: &Path) -> Result<(), CompileError> {
    let Ok(about) = fs::metadata(root) else { return Ok(()) };
    let user = rustix::process::geteuid();
    let reason = match about.mode() & 0o002 != 0 {
        true => "anybody may write there: `chmod o-w` it, and see what is in it",
        // Root's own is as good as one's own.
        false if !user.is_root() && ![user.as_raw(), 0].contains(&about.uid()) && is_temporary(root) => {
            "it is another user's"
        }
        false => return Ok(()),
    };
    Err(CompileError::NotACache { path: root.into(), reason: reason.into() })
}

/// Whether a folder is where anybody could have made it. Elsewhere a group may share one.
fn is_temporary(folder: &Path) -> bool {
    folder.parent().is_some_and(|parent| fs::metadata(parent).is_ok_and(|about| about.mode() & 0o002 != 0))
}

/// Marks a folder, by way of a file in `scratch`.
pub fn mark(root: &Path, scratch: &Path) -> io::Result<()> {
    if is_marked(root) {
        return Ok(());
    }
    let mut file = tempfile::NamedTempFile::new_in(scratch)?;
    file.write_all(TEXT.as_bytes())?;
    file.persist(root.join(TAG)).map(drop).map_err(|e| e.error)
}
