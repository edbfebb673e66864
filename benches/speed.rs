//! What the lab adds to the time of the code under test, as ratios against a baseline measured in
//! the same run. `cargo bench --bench speed` prints the table of `results/speed.md`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::fp::Stream;
use bitrift::model::NoEvents;
use bitrift::pool::{Limits, LoadPlan, Pool, TimeRequest};

const BITRIFT: &str = env!("CARGO_BIN_EXE_bitrift");
const ROUNDS: usize = 15;
const INPUTS: usize = 1 << 16;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// One line of the table.
fn row(what: &str, value: String, target: &str) {
    println!("| {what} | {value} | {target} |");
}

fn main() {
    println!("| what | measured | target |\n|---|---|---|");
    evaluation();
    evolution();
    cores();
}

/// The shared objects of the two builds.
fn objects(cache: &Path) -> Vec<LoadPlan> {
    let experiment = bitrift::matrix::load(&root().join("benches/speed/matrix.toml")).unwrap();
    let plan = bitrift::plan::expand(&experiment).unwrap();
    let cache = Cache::open(cache).unwrap();
    let cancel = AtomicBool::new(false);
    let settings = Settings { jobs: 2, timeout: Settings::TIMEOUT, cancel: &cancel };
    let compiled = compile_all(&experiment, &plan.builds, &cache, &settings, &NoEvents).unwrap();
    let plan = |a: &bitrift::model::Artifact| LoadPlan {
        build: a.build.clone(),
        object: a.object().expect("the benchmark's builds compile").clone(),
    };
    compiled.artifacts.iter().map(plan).collect()
}

/// A worker's guarded batches against a C loop that calls the same two functions by pointer.
fn evaluation() {
    let folder = tempfile::tempdir().unwrap();
    let objects = objects(&folder.path().join("cache"));
    let plain = PlainLoop::build(folder.path(), &objects);
    let limits = Limits { timeout: Duration::from_secs(1), memory_mb: 4096, jobs: 1 };
    let pool = Pool::new(objects, limits, Arc::new(AtomicBool::new(false))).with_program(BITRIFT);
    let mut stream = Stream::new(1, &["speed"], 0);
    let inputs: Vec<u64> = (0..INPUTS).map(|_| (1.0 + stream.unit()).to_bits()).collect();
    for (batch, target) in [(1024, "at most 1.25"), (20, "at most 1.4")] {
        let mut ratios = Vec::new();
        let mut per_call = 0.0;
        for _ in 0..ROUNDS {
            let bare = plain.time(&inputs, batch);
            let request = TimeRequest {
                function_index: 0,
                arity: 1,
                builds: vec![0, 1],
                inputs: inputs.clone(),
                batch,
                repeats: 1,
            };
            let guarded = pool.time(&request).unwrap();
            ratios.push(guarded as f64 / bare);
            per_call = bare / (2 * INPUTS) as f64;
        }
        row(
            &format!("worker over plain C loop, {per_call:.0} ns a call, batches of {batch}"),
            format!("{:.3}", median(&mut ratios)),
            target,
        );
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
