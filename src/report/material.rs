//! Everything that is known of a run, for the renderers of reports.

use std::collections::BTreeMap;

use crate::model::{
    CauseRow, ConfirmFile, ConfirmRow, ExplainFile, FindingId, FunctionSamples, RunFile, SpeedFile,
};

/// A run and the files beside it, as far as they are there.
#[derive(Clone, Debug)]
pub struct Material {
    pub run: RunFile,
    /// By function.
    pub samples: BTreeMap<String, FunctionSamples>,
    pub confirm: Option<ConfirmFile>,
    pub speed: Option<SpeedFile>,
    /// Of findings of this run only.
    pub explain: Option<ExplainFile>,
    /// How commands of bitrift name this run; None when it is the latest.
    pub name: Option<String>,
}

impl Material {
    /// Whether plain executables show a finding too; None when nobody tried.
    pub fn confirmation(&self, finding: &FindingId) -> Option<&ConfirmRow> {
        self.confirm.as_ref()?.witnesses.get(finding)
    }

    /// The cause of a finding; None when there is none or nobody looked.
    pub fn cause(&self, finding: &FindingId) -> Option<&CauseRow> {
        self.explain.as_ref()?.cause(finding).map(|(_, cause)| cause)
    }
}
