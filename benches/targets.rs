//! What asking a runner costs: batches of 1024 through worker, relay and runner against a plain loop in the
//! same emulator. `cargo bench --bench targets` prints the table of results/targets.md.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::fp::Stream;
use bitrift::model::{Build, NoEvents};
use bitrift::pool::{Limits, LoadPlan, Pool, TimeRequest};
use bitrift::toolchain::{Compilers, ToolReach};

const BITRIFT: &str = env!("CARGO_BIN_EXE_bitrift");
const ROUNDS: usize = 31;
const INPUTS: usize = 1 << 16;
const BATCH: usize = 1024;

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let experiment = bitrift::matrix::load(&root.join("benches/targets/matrix.toml")).unwrap();
    let builds = bitrift::plan::expand(&experiment).unwrap().builds;
    let cache = Cache::open(&folder.path().join("cache")).unwrap();
    let cancel = AtomicBool::new(false);
    let settings = Settings {
        jobs: 2,
        timeout: Settings::TIMEOUT,
        cancel: &cancel,
        compilers: &Compilers::new(ToolReach::off()),
    };
    let compiled = compile_all(&experiment, &builds, &cache, &settings, &NoEvents).unwrap();
    println!(
        "| target | ns a call, plain loop | ns a call, through the runner | share of the loop's throughput | target |"
    );
    println!("|---|---|---|---|---|");
    let mut stream = Stream::new(1, &["targets"], 0);
    let inputs: Vec<u64> = (0..INPUTS).map(|_| (1.0 + stream.unit()).to_bits()).collect();
    for (build, artifact) in builds.iter().zip(&compiled.artifacts).filter(|(b, _)| !b.is_loaded()) {
        let object = artifact.object().unwrap_or_else(|| panic!("{:?}", artifact.status)).clone();
        let plan = LoadPlan { build: artifact.build.clone(), object };
        let limits = Limits { timeout: Duration::from_secs(1), memory_mb: 4096, jobs: 1 };
        let pool = Pool::new(vec![plan], limits, Arc::new(AtomicBool::new(false))).with_program(BITRIFT);
        let program = plain_loop(build, &root, folder.path());
        let (mut shares, mut bare_ns, mut asked_ns) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let bare = run_loop(build, &program) / INPUTS as f64;
            let request = TimeRequest {
                function_index: 0,
                arity: 1,
                width: 1,
                builds: vec![0],
                inputs: inputs.clone(),
                batch: BATCH,
                repeats: 1,
            };
            let asked = pool.time(&request).unwrap() as f64 / INPUTS as f64;
            shares.push(bare / asked);
            bare_ns.push(bare);
            asked_ns.push(asked);
        }
        let [share, bare, asked] = [shares, bare_ns, asked_ns].map(median);
        println!("| {} | {bare:.0} | {asked:.0} | {:.0} % | at least 80 % |", build.target, share * 100.0);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The loop as a program of the build's target.
fn plain_loop(build: &Build, root: &Path, folder: &Path) -> PathBuf {
    let program = folder.join(format!("loop-{}", build.target));
    let status = Command::new(&build.command)
        .args(["-O2", "-static", "-o"])
        .arg(&program)
        .args([root.join("benches/targets/loop.c"), root.join("benches/targets/work.c")])
        .arg("-lm")
        .status();
    assert!(status.unwrap().success(), "{} failed", build.command);
    program
}

/// Nanoseconds of `INPUTS` calls.
fn run_loop(build: &Build, program: &Path) -> f64 {
    let mut argv = build.runner.iter().map(String::as_ref).chain([program.as_os_str()]);
    let output = Command::new(argv.next().unwrap()).args(argv).arg(INPUTS.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}
