//! What a cache holds, seen from outside: counted, made smaller, emptied.
//!
//! A use is remembered as the time of the last change of a file, which every disk keeps; time of access is often
//! switched off. The recipe that leads to an object is marked before the object, so that among equally old files recipes
//! go first: what is left is an object that nobody asks for, and goes next, never a recipe without its object. Where
//! that happens all the same, by another process or another recipe, the recipe is as good as none.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FileType;

use super::drawer::{Drawer, Leaf};
use super::error::CompileError;
use super::key::Hash;
use super::marker::{FOLDERS, JOBS, TAG, is_marked, mark};
use super::session::{is_anyone_at_work, remove_dead};
use super::used::Used;
use crate::model::CacheShare;

/// What the cache keeps for other runs, in the order in which equally old ones go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Recipe,
    Object,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Recipe, Kind::Object];

    pub fn folder(self) -> &'static str {
        match self {
            Kind::Recipe => "recipes",
            Kind::Object => "objects",
        }
    }
}

/// One file of the cache.
struct Item {
    used: SystemTime,
    kind: Kind,
    hash: Hash,
    bytes: u64,
}

/// What is in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    pub objects: CacheShare,
    pub recipes: CacheShare,
    pub libraries: CacheShare,
    /// Of processes; a name of an object of the cache takes no room.
    pub temporary: CacheShare,
    /// Names that are not the cache's.
    pub others: u64,
    pub oldest_use: Option<SystemTime>,
    pub newest_use: Option<SystemTime>,
}

/// A cache that is there.
pub struct Stock {
    root: PathBuf,
}

impl Stock {
    /// The cache in a folder; None where there is nothing at all. Anything else than a cache is refused.
    pub fn open(root: &Path) -> Result<Option<Stock>, CompileError> {
        let failed = |source: std::io::Error| CompileError::Cache { path: root.into(), source };
        let root = std::path::absolute(root).map_err(failed)?;
        let drawer = match Drawer::open(&root) {
            Ok(drawer) => drawer,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(e) => return Err(failed(e.into())),
        };
        if is_marked(&root) {
            return Ok(Some(Stock { root }));
        }
        // Whoever makes a cache has its folder for jobs before the mark.
        if drawer.names().iter().all(|name| name == JOBS) {
            // He may have come to the mark since.
            return Ok(is_marked(&root).then_some(Stock { root }));
        }
        if is_marked(&root) {
            return Ok(Some(Stock { root }));
        }
        Err(CompileError::NotACache { path: root, reason: format!("bitrift has left no {TAG} there") })
    }

    pub fn count(&self) -> Inventory {
        let mut counted = Inventory::default();
        let Ok(root) = Drawer::open(&self.root) else { return counted };
        let own = |name: &String| name == TAG || FOLDERS.contains(&name.as_str());
        let is_known = |name: &String| own(name) && (name == TAG || root.inner(name).is_some());
        counted.others = root.names().iter().filter(|name| !is_known(name)).count() as u64;
        for kind in Kind::ALL {
            let (items, others) = items(&root, kind);
            counted.others += others;
            for item in items {
                match kind {
                    Kind::Recipe => counted.recipes.add(item.bytes),
                    Kind::Object => counted.objects.add(item.bytes),
                }
                let first = counted.oldest_use.map_or(item.used, |used| used.min(item.used));
                let last = counted.newest_use.map_or(item.used, |used| used.max(item.used));
                (counted.oldest_use, counted.newest_use) = (Some(first), Some(last));
            }
        }
        links(&root, |_, _, leaf| counted.libraries.add(leaf.bytes));
        counted.temporary = temporary(&root);
        counted
    }

    /// Removes what was used longest ago, until the rest takes no more than `limit` bytes. What is `kept` stays, however
    /// much that is.
    pub fn trim(&self, limit: u64, kept: &Used) -> CacheShare {
        let mut freed = CacheShare::default();
        let Ok(root) = Drawer::open(&self.root) else { return freed };
        remove_dead(&self.root.join("tmp"));
        let mut items: Vec<Item> = Kind::ALL.into_iter().flat_map(|kind| items(&root, kind).0).collect();
        let mut bytes: u64 = items.iter().map(|item| item.bytes).sum();
        if bytes <= limit {
            return freed;
        }
        items.sort_unstable_by_key(|item| (item.used, item.kind, item.hash));
        for item in items.iter().filter(|item| !kept.has(item.kind, &item.hash)) {
            if bytes <= limit {
                break;
            }
            if remove(&root, item) {
                bytes -= item.bytes;
                freed.add(item.bytes);
            }
        }
        freed
    }

