//! The content-addressed store on disk: objects named by their content, and for each request the
//! recipes that say which object answers it under which headers.
//!
//! Everything is written to a temporary file and renamed, and everything read is checked against its hash, and recipes
//! against the request they say they answer, so that two processes may share a folder and a damaged or misplaced entry
//! is no entry. An object that a process uses has a second name in the process's own folder, which it has before it is
//! checked: whoever removes it from the cache takes nothing away from those who use it. No lock is needed for any of
//! this, so that the disk may be another machine's.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};
use serde::{Deserialize, Serialize};
use tempfile::{NamedTempFile, TempPath};

use super::drawer::blocks;
use super::error::CompileError;
use super::key::Hash;
use super::marker::{check_usable, mark};
use super::session::{Session, remove_dead};
use super::stock::{Kind, Stock};
use super::used::Used;
use crate::model::CacheLimit;
use crate::sandbox::{Folder, remove_folder};

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

/// How often something is tried again whose folder somebody removed in between.
const MOST_TRIES: usize = 16;

/// A folder of compiled objects, shared by runs and processes. What it gives stays there until it is dropped. Then, when
/// nobody waits for a compiler any more, it becomes as small as it has to be.
pub struct Cache {
    root: PathBuf,
    session: Session,
    used: Used,
    /// None: the usual one.
    limit: Option<CacheLimit>,
    has_grown: AtomicBool,
    /// Held by whoever replaces a name of this process's own.
    mending: Mutex<()>,
}

