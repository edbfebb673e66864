//! `units/NAME.bin`: answers to the long units of a function whose search is under way, so that it can
//! be resumed in the middle. What an answer is does not matter here: bytes under a key.
//!
//! Each frame is the payload's length, the key, the payload and a check sum, which also covers the run's fingerprint:
//! answers of another run are none. A frame cut short by a kill, or damaged, ends the file; it and what follows is
//! dropped and searched again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::claim::is_at;
use super::error::shown;
use super::files::OwnFile;
use super::{RunFolder, StoreError, read};

const CHECK: usize = 8;

/// Names a unit.
pub type UnitKey = [u8; 16];

/// The open file of one function.
#[derive(Debug)]
pub struct UnitLog {
    file: File,
    path: PathBuf,
    /// The fingerprint of the run.
    context: String,
    known: BTreeMap<UnitKey, Vec<u8>>,
    dropped: usize,
}

impl UnitLog {
    fn open(path: &Path, context: &str) -> Result<UnitLog, StoreError> {
        let bytes = if path.exists() { read::read_bounded(path)? } else { Vec::new() };
        let (known, whole) = parse(context, &bytes);
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(path).map_err(StoreError::io("open", path))?;
        // The next frame must not be glued to half of one.
        file.set_len(whole as u64).map_err(StoreError::io("truncate", path))?;
        let dropped = bytes.len() - whole;
        Ok(UnitLog { file, path: path.into(), context: context.into(), known, dropped })
    }

    /// How many answers were there when it was opened.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many bytes were not believed when it was opened: cut short, damaged, or of another run.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// An answer that was there when it was opened.
    pub fn get(&self, key: &UnitKey) -> Option<&[u8]> {
        self.known.get(key).map(Vec::as_slice)
    }

    /// Adds an answer; on return it survives a kill. Not synced: after a power cut the units of the
    /// last seconds run again.
    pub fn append(&mut self, key: &UnitKey, payload: &[u8]) -> Result<(), StoreError> {
        if !is_at(&self.file, &self.path) {
            return Err(StoreError::Vanished { path: shown(&self.path) });
        }
        // One write per frame, so that a kill cuts at most the last one.
        self.file
            .write_all(&frame(&self.context, key, payload))
            .map_err(StoreError::io("append to", &self.path))
    }
}

impl RunFolder {
    /// The answers kept for a function of the run with this fingerprint; none when it is new. Only the process that
    /// holds the journal may open them.
    pub fn open_units(&self, function: &str, fingerprint: &str) -> Result<UnitLog, StoreError> {
        let folder = OwnFile::Units.of(self.work());
        match fs::create_dir(&folder) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::io("create", &folder)(e)),
            _ => UnitLog::open(&folder.join(format!("{function}.bin")), fingerprint),
        }
    }

    /// Drops the answers of a function that is done.
    pub fn remove_units(&self, function: &str) -> Result<(), StoreError> {
        let folder = OwnFile::Units.of(self.work());
        super::files::remove(&folder.join(format!("{function}.bin")))?;
        // Refuses while other functions have answers in it.
        let _ = fs::remove_dir(&folder);
        Ok(())
    }

    /// Whether a function is under way whose answers are worth keeping.
    pub fn has_units(&self) -> bool {
        let files = fs::read_dir(OwnFile::Units.of(self.work())).into_iter().flatten().flatten();
        files.into_iter().any(|file| file.metadata().is_ok_and(|meta| meta.len() > 0))
    }
}

fn frame(context: &str, key: &UnitKey, payload: &[u8]) -> Vec<u8> {
    // An answer is some kilobytes.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(4 + key.len() + payload.len() + CHECK);
    frame.extend(length.to_le_bytes());
    frame.extend(key);
    frame.extend(payload);
    let check = check(context, &frame);
    frame.extend(check);
    frame
}

fn check(context: &str, frame: &[u8]) -> [u8; CHECK] {
    let mut hasher = blake3::Hasher::new_derive_key("bitrift frame 1");
    hasher.update(&(context.len() as u64).to_le_bytes()).update(context.as_bytes()).update(frame);
    let mut check = [0; CHECK];
    check.copy_from_slice(&hasher.finalize().as_bytes()[..CHECK]);
    check
}

/// The frames, and the number of bytes up to the first that is not whole.
fn parse(context: &str, bytes: &[u8]) -> (BTreeMap<UnitKey, Vec<u8>>, usize) {
    let (mut known, mut at) = (BTreeMap::new(), 0);
    while let Some((key, payload, end)) = parse_frame(context, bytes, at) {
        known.insert(key, payload.to_vec());
        at = end;
    }
    (known, at)
}

fn parse_frame<'b>(context: &str, bytes: &'b [u8], at: usize) -> Option<(UnitKey, &'b [u8], usize)> {
    let head = at + 4;
    let length = u32::from_le_bytes(bytes.get(at..head)?.try_into().ok()?) as usize;
    let body = head + size_of::<UnitKey>();
    let end = body.checked_add(length)?;
    let found = bytes.get(end..end.checked_add(CHECK)?)?;
    if check(context, &bytes[at..end]) != *found {
        return None;
    }
    Some((bytes[head..body].try_into().ok()?, &bytes[body..end], end + CHECK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn answers_come_back_and_a_torn_tail_is_dropped() {
        let dir = TempDir::new().unwrap();
        let folder = RunFolder::create(&dir.path().join("run"), false).unwrap();
        let mut log = folder.open_units("f", "print").unwrap();
        assert!(log.is_empty() && !folder.has_units());
        log.append(&[1; 16], b"one").unwrap();
        log.append(&[2; 16], b"").unwrap();
        drop(log);
        let path = folder.path().join("units/f.bin");
        let whole = fs::read(&path).unwrap();
        let torn = [whole.as_slice(), &frame("print", &[3; 16], b"three")].concat();
        for cut in whole.len()..torn.len() {
            fs::write(&path, &torn[..cut]).unwrap();
            let mut log = folder.open_units("f", "print").unwrap();
            assert_eq!(
                (log.get(&[1; 16]), log.get(&[2; 16]), log.len()),
                (Some(&b"one"[..]), Some(&b""[..]), 2)
            );
            log.append(&[4; 16], b"four").unwrap();
            drop(log);
            assert_eq!(folder.open_units("f", "print").unwrap().get(&[4; 16]), Some(&b"four"[..]));
        }
        assert!(folder.has_units());
        folder.remove_units("f").unwrap();
        assert!(!folder.has_units() && !folder.path().join("units").exists());
    }

    #[test]
    fn a_damaged_frame_ends_what_is_trusted() {
        let mut bytes = [(1, "one"), (2, "two"), (3, "three")]
            .map(|(n, text)| frame("", &[n; 16], text.as_bytes()))
            .concat();
        let first = frame("", &[1; 16], b"one").len();
        bytes[first + 21] ^= 1;
        let (known, whole) = parse("", &bytes);
        assert_eq!((known.len(), whole), (1, first));
        // Nor is anything trusted that belongs to another run.
        assert_eq!(parse("other", &bytes).1, 0);
    }
}
