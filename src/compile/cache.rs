//! The content-addressed store on disk: objects named by their content, and for each request the
//! recipes that say which object answers it under which headers.
//!
//! Everything is written to a temporary file and renamed, and everything read is checked against its hash, and recipes
//! against the request they say they answer, so that two processes may share a folder and a damaged or misplaced entry
//! is no entry.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use tempfile::{NamedTempFile, TempDir};

use super::error::CompileError;
use super::key::Hash;

/// The most recipes kept for a request; the oldest go first.
const RECIPE_LIMIT: usize = 8;

/// One way a request was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// Every header that was read, with its content's hash.
    pub headers: Vec<(PathBuf, Hash)>,
    /// Files that could come in their place (see `Folders`).
    pub rivals: Hash,
    /// The content of the answer.
    pub output: Hash,
    /// What the tool said about parts it left out.
    pub notes: Vec<(String, String)>,
}

/// A folder of compiled objects, shared by runs and processes.
pub struct Cache {
    root: PathBuf,
    session: TempDir,
    /// Held while this process lives: other processes see that the session's folder is in use.
    _lock: File,
}

impl Cache {
    /// Opens or creates a cache and removes what dead processes left in it.
    pub fn open(root: &Path) -> Result<Cache, CompileError> {
        let failed = |source| CompileError::Cache { path: root.into(), source };
        let root = std::path::absolute(root).map_err(failed)?;
        let tmp = root.join("tmp");
        fs::create_dir_all(&tmp).map_err(failed)?;
        remove_dead(&tmp);
        let prefix = format!("{}-", std::process::id());
        let session = tempfile::Builder::new().prefix(&prefix).tempdir_in(&tmp).map_err(failed)?;
        let lock = File::create(session.path().join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Cache { root, session, _lock: lock })
    }

    /// `$BITRIFT_CACHE`, else `$XDG_CACHE_HOME/bitrift`, else `~/.cache/bitrift`, else a folder
    /// among the temporary files.
    pub fn default_folder() -> PathBuf {
        let folder = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        folder("BITRIFT_CACHE")
            .or_else(|| folder("XDG_CACHE_HOME").filter(|p| p.is_absolute()).map(|p| p.join("bitrift")))
            .or_else(|| folder("HOME").map(|p| p.join(".cache/bitrift")))
            .unwrap_or_else(|| {
                let user = rustix::process::getuid().as_raw();
                std::env::temp_dir().join(format!("bitrift-cache-{user}"))
            })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where processes have the folders of their jobs.
    pub fn jobs_folder(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// A folder for one job, removed when dropped.
    pub fn job_folder(&self) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix("job-").tempdir_in(self.session.path())
    }

    /// The path of an object of this content, if it is there and undamaged.
    pub fn object(&self, hash: &Hash) -> Option<PathBuf> {
        let path = self.place("objects", hash);
        let content = read(&path)?;
        (blake3::hash(&content).as_bytes() == hash).then_some(path)
    }

    /// Keeps a content.
    pub fn put_object(&self, content: &[u8]) -> io::Result<(Hash, PathBuf)> {
        let hash = *blake3::hash(content).as_bytes();
        let path = self.place("objects", &hash);
        self.write(&path, content)?;
        Ok((hash, path))
    }

    /// The recipes of a request, newest first. A file that says it answers another request has none.
    pub fn recipes(&self, request: &Hash) -> Vec<Recipe> {
        let known = || {
            let bytes = read(&self.place("recipes", request))?;
            let (hash, body) = bytes.split_first_chunk::<32>()?;
            if blake3::hash(body).as_bytes() != hash {
                return None;
            }
            let (answered, recipes): (Hash, Vec<Recipe>) = postcard::from_bytes(body).ok()?;
            (answered == *request).then_some(recipes)
        };
        known().unwrap_or_default()
    }

    /// Adds a recipe in front of the others. Of two processes at once one may lose its addition,
    /// which only costs a compile later.
    pub fn add_recipe(&self, request: &Hash, recipe: Recipe) -> io::Result<()> {
        let mut recipes = self.recipes(request);
        recipes.retain(|r| (&r.headers, r.rivals) != (&recipe.headers, recipe.rivals));
        recipes.insert(0, recipe);
        recipes.truncate(RECIPE_LIMIT);
        let body = postcard::to_stdvec(&(request, recipes)).map_err(io::Error::other)?;
        let mut bytes = blake3::hash(&body).as_bytes().to_vec();
        bytes.extend(body);
        self.write(&self.place("recipes", request), &bytes)
    }

    fn place(&self, kind: &str, hash: &Hash) -> PathBuf {
        let hex = blake3::Hash::from_bytes(*hash).to_hex();
        self.root.join(kind).join(&hex[..2]).join(&hex[2..])
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(self.session.path())?;
        file.write_all(content)?;
        // Whatever stands in the place of a file or a folder of the cache is nothing of the cache.
        for folder in [path.parent().and_then(Path::parent), path.parent()].into_iter().flatten() {
            if fs::create_dir_all(folder).is_err() && !folder.is_dir() {
                fs::remove_file(folder)?;
                fs::create_dir_all(folder)?;
            }
        }
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path)?;
        }
        file.persist(path).map(drop).map_err(|e| e.error)
    }
}

