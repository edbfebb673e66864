//! A matrix made ready: loaded, planned, compiled, its objects known to load.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::interrupt;
use crate::cli::{Exit, FunctionGlobs};
use crate::compile::{Cache, Compiled, Settings, compile_all};
use crate::literals::Mine;
use crate::matrix;
use crate::model::{
    Artifact, ArtifactStatus, BuildId, EventSink, Experiment, Function, FunctionStatus, Implementation,
    STRATEGIES, SearchSettings,
};
use crate::plan::{self, Plan};
use crate::pool::{Limits, LoadPlan, Pool};
use crate::presets;

/// What a command asks of a lab.
pub struct Wanted<'a> {
    pub matrix: &'a Path,
    pub functions: &'a FunctionGlobs,
    /// Changes to the matrix's search settings, and what must hold before anything is compiled.
    pub adjust: &'a dyn Fn(&mut Experiment) -> Result<(), Failure>,
    pub cache: Option<&'a Path>,
    pub jobs: Option<u16>,
}

/// A matrix with its builds compiled. Builds that are not there are rows with a reason.
pub struct Lab {
    pub experiment: Experiment,
    pub plan: Plan,
    /// One for each build of the plan.
    pub artifacts: Vec<Artifact>,
    /// Every header that was read.
    pub headers: BTreeSet<PathBuf>,
    pub compiled: usize,
    pub cached: usize,
    pub compile_time: Duration,
    pub jobs: usize,
    pub cache: Cache,
    /// Set by an interrupt.
    pub cancel: Arc<AtomicBool>,
    pub pool: Pool,
    /// Which object of the pool each build of the plan is, if it has one.
    objects: Vec<Option<usize>>,
    /// For objects that flush subnormals the object of the same code that does not.
    unflushed: BTreeMap<usize, usize>,
    /// For each implementation the functions as they are called there, and its sources, read when somebody first
    /// asks for what is in them.
    mines: OnceLock<Vec<(Vec<Option<Function>>, Mine)>>,
}

/// Loads a matrix and leaves out the functions that were not asked for.
pub fn load(path: &Path, functions: &FunctionGlobs) -> Result<Experiment, Failure> {
    let mut experiment = matrix::load(path)?;
    check_temporary()?;
    presets::apply(&mut experiment)?;
    let names: Vec<&str> = experiment.functions.iter().map(|f| f.name.as_str()).collect();
    check_globs(functions, &names, "of the matrix")?;
    experiment.functions.retain(|f| functions.matches(&f.name));
    Ok(experiment)
}

/// Without it no tool can be started, and each would say so in words that mislead.
fn check_temporary() -> Result<(), Failure> {
    let folder = std::env::temp_dir();
    if folder.is_dir() {
        return Ok(());
    }
    let folder = folder.display();
    Err(Failure::usage(format!(
        "the folder for temporary files, {folder}, is not there; make it or set TMPDIR"
    )))
}

/// Every glob must match a function; `whose` says where the names come from.
pub fn check_globs(functions: &FunctionGlobs, names: &[&str], whose: &str) -> Result<(), Failure> {
    let Some(glob) = functions.unmatched(names.iter().copied()) else { return Ok(()) };
    Err(no_such_function(glob, names, whose))
}

/// What to say when a name or glob matches no function.
pub fn no_such_function(word: &str, names: &[&str], whose: &str) -> Failure {
    let near = matrix::nearest(word, names.iter().copied());
    let meant = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    let list = matrix::quoted(names.iter().copied());
    Failure::usage(format!("no function matches `{word}`{meant}\nfunctions {whose}: {list}"))
}

/// Before anything is compiled.
pub fn check_strategy(name: &str) -> Result<(), Failure> {
    if STRATEGIES.contains(&name) {
        return Ok(());
    }
    let near =
        matrix::nearest(name, STRATEGIES).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    let known = matrix::quoted(STRATEGIES);
    Err(Failure::usage(format!("there is no strategy `{name}`{near}\nstrategies: {known}")))
}

/// The number of processes to use.
pub fn jobs(asked: Option<u16>) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cpus, usize::from)
}

