//! What a journal is bound to: everything that decides a function's results.

use std::collections::BTreeMap;
use std::path::Path;

use super::StoreError;
use super::error::shown;
use crate::model::{Artifact, ArtifactStatus, Function, SearchSettings, StrategyName, canonical, printable};

/// Named parts, so that a mismatch can say what differs. Small parts stand as they are, large ones
/// as a digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    parts: BTreeMap<String, String>,
}

impl Fingerprint {
    /// Of an experiment: its name, the settings with the seed, the selected functions and the
    /// builds with the bytes of their objects.
    pub fn of(
        name: &str,
        settings: &SearchSettings,
        functions: &[Function],
        artifacts: &[Artifact],
    ) -> Fingerprint {
        let plain = [
            ("bitrift", env!("CARGO_PKG_VERSION").to_string()),
            ("lab", name.to_string()),
            ("seed", settings.seed.to_string()),
            ("strategy", settings.strategy.to_string()),
        ];
        let mut print = Fingerprint::default();
        for (part, text) in plain {
            print.parts.insert(part.into(), text);
        }
        print.digest("settings", canonical(settings).as_bytes());
        print.digest("functions", canonical(&functions).as_bytes());
        for artifact in artifacts {
            print.digest(&format!("build {}", artifact.build), &artifact_bytes(artifact));
        }
        print
    }

    /// Of a bench: an experiment without the seed and the strategy, which each row has itself.
    pub fn of_bench(
        name: &str,
        settings: &SearchSettings,
        functions: &[Function],
        artifacts: &[Artifact],
    ) -> Fingerprint {
        let neutral = SearchSettings { seed: 0, strategy: StrategyName::default(), ..settings.clone() };
        let mut print = Fingerprint::of(name, &neutral, functions, artifacts);
        print.parts.retain(|part, _| part != "seed" && part != "strategy");
        print
    }

    /// That something stored with these parts belongs to the same experiment; `path` is where it is.
    pub fn check(&self, stored: BTreeMap<String, String>, path: &Path) -> Result<(), StoreError> {
        let there = Fingerprint { parts: stored };
        if there == *self {
            return Ok(());
        }
        let differences = printable(&there.differences(self));
        Err(StoreError::OtherExperiment { path: shown(path), differences })
    }

    fn digest(&mut self, part: &str, bytes: &[u8]) {
        self.parts.insert(part.into(), blake3::hash(bytes).to_hex()[..16].to_string());
    }

    pub(super) fn from_parts(parts: BTreeMap<String, String>) -> Fingerprint {
        Fingerprint { parts }
    }

    pub fn parts(&self) -> &BTreeMap<String, String> {
        &self.parts
    }

    /// One digest of all parts.
    pub fn hex(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("bitrift journal 1");
        for (part, text) in &self.parts {
            for field in [part, text] {
                // The length keeps ("ab", "c") and ("a", "bc") apart.
                hasher.update(&(field.len() as u64).to_le_bytes());
                hasher.update(field.as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// What differs, for a message: `seed is 1 there and 2 now, other functions`.
    pub(super) fn differences(&self, now: &Fingerprint) -> String {
        let keys: std::collections::BTreeSet<_> = self.parts.keys().chain(now.parts.keys()).collect();
        let mut words = Vec::new();
        for key in keys {
            match (self.parts.get(key), now.parts.get(key)) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => words.push(match key.as_str() {
                    "bitrift" | "lab" | "seed" | "strategy" => format!("{key} is {a} there and {b} now"),
                    "settings" | "functions" => format!("other {key}"),
                    build => format!("{build} has changed"),
                }),
                (Some(_), None) => words.push(format!("{key} is only there")),
                (None, _) => words.push(format!("{key} is only in the matrix now")),
            }
        }
        // A new seed also changes the digest of the settings: the seed says it better.
        if words.len() > 1 && words.iter().any(|w| w.starts_with("seed is") || w.starts_with("strategy is")) {
            words.retain(|w| w != "other settings");
        }
        words.join(", ")
    }
}

/// An object counts by its bytes, not by where its cache is.
fn artifact_bytes(artifact: &Artifact) -> Vec<u8> {
    let mut bytes = artifact.version.clone().into_bytes();
    match &artifact.status {
        ArtifactStatus::Built(object) => {
            let made = (object.control, &object.setup_symbol, &object.functions, &object.runner);
            bytes.extend(canonical(&made).bytes());
            // Nothing is added for a build without any, so that journals from before still go on.
            if !object.libraries.is_empty() {
                bytes.extend(canonical(&object.libraries).bytes());
            }
            // An unreadable object fails later, with a message of its own.
            bytes.extend(std::fs::read(&object.path).unwrap_or_default());
        }
        ArtifactStatus::Failed { .. } => bytes.extend(b"failed"),
        ArtifactStatus::Skipped { .. } => bytes.extend(b"skipped"),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Audit, BuildId, BuiltObject, ControlWords};

    fn print(file: &std::path::Path, bytes: &str) -> Fingerprint {
        std::fs::write(file, bytes).unwrap();
        let object = BuiltObject {
            path: file.into(),
            control: ControlWords::IEEE,
            runner: None,
            arithmetic: None,
            libm: String::new(),
            libraries: BTreeMap::new(),
            setup_symbol: None,
            functions: Vec::new(),
            audit: Audit::default(),
        };
        let artifact = Artifact {
            build: BuildId::new("gcc", "O0", "native"),
            version: "gcc 12".into(),
            status: ArtifactStatus::Built(Box::new(object)),
        };
        Fingerprint::of("lab", &SearchSettings::default(), &[], &[artifact])
    }

    #[test]
    fn an_object_counts_by_its_bytes_and_not_by_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let here = print(&folder.path().join("a.so"), "same");
        let there = print(&folder.path().join("b.so"), "same");
        let other = print(&folder.path().join("a.so"), "other");
        assert_eq!(here.hex(), there.hex());
        assert_ne!(here.hex(), other.hex());
        assert_eq!(here.differences(&other), "build gcc/O0/native has changed");
        let fewer = Fingerprint::of("lab", &SearchSettings::default(), &[], &[]);
        assert_eq!(here.differences(&fewer), "build gcc/O0/native is only there");
    }
}
