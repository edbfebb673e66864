//! A small bench whose statistics can be worked out by hand.

use std::collections::BTreeMap;

use crate::model::{
    BENCH_SCHEMA, BenchFile, BenchRow, Budget, BuildId, BuildRow, BuildStatus, HostRow, Published,
    PublishedRow, Reference, StopReason, StrategyName, Timed, TimedFunction,
};

/// Maxima of (strategy, function) with seeds 1, 2 and 3.
const MAXIMA: [(StrategyName, &str, [f64; 3]); 8] = [
    (StrategyName::Mcmc, "airy", [60.0, 60.0, 63.0]),
    (StrategyName::Mcmc, "beta", [50.0, 40.0, 51.0]),
    (StrategyName::Mcmc, "clausen", [2.0, 2.0, 2.0]),
    (StrategyName::Mcmc, "dawson", [0.0, 0.0, 0.0]),
    (StrategyName::Cigen, "airy", [60.0, 60.0, 60.0]),
    (StrategyName::Cigen, "beta", [35.0, 35.0, 35.0]),
    (StrategyName::Cigen, "clausen", [4.0, 4.0, 1.0]),
    (StrategyName::Cigen, "dawson", [0.0, 0.0, 0.0]),
];

pub(crate) fn bench() -> BenchFile {
    let mut rows = Vec::new();
    for strategy in [StrategyName::Mcmc, StrategyName::Cigen] {
        for seed in 1..=3u64 {
            for (_, function, maxima) in MAXIMA.iter().filter(|(s, ..)| *s == strategy) {
                // Seeds count from 1.
                rows.push(row(strategy, seed, function, maxima[seed as usize - 1]));
            }
        }
    }
    BenchFile {
        schema: BENCH_SCHEMA.into(),
        bitrift: "0.0.0".into(),
        name: "sample".into(),
        command: "bitrift bench sample.toml --seeds 1..3".into(),
        budget: Budget::Evaluations(1000),
        strategies: vec![StrategyName::Mcmc, StrategyName::Cigen],
        seeds: vec![1, 2, 3],
        host: HostRow { cpu: "a cpu".into(), libm: "a libm".into() },
        jobs: 2,
        baseline: "cc/O0/native".into(),
        builds: vec![build("O0", &["-O0"]), build("O3", &["-O3", "-ffast-math"])],
        settings: BTreeMap::new(),
        fingerprint: BTreeMap::new(),
        functions: ["airy", "beta", "clausen", "dawson"].map(String::from).to_vec(),
        missing: vec!["erf".into()],
        rows,
        reference: None,
    }
}

fn row(strategy: StrategyName, seed: u64, function: &str, max_bits: f64) -> BenchRow {
    BenchRow {
        strategy,
        seed,
        function: function.into(),
        max_bits,
        build: (max_bits > 0.0).then(|| "cc/O3/native".into()),
        witness: if max_bits > 0.0 { vec!["0x1.8p+1".into()] } else { Vec::new() },
        evaluations: if strategy == StrategyName::Mcmc { 1000 } else { 800 },
        stop_reason: StopReason::Complete,
        ranges: 1,
        faults: 0,
        wall_s: 0.5,
        busy_s: if strategy == StrategyName::Mcmc { 0.5 } else { 0.25 },
        truth: None,
    }
}

fn build(flags: &str, args: &[&str]) -> BuildRow {
    BuildRow {
        id: BuildId::new("cc", flags, "native"),
        implementation: String::new(),
        compiler: "cc".into(),
        version: "cc 1.0".into(),
        flags: args.iter().map(|a| a.to_string()).collect(),
        target: "native".into(),
        fpenv: "ieee".into(),
        emulated: false,
        arithmetic: None,
        libm: String::new(),
        libraries: Default::default(),
        audit: BTreeMap::new(),
        unaudited: String::new(),
        status: BuildStatus::Built,
        reason: String::new(),
        optional: false,
    }
}

pub(crate) fn reference() -> Reference {
    let timed = |name: &str, seconds, evaluations| TimedFunction {
        name: name.into(),
        seconds,
        evaluations,
        max_bits: Some(60.0),
    };
    let row = |name: &str, over, mean_bits, seconds_per_function| PublishedRow {
        name: name.into(),
        over,
        mean_bits,
        seconds_per_function,
    };
    Reference {
        published: Some(Published {
            source: "a paper, Table 2".into(),
            functions: 4,
            rows: vec![
                row("WALK", [2, 2, 2, 3], Some(27.5), Some(18.0)),
                row("OLD", [0, 1, 1, 2], None, None),
            ],
        }),
        timed: Some(Timed {
            source: "another program on this machine".into(),
            functions: vec![timed("airy", 50.0, 4000), timed("beta", 5.0, 500), timed("gone", 1.0, 1)],
        }),
    }
}