impl Lab {
    /// Compiles everything this machine can. An unusable baseline is a failure: nothing can be
    /// compared.
    pub fn open(wanted: &Wanted<'_>, sink: &dyn EventSink) -> Result<Lab, Failure> {
        let mut experiment = load(wanted.matrix, wanted.functions)?;
        (wanted.adjust)(&mut experiment)?;
        let plan = plan::expand(&experiment)?;
        let cancel = interrupt::flag()?;
        let folder = wanted.cache.map_or_else(Cache::default_folder, Path::to_path_buf);
        let cache = Cache::open(&folder)?;
        let jobs = jobs(wanted.jobs);
        let start = Instant::now();
        let settings = Settings { jobs, timeout: Settings::TIMEOUT, cancel: &cancel };
        let Compiled { mut artifacts, objects: parts, compiled, cached, interrupted } =
            compile_all(&experiment, &plan.builds, &cache, &settings, sink)?;
        if interrupted {
            return Err(Failure::interrupted(" while compiling; what was compiled is in the cache"));
        }
        let compile_time = start.elapsed();
        let Loaded { pool, objects, unflushed } =
            load_objects(&mut artifacts, &experiment.search, jobs, &cancel);
        if interrupt::is_set(&cancel) {
            return Err(Failure::interrupted(""));
        }
        let lab = Lab {
            experiment,
            plan,
            artifacts,
            headers: parts.into_iter().flat_map(|part| part.headers).collect(),
            compiled,
            cached,
            compile_time,
            jobs,
            cache,
            cancel,
            pool,
            objects,
            unflushed,
            mines: OnceLock::new(),
        };
        lab.check_baseline()?;
        Ok(lab)
    }

    fn check_baseline(&self) -> Result<(), Failure> {
        let artifact = &self.artifacts[self.plan.baseline];
        let why = match &artifact.status {
            ArtifactStatus::Built(_) => return Ok(()),
            ArtifactStatus::Failed { message } => format!("\n{message}"),
            ArtifactStatus::Skipped { reason } => format!(" {reason}"),
        };
        Err(Failure::new(
            Exit::BaselineUnusable,
            format!("the baseline {} cannot be used:{why}", artifact.build),
        ))
    }

    /// The pool's object of a build of the plan.
    pub fn object(&self, build: usize) -> Option<usize> {
        self.objects[build]
    }

    /// For an object of the pool the one with the same code and flushing of subnormals off; None when
    /// it does not flush.
    pub fn unflushed(&self, object: usize) -> Option<usize> {
        self.unflushed.get(&object).copied()
    }

    /// The builds of the plan with the baseline first.
    pub fn baseline_first(&self) -> impl Iterator<Item = usize> {
        let baseline = self.plan.baseline;
        std::iter::once(baseline).chain((0..self.plan.builds.len()).filter(move |&b| b != baseline))
    }

    pub fn build_id(&self, build: usize) -> &BuildId {
        &self.plan.builds[build].id
    }

    /// Why a build has not got a function, in the tool's words; None when it has.
    pub fn lacks(&self, build: usize, function: usize) -> Option<String> {
        match &self.artifacts[build].status {
            ArtifactStatus::Built(object) => match &object.functions[function] {
                FunctionStatus::Ready { .. } => None,
                FunctionStatus::Missing { message } => Some(message.clone()),
            },
            ArtifactStatus::Failed { message } => Some(message.clone()),
            ArtifactStatus::Skipped { reason } => Some(reason.clone()),
        }
    }

    /// For each function of the experiment the numbers of its sources that are worth trying.
    pub fn literals(&self) -> Vec<Vec<f64>> {
        let Experiment { functions, search, .. } = &self.experiment;
        if !search.literals {
            return vec![Vec::new(); functions.len()];
        }
        let of_function = |n: usize| {
            let mut values: Vec<f64> = Vec::new();
            for (mine, function) in self.mined(n) {
                let known: BTreeSet<u64> = values.iter().map(|value| value.abs().to_bits()).collect();
                let fresh = mine.values(function).into_iter();
                values.extend(fresh.filter(|value| !known.contains(&value.abs().to_bits())));
            }
            values
        };
        (0..functions.len()).map(of_function).collect()
    }

