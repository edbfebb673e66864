//! Everything that is known of a run, for the renderers of reports.

use std::collections::BTreeMap;

use crate::model::{ConfirmFile, ConfirmRow, FunctionSamples, RunFile, SpeedFile};

/// A run and the files beside it, as far as they are there.
#[derive(Clone, Debug)]
pub struct Material {
    pub run: RunFile,
    /// By function.
    pub samples: BTreeMap<String, FunctionSamples>,
    pub confirm: Option<ConfirmFile>,
    pub speed: Option<SpeedFile>,
    /// How commands of bitrift name this run; None when it is the latest.
    pub name: Option<String>,
}

impl Material {
    /// Whether plain executables show a finding too; None when nobody tried.
    pub fn confirmation(&self, finding: &str) -> Option<&ConfirmRow> {
        self.confirm.as_ref()?.witnesses.get(finding)
    }
}
