//! A matrix opened: loaded, planned, with a place for compiled objects. Nothing is compiled yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::declared::{Declared, Indexed};
use super::error::{LabError, Progress};
use super::notes;
use super::reach::{check_links, tool_reach};
use crate::c::SourceIndex;
use crate::compile::{Cache, Compiled, Settings, compile_all};
use crate::eval::has_role;
use crate::fp::{Equality, Tolerance};
use crate::matrix;
use crate::model::{
    Build, BuildId, CacheLimit, Event, EventSink, Experiment, Function, Implementation, Limit, RunFile,
    StrategyName, byte_text, printable, tolerance_of,
};
use crate::plan::{self, Plan};
use crate::pool::Limits;
use crate::presets;
use crate::sandbox::hide;
use crate::search::unfit_for_exhaustive;
use crate::toolchain::{Compilers, ToolReach};

/// What a lab may use of the machine. The default is the user's cache folder, every CPU, and no interrupt.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// Where compiled objects are kept; None: the user's cache folder.
    pub cache: Option<PathBuf>,
    /// How large that may become; None: 5 GiB. What was used longest ago goes first, when the lab is dropped.
    pub cache_size: Option<CacheLimit>,
    /// Processes at work at once; None: the number of CPUs.
    pub jobs: Option<u16>,
    /// Compilers and code under test run with all of the user's rights.
    pub no_sandbox: bool,
    /// The work ends soon after this becomes true, with [`LabError::Interrupted`].
    pub cancel: Arc<AtomicBool>,
}

/// Makes an experiment take for equal what a stored run took for equal, whatever the matrix or an option of the run says.
pub fn judge_as(run: &RunFile, experiment: &mut Experiment) {
    (experiment.search.nan, experiment.search.zero) = (run.nan, run.zero);
    for function in &run.functions {
        for comparison in &function.comparisons {
            let (name, build) = (function.name.as_str(), comparison.build.as_str());
            if tolerance_of(&experiment.limits, name, build) != comparison.tolerance {
                experiment.limits.push(Limit {
                    function: Some(glob::Pattern::escape(name)),
                    build: Some(glob::Pattern::escape(build)),
                    tolerance: Some(comparison.tolerance),
                    ..Limit::default()
                });
            }
        }
    }
}

/// An opened matrix.
pub struct Lab {
    pub experiment: Experiment,
    pub plan: Plan,
    pub cache: Cache,
    /// Processes at work at once.
    pub jobs: usize,
    /// Set by an interrupt.
    pub cancel: Arc<AtomicBool>,
    /// Nothing confines compilers and code under test.
    pub(super) no_sandbox: bool,
    pub(super) compilers: Compilers,
    /// For each implementation the functions as they are called there, and its sources, read when somebody first asks
    /// for what is in them.
    indices: OnceLock<Vec<Indexed>>,
    /// Said once, however often the lab compiles.
    told: AtomicBool,
    told_size: AtomicBool,
}

/// Reads a matrix file. What comes back can be changed before a [`Lab`] is made of it: other settings of the
/// search, fewer functions.
pub fn load(path: &Path, means: &Means) -> Result<Experiment, LabError> {
    let mut experiment = matrix::load(path)?;
    if !means.no_sandbox {
        hide();
        check_links(&experiment)?;
    }
    // Without it no tool can be started, and each would say so in words that mislead.
    let temporary = std::env::temp_dir();
    if !temporary.is_dir() {
        return Err(LabError::NoTemporaryFolder(temporary.display().to_string()));
    }
    let reach = tool_reach(&experiment, means);
    presets::apply(&mut experiment, &reach)?;
    Ok(experiment)
}

/// That every function can be searched as the settings say. A strategy that needs every input can take only
/// functions with few enough.
pub fn check_search(experiment: &Experiment) -> Result<(), LabError> {
    if experiment.search.strategy != StrategyName::Exhaustive {
        return Ok(());
    }
    let why = |f: &Function| Some(format!("\n  {}: {}", f.name, unfit_for_exhaustive(f)?));
    let functions: String = experiment.functions.iter().filter_map(why).collect();
    if functions.is_empty() {
        return Ok(());
    }
    Err(LabError::TooManyInputs { functions, matrix: printable(&experiment.path.display().to_string()) })
}

impl Lab {
    /// Opens a matrix file as it is.
    pub fn open(path: &Path, means: Means) -> Result<Lab, LabError> {
        Lab::new(load(path, &means)?, means)
    }

