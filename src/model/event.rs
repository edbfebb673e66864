//! Progress as data: stages send events to a sink and never print.

use super::BuildId;

/// Something a user watching a run would like to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Compiling starts: how many command lines at most.
    CompileStarted {
        jobs: usize,
    },
    /// One object or link is there, from the cache or not.
    CompileStep {
        build: BuildId,
        what: String,
        cached: bool,
    },
    CompileFinished {
        compiled: usize,
        cached: usize,
    },
    /// Searching starts: how many functions, how many of them already in the journal.
    SearchStarted {
        functions: usize,
        resumed: usize,
    },
    /// A unit of a function's search is done; `evaluations` are all of the function so far.
    SearchProgress {
        function: String,
        evaluations: u64,
    },
    FunctionFinished {
        function: String,
        max_bits: f64,
        ranges: usize,
        faults: u64,
    },
    /// A worker died or was killed and was replaced.
    WorkerReplaced {
        function: String,
        reason: String,
    },
    SearchFinished,
    /// Explaining starts: how many findings.
    ExplainStarted {
        findings: usize,
    },
    /// A layer of a finding is looked at.
    ExplainStep {
        finding: String,
        layer: String,
    },
    ExplainDone {
        finding: String,
    },
    ExplainFinished,
    /// Something the user should read: a skipped build, a failed one.
    Note {
        text: String,
    },
}

/// Where events go. Shared by threads.
pub trait EventSink: Sync {
    fn send(&self, event: Event);
}

/// Drops every event.
pub struct NoEvents;

impl EventSink for NoEvents {
    fn send(&self, _event: Event) {}
}
