//! Whole searches through the pool, over functions that misbehave in a known region.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bitrift::fp::Scalar;
use bitrift::model::{
    Budget, BuildId, Callee, ControlWords, Coordinate, Domain, Event, EventSink, FaultKind, Function,
    FunctionResult, NoEvents, SearchSettings, StopReason,
};
use bitrift::pool::{FunctionJob, FunctionTiming, Limits, LoadPlan, Pool};
use bitrift::search::Task;

use crate::objects::{Expected, Fixture, compile, compile_faults, fixtures, plan};
use crate::processes::Quiet;

const TIMEOUT: Duration = Duration::from_millis(50);

fn pool_of(objects: Vec<LoadPlan>, jobs: usize) -> Pool {
    let limits = Limits { timeout: TIMEOUT, memory_mb: 2048, jobs };
    Pool::new(objects, limits, Arc::default()).with_program(env!("CARGO_BIN_EXE_bitrift"))
}

fn settings() -> SearchSettings {
    SearchSettings { budget: Budget::Paper, max_faults: 3, timeout_ms: 50, ..Default::default() }
}

fn job(name: &str, function_index: usize, builds: &[(usize, &str)], settings: SearchSettings) -> FunctionJob {
    let param = Coordinate {
        name: "x".into(),
        ty: Scalar::F64,
        domain: Domain::all(Scalar::F64),
        domain_text: String::new(),
    };
    let function = Function::of_scalars(
        name,
        vec![param],
        Scalar::F64,
        Callee::Signature(format!("double {name}(double x)")),
    );
    let ids = builds.iter().map(|(_, id)| BuildId((*id).into())).collect();
    let task = Task { function, builds: ids, settings, literals: Vec::new(), tolerances: Vec::new() };
    FunctionJob { function_index, task, builds: builds.iter().map(|(object, _)| *object).collect() }
}

type Results = BTreeMap<usize, (FunctionResult, FunctionTiming)>;

fn search(pool: &Pool, jobs: &[FunctionJob], sink: &dyn EventSink) -> Results {
    let results = Mutex::new(BTreeMap::new());
    let on_done = |job, result, timing| {
        assert!(results.lock().unwrap().insert(job, (result, timing)).is_none());
    };
    pool.search(jobs, sink, &on_done).unwrap();
    results.into_inner().unwrap()
}

/// Fixtures that cost seconds a fault are tried elsewhere, one input at a time.
fn quick_fixtures() -> Vec<(usize, &'static Fixture)> {
    fixtures().iter().enumerate().filter(|(_, f)| f.name != "fault_asleep").collect()
}

/// Objects 0 and 1 are healthy, 2 is faulty.
fn objects() -> Vec<LoadPlan> {
    let healthy = compile_faults("healthy", &[]);
    let again = LoadPlan { build: BuildId("healthy-again".into()), ..healthy.clone() };
    vec![healthy, again, compile_faults("faulty", &["-DFAULTY"])]
}

fn fault_jobs(builds: &[(usize, &str)]) -> Vec<FunctionJob> {
    let jobs = quick_fixtures().into_iter();
    jobs.map(|(index, fixture)| job(&fixture.name, index, builds, settings())).collect()
}

const ALL: [(usize, &str); 3] = [(0, "healthy"), (1, "healthy-again"), (2, "faulty")];

/// Checks what a search says about the faulty build against what its file says.
fn check(fixture: &Fixture, result: &FunctionResult) {
    let name = &fixture.name;
    assert!(result.faults.iter().all(|record| record.build == 2), "{name}: {:?}", result.faults);
    let kinds: Vec<String> = result.faults.iter().map(|record| record.kind.to_string()).collect();
    match &fixture.expected {
        Expected::None => assert!(kinds.is_empty(), "{name}: {kinds:?}"),
        Expected::Kind(kind) => assert_eq!(kinds, [kind.as_str()], "{name}"),
        Expected::Nondeterministic => {
            assert_eq!(kinds, ["nondeterministic"], "{name}");
            let comparison = &result.comparisons[1];
            assert_eq!(comparison.stop, StopReason::Nondeterministic, "{name}");
            assert!(comparison.ranges.is_empty() && comparison.witness.is_none(), "{name}");
        }
        Expected::Crash => {
            let signal = |kind: FaultKind| matches!(kind, FaultKind::Signal(_) | FaultKind::StateDependent);
            assert!(!kinds.is_empty() && result.faults.iter().all(|r| signal(r.kind)), "{name}: {kinds:?}");
        }
        Expected::Any => return,
    }
    for example in result.faults.iter().flat_map(|record| &record.examples) {
        assert!((2.0..4.0).contains(&f64::from_bits(example[0])), "{name}: {example:?}");
    }
}

