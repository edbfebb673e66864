//! Code under test misbehaves; the pool does not. Real objects from fixtures/faults, real processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bitrift::eval::EvalError;
use bitrift::model::{ControlWords, FaultKind, Outcome};
use bitrift::pool::{Limits, LoadPlan, Mode, Pool, PoolError, Question, TimeRequest};

use crate::objects::{Expected, Fixture, compile, compile_faults, fixtures, plan};
use crate::processes::{Quiet, ours};

const TIMEOUT: Duration = Duration::from_millis(50);
const LIMITS: Limits = Limits { timeout: TIMEOUT, memory_mb: 2048, jobs: 2 };

fn pool_of(objects: Vec<LoadPlan>, limits: Limits) -> Pool {
    Pool::new(objects, limits, Arc::default()).with_program(env!("CARGO_BIN_EXE_bitrift"))
}

/// The healthy build and the faulty one.
fn faults_pool() -> Pool {
    pool_of(vec![compile_faults("healthy", &[]), compile_faults("faulty", &["-DFAULTY"])], LIMITS)
}

/// Healthy inputs with a few from the region [2, 4) between them, first and last of it included.
fn inputs() -> Vec<u64> {
    let mut inputs: Vec<f64> = (0..40).map(|k| f64::from(k) * 0.7 - 30.0).collect();
    inputs[0] = 5e-324;
    inputs[7] = 2.0;
    inputs[20] = 3.3;
    inputs[21] = 4.0f64.next_down();
    inputs[30] = 4.0;
    inputs[31] = 2.0f64.next_down();
    inputs.into_iter().map(f64::to_bits).collect()
}

fn in_region(bits: u64) -> bool {
    (2.0..4.0).contains(&f64::from_bits(bits))
}

/// Outcomes of inputs of a function with one parameter.
fn evaluate(
    pool: &Pool,
    function: usize,
    object: usize,
    inputs: &[u64],
    mode: Mode,
) -> Result<Vec<Outcome>, EvalError> {
    let question = Question { function, arity: 1, width: 1, inputs: inputs.to_vec(), mode };
    pool.ask(object, &[question]).unwrap().remove(0).map(|outcomes| outcomes.firsts().to_vec())
}

fn healthy(pool: &Pool, function: usize, inputs: &[u64]) -> Vec<Outcome> {
    evaluate(pool, function, 0, inputs, Mode::Together).unwrap()
}

/// Checks outcomes of the faulty build against what its file says.
fn check(fixture: &Fixture, inputs: &[u64], healthy: &[Outcome], faulty: &[Outcome]) {
    assert_eq!(inputs.len(), faulty.len(), "{}", fixture.name);
    for ((&input, &expected), &outcome) in inputs.iter().zip(healthy).zip(faulty) {
        let x = f64::from_bits(input);
        let what = format!("{} at {x}: {outcome:?}", fixture.name);
        match (&fixture.expected, in_region(input)) {
            // A heap that was overrun may show it anywhere; the values that come back are right.
            (Expected::Any, _) => {
                assert!(outcome == expected || matches!(outcome, Outcome::Fault(_)), "{what}")
            }
            (_, false) | (Expected::None, true) => assert_eq!(outcome, expected, "{what}"),
            (Expected::Crash, true) => {
                assert!(matches!(outcome, Outcome::Fault(FaultKind::Signal(_))), "{what}")
            }
            (Expected::Kind(kind), true) => match outcome {
                Outcome::Fault(fault) => assert_eq!(fault.to_string(), *kind, "{what}"),
                Outcome::Value(_) => panic!("{what}, not {kind}"),
            },
            (Expected::Nondeterministic, true) => assert_ne!(outcome, expected, "{what}"),
        }
    }
}

#[test]
fn every_fault_comes_back_as_the_outcome_of_its_own_input() {
    let _quiet = Quiet::begin();
    let (pool, inputs) = (faults_pool(), inputs());
    for (function, fixture) in fixtures().iter().enumerate() {
        let expected = healthy(&pool, function, &inputs);
        let outcomes = evaluate(&pool, function, 1, &inputs, Mode::Together).unwrap();
        check(fixture, &inputs, &expected, &outcomes);
    }
}

#[test]
fn alone_in_a_fresh_process_every_fault_repeats() {
    let _quiet = Quiet::begin();
    let (pool, inputs) = (faults_pool(), [1.0, 3.0, 3.0, 5.0].map(f64::to_bits));
    for (function, fixture) in fixtures().iter().enumerate() {
        let expected = healthy(&pool, function, &inputs);
        let outcomes = evaluate(&pool, function, 1, &inputs, Mode::Alone).unwrap();
        check(fixture, &inputs, &expected, &outcomes);
        // No history, no difference: the counter of the nondeterministic one starts anew as well.
        assert_eq!(outcomes[1], outcomes[2], "{}", fixture.name);
    }
}

