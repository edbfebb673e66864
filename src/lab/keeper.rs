//! Keeps answers of long units in the run's folder, so that an interrupted search goes on where it was.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::{Event, EventSink};
use crate::search::{Answer, Unit};
use crate::store::{RunFolder, StoreError, UnitKey, UnitLog};

/// Changes when the form of a unit or an answer does.
const CONTEXT: &str = "bitrift unit 3";

pub struct UnitKeeper<'a> {
    folder: &'a RunFolder,
    /// The run's, to which answers are bound.
    fingerprint: String,
    sink: &'a dyn EventSink,
    /// By function; None for one whose file cannot be used.
    logs: Mutex<Logs>,
}

/// The log of a function.
struct OpenLog {
    log: UnitLog,
    /// It says that its answers are of this form.
    is_marked: bool,
}

type Logs = BTreeMap<String, Option<OpenLog>>;

impl<'a> UnitKeeper<'a> {
    pub fn new(folder: &'a RunFolder, fingerprint: &str, sink: &'a dyn EventSink) -> UnitKeeper<'a> {
        UnitKeeper { folder, fingerprint: fingerprint.into(), sink, logs: Mutex::default() }
    }

    /// A function is stored as a whole: its units are not needed any more.
    pub fn forget(&self, function: &str) -> Result<(), StoreError> {
        if self.lock().remove(function).is_some() {
            return self.folder.remove_units(function);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log<'l>(&self, logs: &'l mut Logs, function: &str) -> Option<&'l mut OpenLog> {
        let open = || match self.folder.open_units(function, &self.fingerprint) {
            Ok(log) => {
                let is_marked = log.get(&form()).is_some();
                self.greet(function, &log, is_marked);
                Some(OpenLog { log, is_marked })
            }
            Err(error) => {
                self.complain(function, &error);
                None
            }
        };
        logs.entry(function.into()).or_insert_with(open).as_mut()
    }

    /// Says what a log holds, and what of it is not believed.
    fn greet(&self, function: &str, log: &UnitLog, is_marked: bool) {
        if log.dropped() > 0 {
            let bytes = log.dropped();
            let text = format!(
                "function {function}: the last {bytes} bytes of its kept units are cut off or damaged and not believed: \
                 what was there is searched again"
            );
            self.sink.send(Event::Note { text });
        }
        let text = match (is_marked, log.len()) {
            (_, 0) => return,
            (true, records) => format!("function {function}: {} units were done before", records - 1),
            (false, records) => format!(
                "function {function}: {records} units were kept by another version of bitrift and are searched again"
            ),
        };
        self.sink.send(Event::Note { text });
    }

    fn complain(&self, function: &str, error: &StoreError) {
        let text = format!("function {function} would start over after an interruption: {error}");
        self.sink.send(Event::Note { text });
    }

    /// The answer that an earlier process kept.
    pub fn recall(&self, function: &str, unit: &Unit) -> Option<Answer> {
        let key = key(unit)?;
        let mut logs = self.lock();
        let bytes = self.log(&mut logs, function)?.log.get(&key)?;
        // What cannot be read is evaluated again.
        postcard::from_bytes(bytes).ok()
    }

    pub fn keep(&self, function: &str, unit: &Unit, answer: &Answer) {
        let (Some(key), Ok(bytes)) = (key(unit), postcard::to_allocvec(answer)) else { return };
        let mut logs = self.lock();
        let Some(open) = self.log(&mut logs, function) else { return };
        let mut kept = open.log.append(&key, &bytes);
        if !std::mem::replace(&mut open.is_marked, true) {
            // Behind the first answer, so that a file that is not empty holds one.
            kept = kept.and_then(|()| open.log.append(&form(), &[]));
        }
        if let Err(error) = kept {
            self.complain(function, &error);
            logs.insert(function.into(), None);
        }
    }
}

/// The key of an empty answer that marks a file as of this form.
fn form() -> UnitKey {
    let mut form = UnitKey::default();
    form.copy_from_slice(&blake3::Hasher::new_derive_key(CONTEXT).finalize().as_bytes()[..16]);
    form
}

fn key(unit: &Unit) -> Option<UnitKey> {
    let bytes = postcard::to_allocvec(unit).ok()?;
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&bytes);
    hasher.finalize().as_bytes()[..16].try_into().ok()
}
