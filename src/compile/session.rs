//! The folder of one process in a cache: the folders of its jobs, and a name of its own for every object that it uses, so
//! that whatever others remove from the cache stays there for this process.
//!
//! Whether the process of a folder is gone is judged without trust in locks, which not every shared disk has: a
//! process of this machine by its number, any other by how long its folder has been left alone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};

use super::key::Hash;
use crate::sandbox::{Folder, remove_folder};

/// The names of objects that a process uses.
const PINS: &str = "objects";
const LOCK: &str = "lock";

/// The folder of a process that cannot be asked whether it lives is a dead one's after this time.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3600);

pub struct Session {
    folder: Folder,
    /// Held while this process lives, for those who can see it.
    _lock: File,
}

impl Session {
    /// A new folder below `tmp`.
    pub fn begin(tmp: &Path) -> io::Result<Session> {
        let prefix = format!("{}-{}-", std::process::id(), machine().unwrap_or_default());
        let folder = Folder::below(tmp, &prefix)?;
        fs::create_dir(folder.path().join(PINS))?;
        let lock = File::create(folder.path().join(LOCK))?;
        // A disk without locks is one on which folders are judged by their age.
        let _ = lock.try_lock();
        Ok(Session { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the names of the objects are that this process uses.
    pub fn pins(&self) -> PathBuf {
        self.path().join(PINS)
    }

    /// This process's own name of an object.
    pub fn pin(&self, hash: &Hash) -> PathBuf {
        self.pins().join(blake3::Hash::from_bytes(*hash).to_hex().as_str())
    }
}

/// Removes the folders of dead processes.
pub fn remove_dead(tmp: &Path) {
    for folder in folders(tmp).into_iter().filter(|folder| is_dead(folder)) {
        // Another process may be removing it at the same time.
        let _ = remove_folder(&folder);
    }
}

/// Whether some process may be using the cache.
pub fn is_anyone_at_work(tmp: &Path) -> bool {
    folders(tmp).iter().any(|folder| !is_dead(folder))
}

/// The folders of processes, by their names. Anything else is not the cache's.
fn folders(tmp: &Path) -> Vec<PathBuf> {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if !is_folder(tmp) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(tmp) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| owner(path).is_some() && is_folder(path)).collect()
}

/// The number of the process whose folder it is, and its machine where the name says it.
fn owner(folder: &Path) -> Option<(i32, Option<&str>)> {
    let mut parts = folder.file_name()?.to_str()?.split('-');
    let pid = parts.next()?.parse().ok()?;
    let second = parts.next()?;
    Some((pid, parts.next().map(|_| second)))
}

fn is_dead(folder: &Path) -> bool {
    let Some((pid, on)) = owner(folder) else { return false };
    if is_locked(&folder.join(LOCK)) {
        return false;
    }
    match machine() {
        Some(here) if on == Some(&here) => !is_alive(pid),
        _ => left_alone_for(folder).is_some_and(|time| time > FORGOTTEN),
    }
}

/// A process of another user lives too.
fn is_alive(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

fn is_locked(lock: &Path) -> bool {
    fs::symlink_metadata(lock).is_ok_and(|meta| meta.is_file())
        && File::open(lock).is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// How long ago a process made something there. A time that lies ahead is now.
fn left_alone_for(folder: &Path) -> Option<Duration> {
    let changed = |path: PathBuf| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    let newest = [folder.into(), folder.join(PINS)].into_iter().filter_map(changed).max()?;
    Some(SystemTime::now().duration_since(newest).unwrap_or_default())
}

/// Where a number of a process means this process and no other: a running kernel and, in it, a namespace. None where that
/// is not told.
fn machine() -> Option<String> {
    let kernel = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&kernel).update(namespace.as_os_str().as_encoded_bytes());
    Some(hasher.finalize().to_hex()[..8].to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has a number this large.
    const NOBODY: i32 = 2_147_483_000;

    fn aged(folder: &Path, days: u64) {
        fs::create_dir_all(folder.join(PINS)).unwrap();
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        for path in [folder.join(PINS), folder.into()] {
            File::open(path).unwrap().set_modified(then).unwrap();
        }
    }

    #[test]
    fn folders_of_dead_processes_are_removed_and_those_in_use_are_not() {
        let tmp = tempfile::tempdir().unwrap();
        let path = |name: String| tmp.path().join(name);
        let here = machine().unwrap();
        let dead = path(format!("{NOBODY}-{here}-abc"));
        let old = path(format!("{NOBODY}-0badc0de-abc"));
        let elsewhere = path(format!("{NOBODY}-0badc0de-xyz"));
        let locked = path(format!("{NOBODY}-0badc0de-lll"));
        let nobody = path("notes".into());
        aged(&dead, 0);
        aged(&elsewhere, 6);
        [&old, &locked, &nobody].into_iter().for_each(|folder| aged(folder, 8));
        let lock = File::create(locked.join(LOCK)).unwrap();
        lock.lock().unwrap();
        aged(&locked, 8);
        let own = Session::begin(tmp.path()).unwrap();
        remove_dead(tmp.path());
        assert!(!dead.exists() && !old.exists());
        assert!(elsewhere.exists() && locked.exists() && nobody.exists() && own.path().exists());
        assert!(is_anyone_at_work(tmp.path()));
        drop((lock, own));
        remove_dead(tmp.path());
        assert!(!locked.exists() && is_anyone_at_work(tmp.path()), "what is elsewhere may live");
        fs::remove_dir_all(&elsewhere).unwrap();
        assert!(!is_anyone_at_work(tmp.path()));
    }

    #[test]
    fn folders_behind_a_link_are_nobodys() {
        let [tmp, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let victim = outside.path().join(format!("{NOBODY}-{}-abc", machine().unwrap()));
        aged(&victim, 0);
        let link = tmp.path().join("tmp");
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        std::os::unix::fs::symlink(&victim, tmp.path().join(victim.file_name().unwrap())).unwrap();
        remove_dead(&link);
        remove_dead(tmp.path());
        assert!(victim.exists());
    }
}