/// The content of a regular file: a pipe in its place would never end.
fn read(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    is_file.then(|| fs::read(path).ok()).flatten()
}

/// Removes session folders whose process is gone. A process of another container can have any
/// number, so its lock is tried too.
fn remove_dead(tmp: &Path) {
    let Ok(entries) = fs::read_dir(tmp) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|n| n.split('-').next()).and_then(|n| n.parse().ok());
        let alive = pid.and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok());
        if !alive && !is_locked(&entry.path().join("lock")) {
            // Another process may be removing it at the same time.
            let _ = if entry.path().is_dir() {
                fs::remove_dir_all(entry.path())
            } else {
                fs::remove_file(entry.path())
            };
        }
    }
}

fn is_locked(lock: &Path) -> bool {
    fs::metadata(lock).is_ok_and(|meta| meta.is_file())
        && File::open(lock).is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(n: u8) -> Recipe {
        Recipe { headers: vec![("/h".into(), [n; 32])], rivals: [0; 32], output: [n; 32], notes: Vec::new() }
    }

    #[test]
    fn objects_and_recipes_come_back_and_damaged_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let (hash, path) = cache.put_object(b"content").unwrap();
        assert_eq!(cache.object(&hash), Some(path.clone()));
        cache.add_recipe(&[7; 32], recipe(1)).unwrap();
        cache.add_recipe(&[7; 32], recipe(2)).unwrap();
        assert_eq!(cache.recipes(&[7; 32]), [recipe(2), recipe(1)]);

        fs::write(&path, "conten").unwrap();
        assert_eq!(cache.object(&hash), None);
        let recipes = cache.place("recipes", &[7; 32]);
        let bytes = fs::read(&recipes).unwrap();
        for damaged in [&bytes[..bytes.len() - 1], &bytes[..10], b""] {
            fs::write(&recipes, damaged).unwrap();
            assert!(cache.recipes(&[7; 32]).is_empty());
        }
        cache.add_recipe(&[7; 32], recipe(3)).unwrap();
        assert_eq!(cache.recipes(&[7; 32]), [recipe(3)]);
    }

    #[test]
    fn a_request_keeps_only_its_newest_recipes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        for n in 0..20 {
            cache.add_recipe(&[1; 32], recipe(n)).unwrap();
        }
        let kept = cache.recipes(&[1; 32]);
        assert_eq!((kept.len(), kept[0].clone()), (RECIPE_LIMIT, recipe(19)));
    }

    #[test]
    fn folders_of_dead_processes_are_removed_and_those_in_use_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let tmp = folder.path().join("tmp");
        // No process has a number this large.
        let dead = tmp.join("2147483000-abc");
        fs::create_dir_all(dead.join("job-1")).unwrap();
        let elsewhere = tmp.join("2147483001-abc");
        fs::create_dir_all(&elsewhere).unwrap();
        let lock = File::create(elsewhere.join("lock")).unwrap();
        lock.lock().unwrap();
        let first = Cache::open(folder.path()).unwrap();
        let second = Cache::open(folder.path()).unwrap();
        assert!(!dead.exists() && elsewhere.exists());
        assert!(first.session.path().exists());
        drop((first, second, lock));
        drop(Cache::open(folder.path()).unwrap());
        assert_eq!(fs::read_dir(&tmp).unwrap().count(), 0);
    }

    #[test]
    fn a_cache_that_cannot_be_made_names_its_folder() {
        let error = Cache::open(Path::new("/proc/no/cache")).err().unwrap().to_string();
        assert!(error.contains("/proc/no/cache") && error.contains("BITRIFT_CACHE"), "{error}");
    }
}
