//! How long compiling keeps a search waiting: a thousand functions by twenty builds, with every shim in a file of
//! its own and with shims in groups. `cargo bench --bench shims` prints the table of results/shims.md.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bitrift::compile::{Cache, Settings, compile_grouped};
use bitrift::model::{Build, Experiment, FunctionStatus, NoEvents};
use bitrift::toolchain::{Compilers, ToolReach};

const FUNCTIONS: usize = 1000;
const COMPILERS: [&str; 2] = ["gcc", "clang-16"];
const FLAGS: [&str; 10] = [
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Os",
    "-Ofast",
    "-O2 -march=native",
    "-O3 -march=native",
    "-O2 -ffast-math",
    "-O3 -ffp-contract=off",
];

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.toml");
    write_matrix(folder.path());
    let experiment = bitrift::matrix::load(&path).unwrap();
    let builds = bitrift::plan::expand(&experiment).unwrap().builds;
    println!(
        "| shims in a file at most | s until the first evaluation can start | tools that ran | times sooner | wanted |"
    );
    println!("|---|---|---|---|---|");
    let mut alone = None;
    for most in [1, 64] {
        let (seconds, tools) =
            compile(&experiment, &builds, &folder.path().join(format!("cache-{most}")), most);
        let sooner = *alone.get_or_insert(seconds) / seconds;
        let wanted = if most == 1 { "" } else { "at least 8" };
        println!("| {most} | {seconds:.1} | {tools} | {sooner:.1} | {wanted} |");
    }
}

/// Seconds, with nothing in the cache, and the number of tools that ran.
fn compile(experiment: &Experiment, builds: &[Build], cache: &Path, most: usize) -> (f64, usize) {
    let cache = Cache::open(cache).unwrap();
    let cancel = AtomicBool::new(false);
    let settings = Settings {
        jobs: 2,
        timeout: Settings::TIMEOUT,
        cancel: &cancel,
        compilers: &Compilers::new(ToolReach::off()),
    };
    let start = Instant::now();
    let compiled = compile_grouped(experiment, builds, &cache, &settings, &NoEvents, most).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    for artifact in &compiled.artifacts {
        let object = artifact.object().unwrap_or_else(|| panic!("{:?}", artifact.status));
        let is_ready = |status: &FunctionStatus| matches!(status, FunctionStatus::Ready { .. });
        assert!(object.functions.iter().all(is_ready), "{} lacks functions", artifact.build);
    }
    (seconds, compiled.compiled)
}

fn write_matrix(folder: &Path) {
    let source: String =
        (0..FUNCTIONS).map(|n| format!("double f{n}(double x) {{ return x * {n} + 1; }}\n")).collect();
    fs::write(folder.join("functions.c"), source).unwrap();
    let mut text = String::from("[lab]\nname = \"shims\"\n[sources]\nfiles = [\"functions.c\"]\n");
    for compiler in COMPILERS {
        text.push_str(&format!("[[compiler]]\nname = \"{compiler}\"\n"));
    }
    for (number, flags) in FLAGS.iter().enumerate() {
        let args: Vec<String> = flags.split(' ').map(|flag| format!("\"{flag}\"")).collect();
        text.push_str(&format!("[[flags]]\nname = \"set{number}\"\nargs = [{}]\n", args.join(", ")));
    }
    for number in 0..FUNCTIONS {
        text.push_str(&format!("[[function]]\nsignature = \"double f{number}(double x)\"\n"));
    }
    fs::write(folder.join("matrix.toml"), text).unwrap();
}