#[test]
fn side_by_side_the_healthy_build_answers_as_if_the_faulty_one_were_not_there() {
    let _quiet = Quiet::begin();
    let (pool, inputs) = (faults_pool(), inputs());
    for (function, fixture) in fixtures().iter().enumerate() {
        let (alone, _) = pool.evaluate_side_by_side(function, 1, &[0], &inputs, 16).unwrap();
        let (both, replaced) = pool.evaluate_side_by_side(function, 1, &[0, 1], &inputs, 16).unwrap();
        assert_eq!(both[0], alone[0], "{}", fixture.name);
        check(fixture, &inputs, &alone[0], &both[1]);
        let reason = replaced.first().map(String::as_str);
        match &fixture.expected {
            Expected::Kind(kind) if kind != "fpenv" => {
                let what = if kind == "timeout" { "no progress" } else { kind };
                // The first input of the region, exactly.
                let expected = format!("{what} in faulty at (0x4000000000000000)");
                assert_eq!(reason, Some(expected.as_str()), "{}", fixture.name);
            }
            Expected::None if fixture.name == "fault_fork_spin" => {
                assert_eq!(reason, Some("code under test left processes behind"))
            }
            Expected::None if fixture.name == "fault_close_fds" => {
                assert_eq!(reason, Some("code under test closed the worker's pipes"))
            }
            Expected::Any | Expected::Crash => {}
            _ => assert_eq!(reason, None, "{}", fixture.name),
        }
        let at_most = if matches!(fixture.expected, Expected::Any) { 2 } else { 1 };
        assert!(replaced.len() <= at_most, "{}: {replaced:?}", fixture.name);
    }
}

/// CPU time of every process this one has started and waited for, and of theirs.
fn children_cpu() -> Duration {
    // SAFETY: an all-zero rusage is a valid one, and getrusage fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

#[test]
fn an_endless_input_costs_less_than_twice_the_timeout() {
    let _quiet = Quiet::begin();
    let timeout = Duration::from_millis(200);
    let objects = vec![compile_faults("healthy", &[]), compile_faults("faulty", &["-DFAULTY"])];
    let pool = pool_of(objects, Limits { timeout, ..LIMITS });
    let endless = fixtures().iter().position(|f| f.name == "fault_endless").unwrap();
    let inputs = [1.0, 2.5, 1.5].map(f64::to_bits);
    let before = children_cpu();
    // The whole way: the worker that is lost, its replacement, and the helper that decides.
    pool.evaluate_side_by_side(endless, 1, &[0, 1], &inputs, 16).unwrap();
    let cost = children_cpu() - before;
    assert!(cost < 2 * timeout, "{cost:?}");
    assert!(cost > timeout, "{cost:?}");
}

#[test]
fn what_code_under_test_leaves_behind_ends_with_its_worker() {
    let _quiet = Quiet::begin();
    let pool = faults_pool();
    let fork = fixtures().iter().position(|f| f.name == "fault_fork_spin").unwrap();
    evaluate(&pool, fork, 1, &[3.0f64.to_bits(); 3], Mode::Alone).unwrap();
    pool.evaluate_side_by_side(fork, 1, &[0, 1], &inputs(), 16).unwrap();
    assert_eq!(ours(), Vec::<String>::new());
}

#[test]
fn an_object_with_crtfastmath_inside_does_not_poison_the_baseline() {
    let _quiet = Quiet::begin();
    let source = "double f(double x) { return x * 0.5; }";
    let (ieee, ftz) = (ControlWords::IEEE, ControlWords::FTZ);
    // Linked by a plain -Ofast command line, as somebody else's build would be.
    let objects = vec![
        plan("plain", compile("poison-plain", source, &["-O0"]), ieee),
        plan("fast", compile("poison-fast", source, &["-Ofast"]), ftz),
        plan("fast-ieee", compile("poison-fast", source, &["-Ofast"]), ieee),
    ];
    let pool = pool_of(objects, LIMITS);
    let inputs: Vec<u64> = (0..100).map(|k| k * 2 + 2).collect();
    let own = evaluate(&pool, 0, 0, &inputs, Mode::Together).unwrap();
    let (together, replaced) = pool.evaluate_side_by_side(0, 1, &[1, 2, 0], &inputs, 7).unwrap();
    assert!(replaced.is_empty());
    assert_eq!(together[2], own);
    assert_eq!(own[0], Outcome::Value(1));
    assert!(together[0].iter().all(|outcome| *outcome == Outcome::Value(0)));
    assert_eq!(together[1], own);
}

#[test]
fn two_builds_of_one_file_share_no_state_and_setup_runs_once() {
    let _quiet = Quiet::begin();
    let source = "static double calls = -100.0;
        void prepare(void) { calls += 100.0; }
        double f(double x) { return ++calls + x; }";
    let object = compile("state", source, &["-O1"]);
    let mut plans =
        vec![plan("one", object.clone(), ControlWords::IEEE), plan("two", object, ControlWords::IEEE)];
    plans.iter_mut().for_each(|plan| plan.object.setup_symbol = Some("prepare".into()));
    let (outcomes, _) = pool_of(plans, LIMITS).evaluate_side_by_side(0, 1, &[0, 1], &[0; 3], 1).unwrap();
    let expected = [1.0, 2.0, 3.0].map(|x: f64| Outcome::Value(x.to_bits()));
    assert_eq!(outcomes, [expected, expected]);
}

#[test]
fn an_object_that_does_not_load_is_named_with_the_linkers_words() {
    let _quiet = Quiet::begin();
    let good = compile("loads", "double f(double x) { return x; }", &[]);
    let bad = compile("unresolved", "double g(double); double f(double x) { return g(x); }", &[]);
    let crashes = "static __attribute__((constructor)) void start(void) { __builtin_trap(); }
        double f(double x) { return x; }";
    let crashing = compile("crashing", crashes, &[]);
    let objects = [good, bad, crashing].map(|path| plan("some", path, ControlWords::IEEE));
    let pool = pool_of(objects.to_vec(), LIMITS);
    let errors = pool.load_errors();
    assert_eq!(errors[0], None);
    assert!(errors[1].as_ref().unwrap().contains("undefined symbol: g"), "{errors:?}");
    assert!(errors[2].as_ref().unwrap().contains("SIGILL"), "{errors:?}");
    let outcome = evaluate(&pool, 0, 1, &[0], Mode::Together);
    assert!(matches!(outcome, Err(EvalError::Load { .. })), "{outcome:?}");
    let refused = pool.evaluate_side_by_side(0, 1, &[0, 1], &[0], 1);
    assert!(matches!(refused, Err(PoolError::Failed(_))), "{refused:?}");
}

#[test]
fn a_cancelled_pool_returns_at_once_and_leaves_nothing_running() {
    let _quiet = Quiet::begin();
    let cancel = Arc::new(AtomicBool::new(false));
    let objects = vec![compile_faults("faulty", &["-DFAULTY"])];
    let limits = Limits { timeout: Duration::from_secs(60), ..LIMITS };
    let pool = Pool::new(objects, limits, cancel.clone()).with_program(env!("CARGO_BIN_EXE_bitrift"));
    let endless = fixtures().iter().position(|f| f.name == "fault_endless").unwrap();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            cancel.store(true, Relaxed);
        });
        let result = pool.evaluate_side_by_side(endless, 1, &[0], &[3.0f64.to_bits()], 1);
        assert!(matches!(result, Err(PoolError::Interrupted)), "{result:?}");
    });
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(ours(), Vec::<String>::new());
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_that_names_it() {
    let _quiet = Quiet::begin();
    let path = compile("loads", "double f(double x) { return x; }", &[]);
    let objects = vec![plan("one", path, ControlWords::IEEE)];
    let pool = Pool::new(objects, LIMITS, Arc::default()).with_program("/nowhere/bitrift");
    let error = pool.evaluate_side_by_side(0, 1, &[0], &[0], 1).unwrap_err().to_string();
    assert!(error.contains("/nowhere/bitrift"), "{error}");
}

