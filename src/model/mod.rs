//! The nouns every stage shares: plain data, no behaviour beyond reading and comparing itself.
//!
//! For a program that uses the library through its `lab`:
//! * an [`Experiment`] is a resolved matrix, with each [`Function`] and its [`Domain`]; a [`Build`] is one way to
//!   compile it, named by its [`BuildId`];
//! * an [`Outcome`] is what a build made of one input: a value's bits, or a fault; [`Outcomes`] are those of a batch, with
//!   the other values of functions that give several ([`Results`]);
//! * a [`FunctionResult`] is what a search found: for each variant a [`ComparisonResult`] with its [`RangeResult`]s, boxes
//!   of inputs whose ends are bits of the parameters' types ([`Scalar::to_f64`](crate::fp::Scalar::to_f64) makes numbers of them);
//! * a [`RunFile`] is the same as it is stored and reported, a [`FunctionRow`] one function of it;
//! * an [`EventSink`] hears of progress; [`NoEvents`] does not listen.

mod artifact;
mod audit;
mod bench;
mod budget_text;
mod build;
mod cache;
mod canonical;
mod category;
mod census;
mod confirm;
mod domain;
mod event;
mod experiment;
mod explain;
mod fault;
mod finding;
mod function;
mod gap;
mod gate;
mod held;
mod implementation;
mod limit;
mod lock;
mod number;
mod origin;
mod outcome;
mod outcomes;
mod printable;
mod result;
mod results;
mod run;
mod samples;
mod search_keys;
mod setting_value;
mod settings;
mod shape;
mod speed;
mod stored;
mod strategy;
mod suggest;
mod truth;

pub use artifact::{Arithmetic, Artifact, ArtifactStatus, BuiltObject, FunctionStatus, RunnerPlan};
pub use audit::{Audit, InstructionCounts};
pub use bench::{
    BENCH_SCHEMA, BenchFile, BenchRow, Published, PublishedRow, Reference, Timed, TimedFunction, TruthScore,
};
pub use build::{
    Build, BuildGlob, BuildId, ControlWords, Environment, FpEnvPolicy, FpSetting, Libm, Precision, Rounding,
};
pub use cache::{CACHE_SCHEMA, CacheLimit, CacheShare, CacheState, SizeError, byte_text};
pub use canonical::canonical;
pub use category::Category;
pub use census::{Census, CensusCell};
pub use confirm::{CONFIRM_SCHEMA, ConfirmFile, ConfirmRow, Confirmed};
pub use domain::{Domain, Segment};
pub use event::{Event, EventSink, NoEvents};
pub use experiment::{
    CompilerSpec, Exclude, Experiment, FlagSet, Harness, Preset, SandboxSettings, TargetSpec,
};
pub use explain::{
    CauseRow, Cost, EXPLAIN_SCHEMA, ExplainFile, ExplainRow, Explained, FixRow, Fragility, Layer, LayerRow,
    SafeRow, Standing, Suspect,
};
pub use fault::{FaultKind, ParseFaultError};
pub use finding::{FindingId, FindingPlace, ParseFindingIdError};
pub use function::{
    Callee, Coordinate, Declaration, Function, Interface, MAX_COORDINATES, Parameter, Passing, RETURNED, Slot,
};
pub use gap::GapKind;
pub use gate::{
    GATE_SCHEMA, GateFile, GateFinding, GateGap, GateKind, GateNote, GateShare, GateSymptom, GateVerdict,
    MovedWitness, NoteKind, PartialGate, ReplayCounts,
};
pub use held::{BLOCK_INPUTS, HeldRow, HeldValue, KEPT_INPUTS, MOST_BLOCKS, digest};
pub use implementation::{Implementation, Sources};
pub use limit::{Limit, LimitRule, tolerance_of, tolerate_nothing};
pub use lock::{
    LOCK_SCHEMA, LockBuild, LockComparison, LockFault, LockFile, LockFunction, LockRange, LockSearch,
};
pub use number::{Answer, Number, NumberText};
pub use origin::{ORIGIN_SCHEMA, OriginFile};
pub use outcome::{ClassChange, Outcome};
pub use outcomes::{Outcomes, Returned, Whole};
pub use printable::{gist, printable, printable_lines};
pub use result::{
    ComparisonResult, EdgeKind, Edges, FaultRecord, FunctionResult, RangeResult, StopReason, Witness,
};
pub use results::{Difference, MAX_RESULTS, ResultValue, Results};
pub use run::{
    BuildRow, BuildStatus, CampRow, ComparisonRow, EdgeRow, FaultRow, FunctionRow, HostRow, RangeRow,
    ResultRow, RunFile, SCHEMA, SearchStatus, SourceRow, WithoutFlushing, WitnessRow, libraries_text,
};
pub use samples::{FunctionSamples, Sample};
pub use search_keys::{SEARCH_KEY_NAMES, SEARCH_KEYS, SearchKey};
pub use setting_value::{Expected, SettingValue};
pub use settings::{Budget, ClusterBackend, SearchSettings};
pub use shape::{ParamRow, Shape, result_rows};
pub use speed::{SPEED_SCHEMA, SpeedFile, SpeedRow};
pub use stored::{Misfit, StoredConfirm, StoredGate, StoredLock, StoredRun, one_per_parameter};
pub use strategy::{StrategyName, UnknownStrategy};
pub use suggest::{nearest, quoted};
pub use truth::{TRUTH_SCHEMA, TruthCells, TruthComparison, TruthFile, TruthSegment};
