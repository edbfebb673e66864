//! What the lab adds to the time of the code under test, as ratios against a baseline measured in
//! the same run. `cargo bench --bench speed` prints the table of `results/speed.md`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::eval::{EvalError, Evaluator, Fake};
use bitrift::fp::Stream;
use bitrift::model::{Budget, BuildId, NoEvents, Outcome, Outcomes, SearchSettings};
use bitrift::pool::{Limits, LoadPlan, Pool, TimeRequest};
use bitrift::search::{Task, Unit, run_unit};
use bitrift::toolchain::{Compilers, ToolReach};

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

/// The shared objects of the two builds, there for as long as the cache is open.
fn objects(cache: &Path) -> (Cache, Vec<LoadPlan>) {
    let experiment = bitrift::matrix::load(&root().join("benches/speed/matrix.toml")).unwrap();
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

/// A worker's guarded batches against a C loop that calls the same two functions by pointer.
fn evaluation() {
    let folder = tempfile::tempdir().unwrap();
    let (_cache, objects) = objects(&folder.path().join("cache"));
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
                width: 1,
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

/// A C loop over the same inputs, compiled as a program would be.
struct PlainLoop {
    run: libloading::os::unix::Symbol<RunLoop>,
    functions: Vec<libloading::os::unix::Symbol<Work>>,
    // Keeps the code mapped.
    _libraries: Vec<libloading::os::unix::Library>,
}

type Work = unsafe extern "C" fn(f64) -> f64;
type RunLoop = unsafe extern "C" fn(Work, *const f64, *mut f64, usize);

impl PlainLoop {
    fn build(folder: &Path, objects: &[LoadPlan]) -> PlainLoop {
        let (source, library) = (folder.join("loop.c"), folder.join("loop.so"));
        let text = "#include <stddef.h>\nvoid run(double (*f)(double), const double *in, double *out, size_t n) {\n\
                    for (size_t i = 0; i < n; i++) out[i] = f(in[i]);\n}\n";
        std::fs::write(&source, text).unwrap();
        let status =
            Command::new("gcc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(status.unwrap().success());
        let mut libraries = vec![load(&library)];
        libraries.extend(objects.iter().map(|plan| load(&plan.object.path)));
        // SAFETY: the names are those of the C above and of benches/speed/work.c, with these types.
        let run = unsafe { libraries[0].get::<RunLoop>(b"run\0") }.unwrap();
        // SAFETY: as above.
        let work =
            |library: &libloading::os::unix::Library| unsafe { library.get::<Work>(b"work\0") }.unwrap();
        let functions = libraries[1..].iter().map(work).collect();
        PlainLoop { run, functions, _libraries: libraries }
    }

    /// Nanoseconds for all inputs on both builds, in batches.
    fn time(&self, inputs: &[u64], batch: usize) -> f64 {
        let inputs: Vec<f64> = inputs.iter().map(|&bits| f64::from_bits(bits)).collect();
        let mut out = vec![0.0; batch];
        let start = Instant::now();
        for part in inputs.chunks(batch) {
            for function in &self.functions {
                // SAFETY: `out` has room for a batch, and the function takes and returns a double.
                unsafe { (self.run)(**function, part.as_ptr(), out.as_mut_ptr(), part.len()) };
                std::hint::black_box(&mut out);
            }
        }
        start.elapsed().as_nanos() as f64
    }
}

fn load(path: &Path) -> libloading::os::unix::Library {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the objects come from the C of this benchmark and have no constructors.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.unwrap()
}

/// Time spent inside evaluations.
struct Clocked {
    inner: Fake,
    inside: Duration,
}

impl Evaluator for Clocked {
    fn arity(&self) -> usize {
        self.inner.arity()
    }

    fn builds(&self) -> usize {
        self.inner.builds()
    }

    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError> {
        let start = Instant::now();
        let result = self.inner.evaluate(build, inputs, out);
        self.inside += start.elapsed();
        result
    }
}

/// What differential evolution adds to an evaluation: time of its units outside the evaluator.
fn evolution() {
    let experiment = bitrift::matrix::load(&root().join("benches/speed/matrix.toml")).unwrap();
    let settings = SearchSettings { budget: Budget::Evaluations(2_000_000), ..SearchSettings::default() };
    let builds = vec![BuildId("a".into()), BuildId("b".into())];
    let function = experiment.functions[0].clone();
    let task = Task { function, builds, settings, literals: Vec::new(), tolerances: Vec::new() };
    // Hard to settle: the bits of the input decide, so that no population converges early.
    let variant = |x: &[u64]| Outcome::Value(x[0] ^ (x[0].wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40));
    let fake = Fake::new(1, vec![Box::new(|x: &[u64]| Outcome::Value(x[0])), Box::new(variant)]);
    let mut clocked = Clocked { inner: fake, inside: Duration::ZERO };
    let mut strategy = bitrift::search::create(&task);
    let (mut outside, mut evaluations) = (Duration::ZERO, 0);
    while strategy.next_phase() {
        while let Some(unit) = strategy.next_unit() {
            clocked.inside = Duration::ZERO;
            let start = Instant::now();
            let answer = run_unit(&task, &unit, &mut clocked).unwrap();
            if matches!(unit, Unit::Evolve(_)) {
                outside += start.elapsed().saturating_sub(clocked.inside);
                evaluations += answer.evaluations();
            }
            strategy.absorb(answer);
        }
    }
    let each = outside.as_nanos() as f64 / evaluations as f64;
    row(
        &format!("differential evolution, {evaluations} evaluations"),
        format!("{each:.0} ns each"),
        "at most 200 ns",
    );
}

/// CPU over wall time of whole runs on two cores.
fn cores() {
    let folder = tempfile::tempdir().unwrap();
    for (functions, globs) in [("two functions", "long_work*"), ("one function", "long_work")] {
        let run = |out: &str, budget: &str| {
            let (wall, cpu) = (Instant::now(), children_cpu());
            let status = Command::new(BITRIFT)
                .args(["run", "benches/speed/matrix.toml", "--quiet", "--jobs", "2", "--budget", budget])
                .args(["--function", globs])
                .arg("--cache")
                .arg(folder.path().join("cache"))
                .arg("--out")
                .arg(folder.path().join(out))
                .current_dir(root())
                .stdout(std::process::Stdio::null())
                .status();
            assert!(status.unwrap().success());
            (wall.elapsed().as_secs_f64(), children_cpu() - cpu)
        };
        // Compiles, so that the second run only searches.
        run(&format!("{functions} first"), "paper");
        let (wall, cpu) = run(functions, "3000000");
        row(
            &format!("CPU over wall time, two cores, {functions}, {wall:.1} s"),
            format!("{:.2}", cpu / wall),
            "at least 1.7",
        );
    }
}

/// User and system seconds of children that have ended.
fn children_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = text.rsplit_once(')').unwrap().1;
    let ticks: f64 = fields.split_whitespace().skip(13).take(2).map(|f| f.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}