    /// What the sources of each implementation that has a function define, and the function as it is called there.
    pub fn mined(&self, function: usize) -> impl Iterator<Item = (&Mine, &Function)> {
        let Experiment { implementations, functions, .. } = &self.experiment;
        let read = |implementation: &Implementation| {
            let own: Vec<Option<Function>> = functions.iter().map(|f| implementation.function(f)).collect();
            let called: Vec<Function> = own.iter().flatten().cloned().collect();
            let mine = Mine::read(&implementation.sources, &called);
            (own, mine)
        };
        let mines = self.mines.get_or_init(|| implementations.iter().map(read).collect());
        mines.iter().filter_map(move |(own, mine)| Some((mine, own[function].as_ref()?)))
    }

    /// The builds that have a function, baseline first, and why the others have not.
    pub fn cast(&self, function: usize) -> (Vec<usize>, BTreeMap<String, String>) {
        let (mut have, mut missing) = (Vec::new(), BTreeMap::new());
        for build in self.baseline_first() {
            match self.lacks(build, function) {
                None => have.push(build),
                // A build that is not there at all has its own row.
                Some(_) if self.object(build).is_none() => {}
                Some(why) => {
                    missing.insert(self.build_id(build).to_string(), why);
                }
            }
        }
        if have.first() != Some(&self.plan.baseline) {
            have.clear();
        }
        (have, missing)
    }

    /// A baseline without a single function leaves nothing to compare.
    pub fn check_functions(&self) -> Result<(), Failure> {
        let baseline = self.plan.baseline;
        let lacks: Option<Vec<String>> =
            (0..self.experiment.functions.len()).map(|function| self.lacks(baseline, function)).collect();
        let Some(why) = lacks.and_then(|messages| messages.into_iter().next()) else { return Ok(()) };
        let build = self.build_id(baseline);
        Err(Failure::new(
            Exit::BaselineUnusable,
            format!("the baseline {build} has none of the functions:\n{why}"),
        ))
    }

    /// The place of a function by name.
    pub fn function(&self, name: &str) -> Option<(usize, &Function)> {
        self.experiment.functions.iter().enumerate().find(|(_, f)| f.name == name)
    }
}

struct Loaded {
    pool: Pool,
    objects: Vec<Option<usize>>,
    unflushed: BTreeMap<usize, usize>,
}

/// A pool of every object that loads; one that does not load is a failed build.
fn load_objects(
    artifacts: &mut [Artifact],
    settings: &SearchSettings,
    jobs: usize,
    cancel: &Arc<AtomicBool>,
) -> Loaded {
    let limits =
        Limits { timeout: Duration::from_millis(settings.timeout_ms), memory_mb: settings.memory_mb, jobs };
    let plans = |artifacts: &[Artifact]| -> Vec<LoadPlan> {
        let plan = |a: &Artifact| Some(LoadPlan { build: a.build.clone(), object: a.object()?.clone() });
        artifacts.iter().filter_map(plan).collect()
    };
    let pool = Pool::new(plans(artifacts), limits, cancel.clone());
    let mut errors = pool.load_errors().iter();
    for artifact in artifacts.iter_mut().filter(|a| a.object().is_some()) {
        if let Some(Some(message)) = errors.next() {
            artifact.status = ArtifactStatus::Failed { message: message.clone() };
        }
    }
    let mut next = 0;
    let number = |artifact: &Artifact| {
        artifact.object().map(|_| {
            next += 1;
            next - 1
        })
    };
    let objects = artifacts.iter().map(number).collect();
    let mut plans = plans(artifacts);
    let calm = |(index, plan): (usize, &LoadPlan)| {
        Some((index, LoadPlan { build: plan.build.clone(), object: plan.object.unflushed()? }))
    };
    // Behind all others, and loaded only when asked.
    let calm: Vec<(usize, LoadPlan)> = plans.iter().enumerate().filter_map(calm).collect();
    let mut unflushed = BTreeMap::new();
    for (index, plan) in calm {
        unflushed.insert(index, plans.len());
        plans.push(plan);
    }
    Loaded { pool: Pool::new(plans, limits, cancel.clone()), objects, unflushed }
}
