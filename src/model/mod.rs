//! The nouns every stage shares: plain data, no behaviour beyond reading and comparing itself.

mod artifact;
mod audit;
mod bench;
mod build;
mod census;
mod confirm;
mod domain;
mod event;
mod experiment;
mod explain;
mod function;
mod gate;
mod implementation;
mod limit;
mod lock;
mod outcome;
mod printable;
mod result;
mod run;
mod samples;
mod settings;
mod speed;
mod truth;

pub use artifact::{Arithmetic, Artifact, ArtifactStatus, BuiltObject, FunctionStatus, RunnerPlan};
pub use audit::{Audit, InstructionCounts};
pub use bench::{
    BENCH_SCHEMA, BenchFile, BenchRow, Published, PublishedRow, Reference, Timed, TimedFunction, TruthScore,
};
pub use build::{
    Build, BuildGlob, BuildId, ControlWords, Environment, FpEnvPolicy, FpSetting, Libm, Precision, Rounding,
};
pub use census::{Census, CensusCell};
pub use confirm::{CONFIRM_SCHEMA, ConfirmFile, ConfirmRow, Confirmed};
pub use domain::{Domain, Segment};
pub use event::{Event, EventSink, NoEvents};
pub use experiment::{CompilerSpec, Exclude, Experiment, FlagSet, Preset, TargetSpec};
pub use explain::{
    CauseRow, Cost, EXPLAIN_SCHEMA, ExplainFile, ExplainRow, Explained, FixRow, Fragility, Layer, LayerRow,
    SafeRow, Standing, Suspect,
};
pub use function::{Callee, Function, MAX_PARAMS, Param};
pub use gate::{GATE_SCHEMA, GateFile, GateFinding, GateKind, GateNote, GateVerdict, NoteKind, ReplayCounts};
pub use implementation::{Implementation, Sources};
pub use limit::{Limit, LimitRule};
pub use lock::{
    LOCK_SCHEMA, LockBuild, LockComparison, LockFault, LockFile, LockFunction, LockRange, LockSearch,
};
pub use outcome::{ClassChange, FaultKind, Outcome};
pub use printable::{gist, printable, printable_lines};
pub use result::{
    ComparisonResult, EdgeKind, Edges, FaultRecord, FunctionResult, RangeResult, StopReason, Witness,
};
pub use run::{
    BuildRow, CampRow, ComparisonRow, EdgeRow, FaultRow, FunctionRow, HostRow, NumberText, ParamRow,
    RangeRow, RunFile, SCHEMA, SourceRow, WithoutFlushing, WitnessRow,
};
pub use samples::FunctionSamples;
pub use settings::{Budget, ClusterBackend, STRATEGIES, SearchSettings};
pub use speed::{SPEED_SCHEMA, SpeedFile, SpeedRow};
pub use truth::{TRUTH_SCHEMA, TruthCells, TruthComparison, TruthFile, TruthSegment};