impl Cache {
    /// Opens or creates a cache and removes what dead processes left in it.
    pub fn open(root: &Path) -> Result<Cache, CompileError> {
        let failed = |source| CompileError::Cache { path: root.into(), source };
        let root = std::path::absolute(root).map_err(failed)?;
        check_usable(&root)?;
        let tmp = root.join("tmp");
        let begin = || {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&tmp)?;
            let session = Session::begin(&tmp)?;
            mark(&root, session.path())?;
            Ok(session)
        };
        let session = again(begin).map_err(failed)?;
        remove_dead(&tmp);
        let (used, has_grown, mending) = (Used::default(), AtomicBool::new(false), Mutex::new(()));
        Ok(Cache { root, session, used, limit: None, has_grown, mending })
    }

    /// The same with a limit that somebody asked for: it holds in the end even where nothing was added.
    pub fn limited(self, limit: Option<CacheLimit>) -> Cache {
        let mut cache = self;
        cache.limit = limit;
        cache
    }

    pub fn limit(&self) -> CacheLimit {
        self.limit.unwrap_or_default()
    }

    /// What this process uses takes so much. It stays, whatever the limit is.
    pub fn used_bytes(&self) -> u64 {
        let path = |(kind, hash): (Kind, Hash)| match kind {
            Kind::Recipe => self.place(kind, &hash),
            Kind::Object => self.session.pin(&hash),
        };
        let used = self.used.all().into_iter().map(path);
        used.filter_map(|path| fs::metadata(path).ok()).map(|meta| blocks(meta.len())).sum()
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

    /// The objects of this process.
    pub fn objects(&self) -> PathBuf {
        self.session.pins()
    }

    /// Where the links are that lead the loader to libraries.
    pub fn shelves(&self) -> PathBuf {
        shelves_in(&self.root)
    }

    /// A folder for one job, removed when dropped.
    pub fn job_folder(&self) -> io::Result<Folder> {
        Folder::below(self.session.path(), "job-")
    }

    /// The path of an object of this content, if it is there and undamaged.
    pub fn object(&self, hash: &Hash) -> Option<PathBuf> {
        let (place, pin) = (self.place(Kind::Object, hash), self.session.pin(hash));
        let is_whole = || read(&pin).is_some_and(|content| blake3::hash(&content).as_bytes() == hash);
        if let Err(e) = fs::hard_link(&place, &pin)
            && e.kind() != io::ErrorKind::AlreadyExists
            && !pin.is_file()
        {
            // Not every disk gives a file two names; of an object that is not there nothing can be copied.
            self.write(&pin, &read(&place)?).ok()?;
        }
        if is_whole() {
            return Some(pin);
        }
        let _mending = self.mending.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_whole() {
            let _ = fs::remove_file(&pin);
            return None;
        }
        Some(pin)
    }

    /// Keeps a content.
    pub fn put_object(&self, content: &[u8]) -> io::Result<(Hash, PathBuf)> {
        let hash = *blake3::hash(content).as_bytes();
        let (place, pin) = (self.place(Kind::Object, &hash), self.session.pin(&hash));
        {
            let _mending = self.mending.lock().unwrap_or_else(PoisonError::into_inner);
            self.write(&pin, content)?;
        }
        let linked = tempfile::Builder::new()
            .make_in(self.session.path(), |path| fs::hard_link(&pin, path))
            .map(NamedTempFile::into_temp_path);
        match linked {
            Ok(file) => settle(file, &place)?,
            Err(_) => self.write(&place, content)?,
        }
        self.has_grown.store(true, Ordering::Relaxed);
        self.used.add(Kind::Object, &hash);
        Ok((hash, pin))
    }

    /// Remembers that a request was answered by an object, just now.
    pub fn note_use(&self, request: &Hash, object: &Hash) {
        for (kind, hash) in [(Kind::Recipe, request), (Kind::Object, object)] {
            touch(&self.place(kind, hash));
            self.used.add(kind, hash);
        }
    }

    /// The recipes of a request, newest first. A file that says it answers another request has none.
    pub fn recipes(&self, request: &Hash) -> Vec<Recipe> {
        let known = || {
            let bytes = read(&self.place(Kind::Recipe, request))?;
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
        let output = recipe.output;
        recipes.insert(0, recipe);
        recipes.truncate(RECIPE_LIMIT);
        let body = postcard::to_stdvec(&(request, recipes)).map_err(io::Error::other)?;
        let mut bytes = blake3::hash(&body).as_bytes().to_vec();
        bytes.extend(body);
        self.write(&self.place(Kind::Recipe, request), &bytes)?;
        self.has_grown.store(true, Ordering::Relaxed);
        // The object was there first, and must not be the older one.
        self.note_use(request, &output);
        Ok(())
    }

    fn place(&self, kind: Kind, hash: &Hash) -> PathBuf {
        let hex = blake3::Hash::from_bytes(*hash).to_hex();
        self.root.join(kind.folder()).join(&hex[..2]).join(&hex[2..])
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(self.session.path())?;
        file.write_all(content)?;
        settle(file.into_temp_path(), path)
    }
}

impl Drop for Cache {
    /// Also after a failure or an interrupt. What goes wrong here costs room and nothing else.
    fn drop(&mut self) {
        let is_due = self.limit.is_some() || self.has_grown.load(Ordering::Relaxed);
        if let (true, CacheLimit::Bytes(limit), Ok(Some(stock))) =
            (is_due, self.limit(), Stock::open(&self.root))
        {
            stock.trim(limit, &self.used);
        }
    }
}

/// Gives a file its place. Whatever stands in the place of a file or a folder of the cache is nothing of the cache.
fn settle(file: TempPath, path: &Path) -> io::Result<()> {
    let mut file = Some(file);
    again(|| {
        for folder in [path.parent().and_then(Path::parent), path.parent()].into_iter().flatten() {
            if fs::create_dir_all(folder).is_err() && !folder.is_dir() {
                fs::remove_file(folder)?;
                fs::create_dir_all(folder)?;
            }
        }
        if path.is_dir() && !path.is_symlink() {
            remove_folder(path)?;
        }
        let Some(left) = file.take() else { return Ok(()) };
        left.persist(path).map_err(|e| {
            file = Some(e.path);
            e.error
        })
    })
}

/// Does something again whose folder is gone, or is a file by now or the reverse: somebody may be clearing the cache, or mending
/// the same place.
pub fn again<T>(mut make: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    for _ in 1..MOST_TRIES {
        match make() {
            Err(e) if matches!(e.kind(), NotFound | IsADirectory | NotADirectory) => {}
            done => return done,
        }
    }
    make()
}

/// Makes now the time of a file's last change, by the clock of whoever keeps the disk. One that is gone has none.
fn touch(path: &Path) {
    let time = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
    let times = Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
    let _ = utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
}

/// The same in a cache at a place.
pub fn shelves_in(root: &Path) -> PathBuf {
    root.join("libraries")
}

/// The content of a regular file: a pipe in its place would never end, and what a link leads to may change.
fn read(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    is_file.then(|| fs::read(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(n: u8) -> Recipe {
        Recipe { headers: vec![("/h".into(), [n; 32])], rivals: [0; 32], output: [n; 32], notes: Vec::new() }
    }

    #[test]
    fn threads_that_mend_one_place_at_once_do_not_hinder_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        for round in 0..200u32 {
            let content = round.to_le_bytes();
            let hash = *blake3::hash(&content).as_bytes();
            fs::create_dir_all(cache.place(Kind::Object, &hash).join("something")).unwrap();
            std::thread::scope(|scope| {
                let puts: Vec<_> = (0..4).map(|_| scope.spawn(|| cache.put_object(&content))).collect();
                for put in puts {
                    assert_eq!(put.join().unwrap().unwrap().0, hash);
                }
            });
            assert!(cache.place(Kind::Object, &hash).is_file());
        }
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
        let recipes = cache.place(Kind::Recipe, &[7; 32]);
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
    fn a_cache_that_cannot_be_made_names_its_folder() {
        let error = Cache::open(Path::new("/proc/no/cache")).err().unwrap().to_string();
        assert!(error.contains("/proc/no/cache") && error.contains("BITRIFT_CACHE"), "{error}");
    }
}
