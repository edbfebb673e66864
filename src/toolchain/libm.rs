//! Which mathematics library a program gets: its file, and what tells one version of it from another.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use object::{Object, ObjectKind};

use super::compiler::question;
use super::reach::ToolReach;

/// How long a compiler may take to name a file.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A library file in words: its path, and its build id or, for an archive, a hash of its content.
pub fn library_identity(path: &Path) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let Ok(content) = fs::read(&real) else { return format!("{} (not readable)", path.display()) };
    let id = build_id(&content).map(|id| format!("build id {id}"));
    let id = id.unwrap_or_else(|| format!("content {}", &blake3::hash(&content).to_hex()[..16]));
    format!("{} ({id})", real.display())
}

fn build_id(content: &[u8]) -> Option<String> {
    let file = object::File::parse(content).ok().filter(|file| file.kind() == ObjectKind::Dynamic)?;
    let id = file.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The file that a compiler takes for a library, by its own word; None when it has none.
pub fn library_of(compiler: &Path, args: &[String], file: &str, reach: &ToolReach) -> Option<PathBuf> {
    let mut argv = vec![compiler.display().to_string()];
    argv.extend(args.iter().cloned());
    argv.push(format!("-print-file-name={file}"));
    let done = question(compiler, &argv, &std::env::temp_dir(), (reach, TIMEOUT));
    // A file it does not know comes back as it was asked for.
    let path = PathBuf::from(done.stdout.trim());
    (done.success() && path.is_absolute() && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::locate;

    #[test]
    fn a_shared_library_is_known_by_its_build_id_and_an_archive_by_its_content() {
        let (gcc, reach) = (locate("gcc").unwrap(), ToolReach::default());
        let shared = library_identity(&library_of(&gcc, &[], "libm.so.6", &reach).unwrap());
        assert!(shared.contains("libm") && shared.contains("(build id "), "{shared}");
        let archive = library_identity(&library_of(&gcc, &[], "libgcc.a", &reach).unwrap());
        assert!(archive.contains("libgcc.a (content "), "{archive}");
        assert_eq!(library_of(&gcc, &[], "libnosuch.so", &reach), None);
        assert_eq!(library_identity(Path::new("/no/such.so")), "/no/such.so (not readable)");
    }
}
