//! The planted functions compiled for real: searches through the pool, held against truth.toml.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::fp::{Scalar, parse_number};
use bitrift::model::{
    BuildId, EdgeKind, Function, FunctionResult, NoEvents, RangeResult, SearchSettings, StopReason,
};
use bitrift::pool::{FunctionJob, Limits, LoadPlan, Pool};
use bitrift::search::Task;
use bitrift::toolchain::{Compilers, ToolReach};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct Truth {
    pub name: String,
    pub needs: String,
    pub regions: Vec<Region>,
    pub peak_bits: Option<f64>,
}

/// A closed box; `lo` is the lower value or, as both ends are given, either of them.
#[derive(Clone, Debug, Deserialize)]
pub struct Region {
    pub lo: Vec<String>,
    pub hi: Vec<String>,
}

#[derive(Deserialize)]
struct TruthFile {
    function: Vec<Truth>,
}

pub struct PlantedLab {
    pub truths: Vec<Truth>,
    functions: Vec<Function>,
    builds: Vec<BuildId>,
    pool: Pool,
    /// Has the objects.
    _cache: Cache,
    _folder: tempfile::TempDir,
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/planted").join(name)
}

impl PlantedLab {
    pub fn open() -> PlantedLab {
        let text = std::fs::read_to_string(fixture("truth.toml")).unwrap();
        let truths = toml::from_str::<TruthFile>(&text).unwrap().function;
        let experiment = bitrift::matrix::load(&fixture("matrix.toml")).unwrap();
        let plan = bitrift::plan::expand(&experiment).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let cancel = AtomicBool::new(false);
        let settings = Settings {
            jobs: 2,
            timeout: Settings::TIMEOUT,
            cancel: &cancel,
            compilers: &Compilers::new(ToolReach::off()),
        };
        let compiled = compile_all(&experiment, &plan.builds, &cache, &settings, &NoEvents).unwrap();
        let objects: Vec<LoadPlan> = compiled
            .artifacts
            .iter()
            .map(|a| LoadPlan { build: a.build.clone(), object: a.object().unwrap().clone() })
            .collect();
        assert_eq!((plan.baseline, objects.len()), (0, 2), "the planted matrix is -O0 against -O2");
        let builds = objects.iter().map(|plan| plan.build.clone()).collect();
        let limits = Limits { timeout: Duration::from_secs(1), memory_mb: 4096, jobs: 2 };
        let pool = Pool::new(objects, limits, Arc::default()).with_program(env!("CARGO_BIN_EXE_bitrift"));
        PlantedLab { truths, functions: experiment.functions, builds, pool, _cache: cache, _folder: folder }
    }

    /// Functions that a search of some size must find.
    pub fn needing(&self, needs: &str) -> Vec<Truth> {
        self.truths.iter().filter(|truth| truth.needs == needs).cloned().collect()
    }

    /// Searches functions with each of the settings: results in the order of the settings within
    /// that of the functions.
    pub fn search(&self, truths: &[Truth], settings: &[SearchSettings]) -> Vec<Vec<FunctionResult>> {
        let job = |truth: &Truth, settings: &SearchSettings| {
            let function_index = self.functions.iter().position(|f| f.name == truth.name).unwrap();
            let function = self.functions[function_index].clone();
            let (builds, settings) = (self.builds.clone(), settings.clone());
            let task = Task { function, builds, settings, literals: Vec::new(), tolerances: Vec::new() };
            FunctionJob { function_index, task, builds: vec![0, 1] }
        };
        let jobs: Vec<FunctionJob> =
            truths.iter().flat_map(|t| settings.iter().map(move |s| job(t, s))).collect();
        let results = Mutex::new(BTreeMap::new());
        let on_done = |at, result, _| {
            results.lock().unwrap().insert(at, result);
        };
        self.pool.search(&jobs, &NoEvents, &on_done).unwrap();
        let results: Vec<FunctionResult> = results.into_inner().unwrap().into_values().collect();
        results.chunks(settings.len()).map(<[FunctionResult]>::to_vec).collect()
    }

    /// What is wrong with a result; nothing when it is the truth.
    pub fn complaint(&self, truth: &Truth, result: &FunctionResult) -> Option<String> {
        let function = self.functions.iter().find(|f| f.name == truth.name).unwrap();
        let types: Vec<Scalar> = function.coordinates.iter().map(|p| p.ty).collect();
        let ranges = &result.comparisons[0].ranges;
        if ranges.len() != truth.regions.len() {
            return Some(format!("{} ranges for {} regions", ranges.len(), truth.regions.len()));
        }
        if result.stop != StopReason::Complete {
            return Some(format!("stopped by {:?}", result.stop));
        }
        truth.regions.iter().find_map(|region| {
            let sides: Vec<Side> = (0..types.len()).map(|i| Side::new(types[i], region, i)).collect();
            let holding = |range: &&RangeResult| sides.iter().enumerate().all(|(i, s)| s.meets(range, i));
            let Some(range) = ranges.iter().find(holding) else {
                return Some(format!("{region:?} is missed"));
            };
            sides.iter().enumerate().find_map(|(i, side)| side.complaint(range, i, types.len()))
        })
    }
}

/// One side of a region.
struct Side {
    ty: Scalar,
    lo: u64,
    hi: u64,
}

impl Side {
    fn new(ty: Scalar, region: &Region, i: usize) -> Side {
        let [a, b] = [&region.lo[i], &region.hi[i]].map(|text| parse_number(ty, text).unwrap());
        let (lo, hi) = if ty.ordinal(a) <= ty.ordinal(b) { (a, b) } else { (b, a) };
        Side { ty, lo, hi }
    }

    fn ordinal(&self, bits: u64) -> i128 {
        self.ty.ordinal(bits).unwrap()
    }

    /// The place on the axis: binades for floats, values for integers.
    fn place(&self, bits: u64) -> f64 {
        let unit = if self.ty.is_float() { self.ty.axis_unit() } else { 1 };
        self.ty.axis(bits).unwrap().mag as f64 / unit as f64
    }

    fn meets(&self, range: &RangeResult, i: usize) -> bool {
        self.ordinal(range.lo[i]) <= self.ordinal(self.hi)
            && self.ordinal(self.lo) <= self.ordinal(range.hi[i])
            // Regions on both sides of zero share an ordinal.
            && [range.lo[i], range.hi[i]].iter().any(|&bits| {
                self.ty.is_negative(bits) == (self.ty.is_negative(self.lo) || self.ty.is_negative(self.hi))
            })
    }

    fn complaint(&self, range: &RangeResult, i: usize, params: usize) -> Option<String> {
        let (lo, hi) = (range.lo[i], range.hi[i]);
        let (from, to) =
            (self.ordinal(lo).max(self.ordinal(self.lo)), self.ordinal(hi).min(self.ordinal(self.hi)));
        let floats = self.ordinal(self.hi) - self.ordinal(self.lo) + 1;
        if (to - from + 1) * 100 < floats * 99 {
            return Some(format!("parameter {i}: {} of {floats} floats are held", to - from + 1));
        }
        // Several parameters: within a binade; one: within a tenth.
        let allowed = if params > 1 { 1.0 } else { 0.1 };
        for (got, truth) in [(lo, self.lo), (hi, self.hi)] {
            let off = (self.place(got) - self.place(truth)).abs();
            if off > allowed {
                return Some(format!("parameter {i}: a side is {off} off"));
            }
        }
        let edges = range.edges[i];
        let sharp = edges.lo == EdgeKind::Sharp && edges.hi == EdgeKind::Sharp;
        (!sharp).then(|| format!("parameter {i}: {edges:?}"))
    }
}