#[test]
fn a_worker_can_say_how_long_its_calls_take() {
    let _quiet = Quiet::begin();
    let path = compile("loads", "double f(double x) { return x; }", &[]);
    let pool = pool_of(vec![plan("one", path, ControlWords::IEEE)], LIMITS);
    let inputs: Vec<u64> = (0..1000).collect();
    let request = |repeats| TimeRequest {
        function_index: 0,
        arity: 1,
        width: 1,
        builds: vec![0],
        inputs: inputs.clone(),
        batch: 100,
        repeats,
    };
    let (few, many) = (pool.time(&request(1)).unwrap(), pool.time(&request(300)).unwrap());
    assert!(few > 0 && many > 10 * few, "{few} {many}");
}

/// Not a test by itself: what the next one starts and kills.
#[test]
fn coordinator_to_be_killed() {
    if std::env::var_os("BITRIFT_TEST_COORDINATOR").is_some() {
        let pool = pool_of(
            vec![compile_faults("faulty", &["-DFAULTY"])],
            Limits { timeout: Duration::from_secs(60), ..LIMITS },
        );
        let index = |name| fixtures().iter().position(|f| f.name == name).unwrap();
        let (fork, endless) = (index("fault_fork_spin"), index("fault_endless"));
        let three = [3.0f64.to_bits()];
        std::thread::scope(|scope| {
            // Both kinds of process, and one that code under test left behind.
            scope.spawn(|| evaluate(&pool, endless, 0, &three, Mode::Together));
            pool.evaluate_side_by_side(fork, 1, &[0], &three, 1).unwrap();
            pool.evaluate_side_by_side(endless, 1, &[0], &three, 1).unwrap();
        });
    }
}

#[test]
fn a_killed_coordinator_leaves_no_process_and_no_file() {
    let _quiet = Quiet::begin();
    compile_faults("faulty", &["-DFAULTY"]);
    let room = tempfile::tempdir().unwrap();
    let mut coordinator = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "evaluating::coordinator_to_be_killed"])
        .env("BITRIFT_TEST_COORDINATOR", "1")
        .env("TMPDIR", room.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // A helper with its fork, a worker with its watcher.
    let begun = Instant::now();
    while ours().len() < 4 && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(ours().len() >= 4, "{:?}", ours());
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    let begun = Instant::now();
    while !ours().is_empty() && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ours(), Vec::<String>::new());
    assert_eq!(room.path().read_dir().unwrap().count(), 0);
}