    /// Removes everything that is the cache's own. What a running process uses it has by names of its own, but for the
    /// links to libraries, which stay as long as there is one.
    pub fn clear(&self) -> CacheShare {
        let mut freed = CacheShare::default();
        let Ok(root) = Drawer::open(&self.root) else { return freed };
        let tmp = self.root.join("tmp");
        let before = temporary(&root);
        remove_dead(&tmp);
        let after = temporary(&root);
        freed.files += before.files.saturating_sub(after.files);
        freed.bytes += before.bytes.saturating_sub(after.bytes);
        for kind in Kind::ALL {
            for item in items(&root, kind).0 {
                if remove(&root, &item) {
                    freed.add(item.bytes);
                }
            }
            remove_folders(&root, kind.folder());
        }
        if is_anyone_at_work(&tmp) {
            return freed;
        }
        links(&root, |folder, name, leaf| {
            if folder.remove(name) {
                freed.add(leaf.bytes);
            }
        });
        remove_folders(&root, "libraries");
        if root.remove_empty("tmp") && FOLDERS.iter().all(|name| root.leaf(name).is_none()) {
            root.remove(TAG);
            // Whoever opens the cache makes this folder and then looks for the mark: in this moment it may have been there.
            if root.leaf("tmp").is_some() {
                let _ = mark(&self.root, &tmp);
            }
        }
        freed
    }
}

/// The files of a kind, and how many other things are among them.
fn items(root: &Drawer, kind: Kind) -> (Vec<Item>, u64) {
    let (mut items, mut others) = (Vec::new(), 0);
    let Some(folder) = root.inner(kind.folder()) else { return (items, others) };
    for head in folder.names() {
        let Some(drawer) = folder.inner(&head).filter(|_| is_hex(&head, 2)) else {
            others += 1;
            continue;
        };
        for tail in drawer.names() {
            // Somebody else may have removed it.
            let Some(leaf) = drawer.leaf(&tail) else { continue };
            match blake3::Hash::from_hex(format!("{head}{tail}")) {
                Ok(hash) if leaf.kind == FileType::RegularFile && is_hex(&tail, 62) => {
                    let (used, bytes) = (leaf.changed, leaf.bytes);
                    items.push(Item { used, kind, hash: *hash.as_bytes(), bytes });
                }
                _ => others += 1,
            }
        }
    }
    (items, others)
}

/// As the cache writes them.
fn is_hex(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Removes a file unless it was used since it was listed.
fn remove(root: &Drawer, item: &Item) -> bool {
    let hex = blake3::Hash::from_bytes(item.hash).to_hex();
    let folder = root.inner(item.kind.folder()).and_then(|folder| folder.inner(&hex[..2]));
    let Some(folder) = folder else { return true };
    let is_used = folder.leaf(&hex[2..]).is_some_and(|leaf| leaf.changed > item.used);
    !is_used && folder.remove(&hex[2..])
}

/// Calls with every link that leads the loader to a library: its folder and its name there.
fn links(root: &Drawer, mut each: impl FnMut(&Drawer, &str, Leaf)) {
    let Some(shelves) = root.inner("libraries") else { return };
    for shelf in shelves.names().iter().filter(|name| is_hex(name, 16)) {
        let Some(folder) = shelves.inner(shelf) else { continue };
        for name in folder.names() {
            if let Some(leaf) = folder.leaf(&name).filter(|leaf| leaf.kind == FileType::Symlink) {
                each(&folder, &name, leaf);
            }
        }
    }
}

/// Removes a folder and those inside it, as far as they are empty.
fn remove_folders(root: &Drawer, name: &str) {
    let Some(folder) = root.inner(name) else { return };
    for inner in folder.names() {
        folder.remove_empty(&inner);
    }
    root.remove_empty(name);
}

/// The files of processes.
fn temporary(root: &Drawer) -> CacheShare {
    let mut share = CacheShare::default();
    root.inner("tmp").iter().for_each(|tmp| count_all(tmp, &mut share));
    share
}

/// Counts all files below a folder, but for those that have another name too.
fn count_all(folder: &Drawer, share: &mut CacheShare) {
    for name in folder.names() {
        match folder.leaf(&name) {
            Some(leaf) if leaf.kind == FileType::Directory => {
                folder.inner(&name).iter().for_each(|inner| count_all(inner, share));
            }
            Some(leaf) if !leaf.is_shared => share.add(leaf.bytes),
            _ => {}
        }
    }
}
