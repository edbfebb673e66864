//! Folders that others fill: a temporary one that is removed when nobody needs it, and the removing itself, which takes neither
//! memory nor descriptors for depth, and follows no links.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fchmod, openat, renameat, unlinkat};
use rustix::io::Errno;

/// A folder of its own for one tool or process; removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// Where temporary files go.
    pub fn temporary() -> io::Result<Folder> {
        Folder::below(&std::env::temp_dir(), "bitrift-")
    }

    /// In a folder that is there, with a name that begins so.
    pub fn below(folder: &Path, prefix: &str) -> io::Result<Folder> {
        // Its removal is ours.
        tempfile::Builder::new().prefix(prefix).tempdir_in(folder).map(|made| Folder(made.keep()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed costs room and nothing else.
        let _ = remove_folder(&self.0);
    }
}

/// Removes a folder with all that is in it, however deep that is. One that is not there is removed.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    let top = match open(CWD, path) {
        Err(Errno::NOENT) => return Ok(()),
        top => top?,
    };
    let mut lifted = 0;
    loop {
        let names = names(&top)?;
        if names.is_empty() {
            break;
        }
        for name in &names {
            clear(&top, name, &mut lifted)?;
        }
    }
    match unlinkat(CWD, path, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Removes a name of the top folder. What a folder of that name has inside is lifted to the top first, so that nothing is ever
/// deeper than this.
fn clear(top: &OwnedFd, name: &std::ffi::CStr, lifted: &mut u64) -> io::Result<()> {
    if is_removed(top, name) {
        return Ok(());
    }
    let inner = match open(top, name) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(top, name, Mode::RWXU, AtFlags::empty())?;
            open(top, name)?
        }
        inner => inner?,
    };
    // It may be one that nobody may change.
    let _ = fchmod(&inner, Mode::RWXU);
    for child in names(&inner)? {
        if is_removed(&inner, &child) {
            continue;
        }
        loop {
            *lifted += 1;
            match renameat(&inner, &child, top, format!(".lifted-{lifted}")) {
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                Err(Errno::NOENT) => break,
                done => break done?,
            }
        }
    }
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        // Whoever fills it while it is emptied is given another turn.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Removes a name that is no folder's, or an empty folder's.
fn is_removed(folder: &OwnedFd, name: &std::ffi::CStr) -> bool {
    [AtFlags::empty(), AtFlags::REMOVEDIR]
        .into_iter()
        .any(|flags| matches!(unlinkat(folder, name, flags), Ok(()) | Err(Errno::NOENT)))
}

fn open<P: rustix::path::Arg>(at: impl std::os::fd::AsFd, path: P) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

fn names(folder: &OwnedFd) -> io::Result<Vec<std::ffi::CString>> {
    let entries = Dir::read_from(folder)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
    let mut names = names.collect::<rustix::io::Result<Vec<_>>>()?;
    names.retain(|name| name.as_c_str() != c"." && name.as_c_str() != c"..");
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_deep_folder_is_removed_and_what_links_lead_to_is_not() {
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("kept"), "").unwrap();
        let folder = Folder::temporary().unwrap();
        let mut at = open(CWD, folder.path()).unwrap();
        for level in 0..3000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            let flags = OFlags::CREATE | OFlags::WRONLY;
            drop(openat(&at, ".lifted-1", flags, Mode::RUSR).unwrap());
            if level % 1000 == 0 {
                rustix::fs::symlinkat(other.path(), &at, "link").unwrap();
            }
            at = open(&at, "d").unwrap();
        }
        fs::create_dir_all(folder.path().join("closed/inner")).unwrap();
        fs::write(folder.path().join("closed/inner/file"), "").unwrap();
        fs::set_permissions(folder.path().join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
        let path = folder.path().to_path_buf();
        drop(folder);
        assert!(!path.exists() && other.path().join("kept").exists());
        assert!(remove_folder(&path).is_ok(), "what is not there is removed");
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_is_not_followed() {
        let (other, desk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join("kept"), "").unwrap();
        let link = desk.path().join("link");
        std::os::unix::fs::symlink(other.path(), &link).unwrap();
        assert!(remove_folder(&link).is_err() && other.path().join("kept").exists());
    }
}
