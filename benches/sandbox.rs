//! What confining code under test costs: the same batches in workers with and without a sandbox, and whole runs with and without.
//! Rounds alternate, so that a busy machine is busy for both. `cargo bench --bench sandbox` prints the table of `results/sandbox.md`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::fp::Stream;
use bitrift::model::NoEvents;
use bitrift::pool::{Limits, LoadPlan, Pool, TimeRequest};
use bitrift::sandbox::{Held, Sandbox};
use bitrift::toolchain::{Compilers, ToolReach};

const BITRIFT: &str = env!("CARGO_BIN_EXE_bitrift");
const MATRIX: &str = "benches/speed/matrix.toml";
const ROUNDS: usize = 41;
const INPUTS: usize = 1 << 16;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    println!("| what | measured | target |\n|---|---|---|");
    batches(&folder.path().join("cache"));
    runs(folder.path());
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The objects of the builds, there for as long as the cache is open.
fn objects(cache: &Path) -> (Cache, Vec<LoadPlan>) {
    let experiment = bitrift::matrix::load(&root().join(MATRIX)).unwrap();
    let plan = bitrift::plan::expand(&experiment).unwrap();
    let cache = Cache::open(cache).unwrap();
    let cancel = AtomicBool::new(false);
    let settings = Settings {
        jobs: 2,
        timeout: Settings::TIMEOUT,
        cancel: &cancel,
        compilers: &Compilers::new(ToolReach::off()),
    };
    let compiled = compile_all(&experiment, &plan.builds, &cache, &settings, &NoEvents).unwrap();
    let plan = |a: &bitrift::model::Artifact| LoadPlan {
        build: a.build.clone(),
        object: a.object().expect("the benchmark's builds compile").clone(),
    };
    let objects = compiled.artifacts.iter().map(plan).collect();
    (cache, objects)
}

/// Guarded batches in a confined worker over the same in one that is not.
fn batches(cache: &Path) {
    let (_cache, objects) = objects(cache);
    let limits = Limits { timeout: Duration::from_secs(1), memory_mb: 4096, jobs: 1 };
    let pool = |sandbox| {
        let pool = Pool::new(objects.clone(), limits, Arc::new(AtomicBool::new(false)));
        pool.with_program(BITRIFT).in_sandbox(sandbox)
    };
    let (open, confined) = (pool(Sandbox::off()), pool(Sandbox::new(Held::here(), Vec::new())));
    let mut stream = Stream::new(1, &["sandbox"], 0);
    let inputs: Vec<u64> = (0..INPUTS).map(|_| (1.0 + stream.unit()).to_bits()).collect();
    for batch in [1024, 20] {
        let builds = vec![0, 1];
        let time = |pool: &Pool| {
            let (builds, inputs) = (builds.clone(), inputs.clone());
            let request =
                TimeRequest { function_index: 0, arity: 1, width: 1, builds, inputs, batch, repeats: 1 };
            // Nanoseconds stay far below 2^53.
            pool.time(&request).unwrap() as f64
        };
        let ratios = (0..ROUNDS).map(|round| alternate(round, || time(&confined), || time(&open)));
        let ratio = median(ratios.map(|(confined, open)| confined / open).collect());
        println!(
            "| confined worker over an open one, 100 ns a call, batches of {batch} | {ratio:.3} | at most 1.02 |"
        );
    }
}

/// Both, now one first and now the other.
fn alternate(round: usize, one: impl Fn() -> f64, other: impl Fn() -> f64) -> (f64, f64) {
    if round.is_multiple_of(2) {
        let first = one();
        return (first, other());
    }
    let second = other();
    (one(), second)
}

/// Whole runs that compile nothing.
fn runs(folder: &Path) {
    let run = |flags: &[&str]| {
        let start = Instant::now();
        let status = Command::new(BITRIFT)
            .args(["run", MATRIX, "--quiet", "--overwrite", "--budget", "paper", "--function", "work"])
            .args(flags)
            .arg("--cache")
            .arg(folder.join("cache"))
            .arg("--out")
            .arg(folder.join("run"))
            .current_dir(root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success());
        start.elapsed().as_secs_f64() * 1e3
    };
    run(&[]);
    let times: Vec<(f64, f64)> =
        (0..ROUNDS).map(|round| alternate(round, || run(&[]), || run(&["--no-sandbox"]))).collect();
    let open = median(times.iter().map(|(_, open)| *open).collect());
    let more = median(times.iter().map(|(confined, open)| confined - open).collect());
    println!("| a confined run, longer than an open one of {open:.0} ms by | {more:.1} ms | at most 20 ms |");
}