#[test]
fn a_search_names_every_fault_and_the_healthy_builds_do_not_notice() {
    let _quiet = Quiet::begin();
    let (jobs, healthy_jobs) = (fault_jobs(&ALL), fault_jobs(&ALL[..2]));
    let all = search(&pool_of(objects(), 2), &jobs, &NoEvents);
    let without = search(&pool_of(objects(), 2), &healthy_jobs, &NoEvents);
    assert_eq!(all.len(), jobs.len());
    for (position, (_, fixture)) in quick_fixtures().into_iter().enumerate() {
        let (result, healthy) = (&all[&position].0, &without[&position].0);
        check(fixture, result);
        assert_eq!(result.comparisons[0], healthy.comparisons[0], "{}", fixture.name);
        assert!(healthy.faults.is_empty() && healthy.comparisons[0].ranges.is_empty(), "{}", fixture.name);
    }
}

#[test]
fn results_are_the_same_for_one_worker_and_for_two() {
    let _quiet = Quiet::begin();
    // What a heap overrun shows is luck.
    let mut jobs = fault_jobs(&ALL);
    jobs.retain(|job| job.task.function.name != "fault_heap_overrun");
    let one = search(&pool_of(objects(), 1), &jobs, &NoEvents);
    let two = search(&pool_of(objects(), 2), &jobs, &NoEvents);
    for (position, job) in jobs.iter().enumerate() {
        assert_eq!(one[&position].0, two[&position].0, "{}", job.task.function.name);
    }
}

#[test]
fn a_build_that_does_not_load_is_left_out_and_named() {
    let _quiet = Quiet::begin();
    let source = "double f(double x) { return x >= 8 && x < 64 ? x * 1.0000001 : x; }";
    let good =
        plan("good", compile("search-good", "double f(double x) { return x; }", &[]), ControlWords::IEEE);
    let bad = compile("search-bad", "double g(double); double f(double x) { return g(x); }", &[]);
    let objects = vec![
        good,
        plan("bad", bad, ControlWords::IEEE),
        plan("other", compile("search-other", source, &[]), ControlWords::IEEE),
    ];
    let notes = Notes::default();
    let jobs = [
        job("f", 0, &[(0, "good"), (1, "bad"), (2, "other")], settings()),
        job("f", 0, &[(1, "bad"), (0, "good")], settings()),
    ];
    let results = search(&pool_of(objects, 2), &jobs, &notes);
    let comparisons = &results[&0].0.comparisons;
    assert_eq!(comparisons.iter().map(|c| c.variant).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(comparisons[0].stop, StopReason::Missing);
    assert_eq!(comparisons[1].ranges.len(), 1);
    assert!(results[&0].0.samples.iter().all(|sample| sample.bits.len() == 2 && sample.bits[0] == 0.0));
    assert_eq!(results[&1].0.stop, StopReason::Missing);
    assert!(notes.0.lock().unwrap().iter().any(|n| n.contains("build bad is left out")));
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl EventSink for Notes {
    fn send(&self, event: Event) {
        if let Event::Note { text } = event {
            self.0.lock().unwrap().push(text);
        }
    }
}

/// A function that takes about 20 microseconds, and 1.5 timeouts of CPU time in [2, 4).
const SLOW: &str = "#include <time.h>
    static double now(void) {
        struct timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return t.tv_sec + 1e-9 * t.tv_nsec;
    }
    double f(double x) {
        double end = now() + (x >= 2 && x < 4 ? LONG : 20e-6);
        while (now() < end) {}
        return x;
    }";

#[test]
fn a_deadline_stops_a_function_and_says_so() {
    let _quiet = Quiet::begin();
    let path = compile("deadline", SLOW, &["-DLONG=20e-6"]);
    let objects = vec![plan("a", path.clone(), ControlWords::IEEE), plan("b", path, ControlWords::IEEE)];
    let budget = Budget::Evaluations(10_000_000);
    let settings = SearchSettings { deadline_s: Some(0.5), budget, ..settings() };
    let begun = Instant::now();
    let results = search(&pool_of(objects, 2), &[job("f", 0, &[(0, "a"), (1, "b")], settings)], &NoEvents);
    assert_eq!(results[&0].0.stop, StopReason::Deadline);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn calls_close_to_the_timeout_are_counted() {
    let _quiet = Quiet::begin();
    for (name, long) in [("close-below", "-DLONG=0.035"), ("close-above", "-DLONG=0.075")] {
        let healthy = compile("close", SLOW, &["-DLONG=20e-6"]);
        let slow = compile(name, SLOW, &[long]);
        let objects = vec![plan("a", healthy, ControlWords::IEEE), plan("b", slow, ControlWords::IEEE)];
        let jobs = [job("f", 0, &[(0, "a"), (1, "b")], settings())];
        let (result, timing) = &search(&pool_of(objects, 2), &jobs, &NoEvents)[&0];
        assert!(timing.near_timeouts > 0, "{name}: {timing:?}");
        let kinds: Vec<FaultKind> = result.faults.iter().map(|record| record.kind).collect();
        let expected: &[FaultKind] = if name == "close-above" { &[FaultKind::Timeout] } else { &[] };
        assert_eq!(kinds, expected, "{name}");
    }
}
