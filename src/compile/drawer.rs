//! A folder of the cache, opened so that no link leads out of it: what is counted and removed is what lies in the
//! folder itself, whoever puts links into it meanwhile.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};

/// What a file takes is counted in blocks of this size, as most disks keep it.
const BLOCK: u64 = 4096;

pub struct Drawer(OwnedFd);

/// What is known of one name in a folder.
pub struct Leaf {
    pub kind: FileType,
    /// In whole blocks.
    pub bytes: u64,
    pub changed: SystemTime,
    /// Whether the file has other names, here or elsewhere.
    pub is_shared: bool,
}

impl Drawer {
    /// The folder that a user named may be a link.
    pub fn open(path: &Path) -> rustix::io::Result<Drawer> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Drawer(openat(CWD, path, flags, Mode::empty())?))
    }

    /// A folder inside; a link to one is none.
    pub fn inner(&self, name: &str) -> Option<Drawer> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.0, name, flags, Mode::empty()).ok().map(Drawer)
    }

    /// Names in it, sorted. Nothing of the cache has a name that is no text.
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = Dir::read_from(&self.0) else { return Vec::new() };
        let text = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(String::from);
        let mut names: Vec<String> = entries.flatten().filter_map(text).collect();
        names.retain(|name| name != "." && name != "..");
        names.sort_unstable();
        names
    }

    pub fn leaf(&self, name: &str) -> Option<Leaf> {
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Leaf {
            kind: FileType::from_raw_mode(stat.st_mode),
            bytes: blocks(u64::try_from(stat.st_size).unwrap_or(0)),
            changed: changed(&stat),
            is_shared: stat.st_nlink > 1,
        })
    }

    /// Removes a name that is no folder's. Somebody else may have done so.
    pub fn remove(&self, name: &str) -> bool {
        let removed = unlinkat(&self.0, name, AtFlags::empty());
        matches!(removed, Ok(()) | Err(rustix::io::Errno::NOENT))
    }

    /// Removes a folder that is empty.
    pub fn remove_empty(&self, name: &str) -> bool {
        unlinkat(&self.0, name, AtFlags::REMOVEDIR).is_ok()
    }
}

/// What so many bytes take on a disk.
pub fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// The time of the last change. One before 1970 reads as 1970.
fn changed(stat: &Stat) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
    UNIX_EPOCH + seconds + Duration::from_nanos(stat.st_mtime_nsec)
}