    /// Plans the builds of an experiment and opens the cache.
    pub fn new(experiment: Experiment, means: Means) -> Result<Lab, LabError> {
        // A process that was started for code under test would start others, and those again.
        if has_role() {
            return Err(LabError::NotServed);
        }
        if !means.no_sandbox {
            hide();
        }
        let plan = plan::expand(&experiment)?;
        let reach = tool_reach(&experiment, &means);
        let folder = means.cache.unwrap_or_else(Cache::default_folder);
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Lab {
            compilers: Compilers::new(reach),
            no_sandbox: means.no_sandbox,
            experiment,
            plan,
            cache: Cache::open(&folder)?.limited(means.cache_size),
            jobs: means.jobs.map_or_else(cpus, usize::from).max(1),
            cancel: means.cancel,
            indices: OnceLock::new(),
            told: AtomicBool::new(false),
            told_size: AtomicBool::new(false),
        })
    }

    /// How far apart from the baseline a build's results of a function may be.
    pub(super) fn tolerance(&self, function: usize, build: usize) -> Tolerance {
        let Experiment { functions, limits, .. } = &self.experiment;
        tolerance_of(limits, &functions[function].name, self.plan.builds[build].id.as_str())
    }

    /// What counts as equal between the baseline and a build.
    pub(super) fn equality(&self, function: &str, build: &BuildId) -> Equality {
        self.experiment.search.equality(tolerance_of(&self.experiment.limits, function, build.as_str()))
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// What a call of the code under test may use.
    pub fn limits(&self) -> Limits {
        let settings = &self.experiment.search;
        let timeout = Duration::from_millis(settings.timeout_ms);
        Limits { timeout, memory_mb: settings.memory_mb, jobs: self.jobs }
    }

    /// What compilers may use.
    pub(super) fn settings(&self) -> Settings<'_> {
        let (jobs, timeout) = (self.jobs, Settings::TIMEOUT);
        Settings { jobs, timeout, cancel: &self.cancel, compilers: &self.compilers }
    }

    /// Compiles builds of an experiment, which may be a part of the lab's own.
    pub(super) fn compile(
        &self,
        experiment: &Experiment,
        builds: &[Build],
        sink: &dyn EventSink,
    ) -> Result<Compiled, LabError> {
        self.check_declared(sink)?;
        let compiled = compile_all(experiment, builds, &self.cache, &self.settings(), sink)?;
        self.note_cache_size(sink);
        match compiled.interrupted {
            true => Err(LabError::Interrupted(Progress::Compiling)),
            false => Ok(compiled),
        }
    }

    /// Says, once, when what this lab uses is more than its cache may hold.
    pub(super) fn note_cache_size(&self, sink: &dyn EventSink) {
        let (limit, used) = (self.cache.limit(), self.cache.used_bytes());
        let CacheLimit::Bytes(most) = limit else { return };
        if used <= most || self.told_size.swap(true, Ordering::Relaxed) {
            return;
        }
        let text = format!(
            "what this command uses of the cache takes {}, more than its size of {limit} (--cache-size): that is kept, and \
             everything else in the cache goes",
            byte_text(used)
        );
        sink.send(Event::Note { text });
    }

    /// That what the matrix declares is what would be called, and what a user should know before that; once.
    pub(super) fn check_declared(&self, sink: &dyn EventSink) -> Result<(), LabError> {
        if self.told.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let mut declared = Declared::read(&self.experiment, self.indices());
        declared.ask(&self.experiment, (&self.plan.builds, self.plan.baseline), &self.compilers);
        for text in declared.finish()?.into_iter().chain(notes::cleared()).chain(self.confinement()) {
            sink.send(Event::Note { text });
        }
        Ok(())
    }

    /// The place of a function by name.
    pub fn function(&self, name: &str) -> Option<(usize, &Function)> {
        self.experiment.functions.iter().enumerate().find(|(_, f)| f.name == name)
    }

    /// The place of a build in the plan by name.
    pub fn build(&self, name: &str) -> Option<usize> {
        self.plan.builds.iter().position(|b| b.id.as_str() == name)
    }

    /// For each function of the experiment the numbers of its sources that are worth trying.
    pub fn literals(&self) -> Vec<Vec<f64>> {
        let Experiment { functions, search, .. } = &self.experiment;
        if !search.literals {
            return vec![Vec::new(); functions.len()];
        }
        let of_function = |n: usize| {
            let mut values: Vec<f64> = Vec::new();
            for (index, function) in self.indexed(n) {
                let known: BTreeSet<u64> = values.iter().map(|value| value.abs().to_bits()).collect();
                let fresh = index.values(function).into_iter();
                values.extend(fresh.filter(|value| !known.contains(&value.abs().to_bits())));
            }
            values
        };
        (0..functions.len()).map(of_function).collect()
    }

    /// What the sources of each implementation that has a function define, and the function as it is called there.
    pub fn indexed(&self, function: usize) -> impl Iterator<Item = (&SourceIndex, &Function)> {
        self.indices().iter().filter_map(move |(own, index)| Some((index, own[function].as_ref()?)))
    }

    pub(super) fn indices(&self) -> &[Indexed] {
        self.indices.get_or_init(|| indices(&self.experiment, self.compilers.reach()))
    }
}

/// Reads the sources of every implementation.
fn indices(experiment: &Experiment, reach: &ToolReach) -> Vec<Indexed> {
    let Experiment { implementations, functions, .. } = experiment;
    let read = |implementation: &Implementation| {
        let own: Vec<Option<Function>> = functions.iter().map(|f| implementation.function(f)).collect();
        let called: Vec<Function> = own.iter().flatten().cloned().collect();
        let index = SourceIndex::read(&implementation.sources, &called, &|path| reach.may_read(path));
        (own, index)
    };
    implementations.iter().map(read).collect()
}

/// What can be known of an experiment without compiling anything: its builds, and notes about them. What the
/// matrix declares is held against the sources.
pub fn planned(experiment: &Experiment, reach: &ToolReach) -> Result<(Plan, Vec<String>), LabError> {
    let plan = plan::expand(experiment)?;
    let indices = indices(experiment, reach);
    let declared = Declared::read(experiment, &indices);
    let unreachable = declared.unreachable.iter().filter(|function| function.is_static);
    let mut notes: Vec<String> = unreachable.map(|function| function.why.clone()).collect();
    notes.extend(declared.finish()?);
    notes.extend(plan::changed_winners(experiment, &plan.builds));
    notes.extend(notes::cleared());
    Ok((plan, notes))
}
