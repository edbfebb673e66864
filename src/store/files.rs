//! The files of a run folder by name, so that whoever replaces a run removes all of them.

use std::path::{Path, PathBuf};

/// A file that bitrift keeps in a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnFile {
    Run,
    Timing,
    Samples,
    Journal,
    Confirm,
    Explain,
    Speed,
    Page,
    Gate,
}

impl OwnFile {
    pub const ALL: [OwnFile; 9] = [
        OwnFile::Run,
        OwnFile::Timing,
        OwnFile::Samples,
        OwnFile::Journal,
        OwnFile::Confirm,
        OwnFile::Explain,
        OwnFile::Speed,
        OwnFile::Page,
        OwnFile::Gate,
    ];

    fn name(self) -> &'static str {
        match self {
            OwnFile::Run => "run.json",
            OwnFile::Timing => "timing.json",
            OwnFile::Samples => "samples.jsonl",
            OwnFile::Journal => "journal.jsonl",
            OwnFile::Confirm => "confirm.json",
            OwnFile::Explain => "explain.json",
            OwnFile::Speed => "speed.json",
            OwnFile::Page => "report.html",
            OwnFile::Gate => "gate.json",
        }
    }

    pub fn of(self, folder: &Path) -> PathBuf {
        folder.join(self.name())
    }
}
