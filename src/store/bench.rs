//! Where a bench is kept: `<stem>.json`, `<stem>.md`, and a journal in `<stem>.work` until both are
//! there.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::shown;
use super::{Fingerprint, Journal, StoreError, atomic, name, read};
use crate::model::{BENCH_SCHEMA, BenchFile, BenchRow};

const JOURNAL: &str = "journal.jsonl";

/// The files of one bench.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPlace {
    stem: PathBuf,
}

/// What to do with what is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Go on with it.
    pub resume: bool,
    /// Remove it.
    pub overwrite: bool,
}

impl BenchPlace {
    /// `out` is a folder to put `bench-<lab>` into, or the files' name up to the ending; without it
    /// the folder is `root`.
    pub fn new(out: Option<&Path>, root: &Path, lab: &str) -> BenchPlace {
        let file = format!("bench-{}", name::file_name(lab));
        let Some(out) = out else { return BenchPlace { stem: root.join(file) } };
        let is_folder = out.is_dir() || out.to_string_lossy().ends_with('/');
        let ending = out.extension().is_some_and(|e| e == "json" || e == "md");
        let stem = match (is_folder, ending) {
            (true, _) => out.join(file),
            (false, true) => out.with_extension(""),
            (false, false) => out.into(),
        };
        BenchPlace { stem }
    }

    pub fn json(&self) -> PathBuf {
        self.with(".json")
    }

    pub fn markdown(&self) -> PathBuf {
        self.with(".md")
    }

    fn work(&self) -> PathBuf {
        self.with(".work")
    }

    /// A lab's name may hold a dot, so nothing is replaced as an extension.
    fn with(&self, ending: &str) -> PathBuf {
        let mut path = self.stem.clone().into_os_string();
        path.push(ending);
        path.into()
    }

    /// Starts a bench of so many rows, or goes on with one of the same experiment; returns the rows
    /// that are there already.
    pub fn open(
        &self,
        opening: Opening,
        print: &Fingerprint,
        rows: usize,
    ) -> Result<(Journal<BenchRow>, Vec<BenchRow>), StoreError> {
        let (json, journal) = (self.json(), self.work().join(JOURNAL));
        let complete = read::metadata(&json)?.is_some();
        let begun = read::metadata(&journal)?.is_some();
        if complete && opening.overwrite && !is_bench(&json) {
            return Err(StoreError::NotABench { path: shown(&json) });
        }
        let markdown = self.markdown();
        if !complete && !begun && read::metadata(&markdown)?.is_some() {
            return Err(StoreError::NotABench { path: shown(&markdown) });
        }
        if opening.overwrite {
            self.clear(begun)?;
        } else if !opening.resume && begun {
            return Err(StoreError::BenchBegun { path: shown(&self.stem) });
        } else if !opening.resume && complete {
            return Err(StoreError::BenchThere { path: shown(&json) });
        }
        let mut done = Vec::new();
        if opening.resume && complete {
            done = rows_of(&json, print)?;
        }
        if opening.resume && begun {
            let (open, more) = Journal::resume(&journal, print)?;
            done.extend(more);
            return Ok((open, done));
        }
        let work = self.work();
        fs::create_dir_all(&work).map_err(StoreError::io("create", &work))?;
        Ok((Journal::start(&journal, print, rows)?, done))
    }

    /// Writes both files, the JSON last, and removes the journal.
    pub fn finish(
        &self,
        journal: Journal<BenchRow>,
        file: &BenchFile,
        markdown: &str,
    ) -> Result<(), StoreError> {
        atomic::write(&self.markdown(), markdown.as_bytes())?;
        atomic::write(&self.json(), bench_json(file).as_bytes())?;
        self.abandon(journal);
        Ok(())
    }

    /// Leaves no journal behind. What cannot be removed is a bench with nothing left to do.
    pub fn abandon(&self, journal: Journal<BenchRow>) {
        drop(journal);
        let _ = fs::remove_file(self.work().join(JOURNAL));
        // Refuses when the folder holds anything else.
        let _ = fs::remove_dir(self.work());
    }

    /// Removes an earlier bench, and only that.
    fn clear(&self, begun: bool) -> Result<(), StoreError> {
        let journal = self.work().join(JOURNAL);
        if begun {
            Journal::<BenchRow>::check_idle(&journal)?;
        }
        for path in [journal, self.json(), self.markdown()] {
            match fs::remove_file(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                done => done.map_err(StoreError::io("remove", path))?,
            }
        }
        Ok(())
    }
}

/// The rows of a complete bench of the same experiment.
fn rows_of(json: &Path, print: &Fingerprint) -> Result<Vec<BenchRow>, StoreError> {
    let file = read_bench(json)?;
    print.check(file.fingerprint, json)?;
    Ok(file.rows)
}

/// Another program may have a file of that name: look inside before removing it.
fn is_bench(json: &Path) -> bool {
    let family = BENCH_SCHEMA.split('/').next().unwrap_or(BENCH_SCHEMA);
    read::read_bounded(json).is_ok_and(|bytes| {
        serde_json::from_slice::<serde_json::Value>(&bytes)
            .is_ok_and(|v| v["schema"].as_str().is_some_and(|s| s.starts_with(family)))
    })
}

/// The bench in a file.
pub fn read_bench(path: &Path) -> Result<BenchFile, StoreError> {
    read::read_json(path, BENCH_SCHEMA)
}

/// The text of a bench: apart from seconds, the same bytes for the same bench.
pub fn bench_json(file: &BenchFile) -> String {
    // Plain data with string keys and finite numbers always has a JSON text.
    let mut text = serde_json::to_string_pretty(file).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_is_a_folder_or_the_name_up_to_the_ending() {
        let folder = tempfile::tempdir().unwrap();
        let stem = |out: Option<&Path>| BenchPlace::new(out, Path::new("results"), "gsl 2.7").json();
        assert_eq!(stem(None), Path::new("results/bench-gsl-2.7.json"));
        assert_eq!(stem(Some(folder.path())), folder.path().join("bench-gsl-2.7.json"));
        assert_eq!(stem(Some(Path::new("new/"))), Path::new("new/bench-gsl-2.7.json"));
        assert_eq!(stem(Some(Path::new("a/v1.2"))), Path::new("a/v1.2.json"));
        assert_eq!(stem(Some(Path::new("a/x.json"))), Path::new("a/x.json"));
        assert_eq!(stem(Some(Path::new("a/x.md"))), Path::new("a/x.json"));
    }
}
