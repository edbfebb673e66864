//! The stored measurements say what is claimed of them: a remade table that falls below a figure fails here.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let bench: Value = serde_json::from_str(&text).unwrap();
    bench["rows"].as_array().unwrap().clone()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

fn bits(row: &Value) -> f64 {
    row["max_bits"].as_f64().unwrap()
}

/// The largest difference that a search found for each function, with one seed.
fn maxima(rows: &[Value], strategy: &str) -> BTreeMap<String, f64> {
    let of_strategy = rows.iter().filter(|row| row["strategy"] == strategy && row["seed"] == 1);
    of_strategy.map(|row| (text(row, "function").to_owned(), bits(row))).collect()
}

fn over(maxima: &BTreeMap<String, f64>, limit: f64) -> usize {
    maxima.values().filter(|&&bits| bits > limit).count()
}

#[test]
fn the_default_search_finds_what_exists_in_gsl() {
    let auto = maxima(&rows("gsl-auto.json"), "auto");
    assert_eq!(auto.len(), 175);
    let counts = [48.0, 32.0, 8.0, 0.0].map(|limit| over(&auto, limit));
    assert!(counts.iter().zip([137, 138, 141, 166]).all(|(&found, least)| found >= least), "{counts:?}");
    assert!(auto.values().sum::<f64>() / 175.0 >= 46.9);
    // The search with twenty times the evaluations, and time for them.
    let long = maxima(&rows("gsl-long.json"), "auto");
    let short: Vec<&String> =
        long.iter().filter(|(name, most)| auto[*name] < *most - 0.5).map(|(n, _)| n).collect();
    assert!(short.len() <= 5, "{short:?}");
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(short.iter().all(|name| readme.contains(*name)), "{short:?} are not all named in the README");
}

#[test]
fn cigen_reproduces_its_paper() {
    let all = rows("gsl-cigen.json");
    let mut counts: [Vec<usize>; 4] = Default::default();
    for seed in 1..=10 {
        let of_seed = all.iter().filter(|row| row["seed"] == seed);
        let maxima: BTreeMap<String, f64> =
            of_seed.map(|row| (text(row, "function").to_owned(), bits(row))).collect();
        assert_eq!(maxima.len(), 175);
        for (counts, limit) in counts.iter_mut().zip([48.0, 32.0, 8.0, 0.0]) {
            counts.push(over(&maxima, limit));
        }
    }
    for (counts, least) in counts.iter_mut().zip([122, 124, 128, 163]) {
        counts.sort_unstable();
        assert!(counts[4] + counts[5] >= 2 * least, "{counts:?}");
    }
}

#[test]
fn the_default_search_stays_within_a_bit_of_every_rival() {
    let all = rows("gsl-rivals.json");
    let auto = maxima(&all, "auto");
    let mut behind = BTreeMap::new();
    for rival in ["cigen", "random", "bgrt", "mcmc", "ga", "lsga", "hsed"] {
        let rival_maxima = maxima(&all, rival);
        assert_eq!(rival_maxima.len(), 175, "{rival}");
        behind.extend(rival_maxima.into_iter().filter(|(name, most)| auto[name] < most - 1.0));
    }
    assert!(behind.len() <= 5, "{behind:?}");
}

#[test]
fn the_default_search_is_steady_over_thirty_seeds() {
    let mut seeds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows("gsl-stability.json") {
        seeds.entry(text(&row, "function").to_owned()).or_default().push(bits(&row));
    }
    assert_eq!(seeds.len(), 175);
    let is_steady = |maxima: &&Vec<f64>| {
        assert_eq!(maxima.len(), 30);
        let mean = maxima.iter().sum::<f64>() / 30.0;
        let variance = maxima.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 30.0;
        mean == 0.0 || variance.sqrt() / mean <= 0.05
    };
    let steady = seeds.values().filter(is_steady).count();
    assert!(steady * 100 >= 175 * 95, "{steady} of 175");
}

#[test]
fn ranges_and_maxima_hold_against_exact_truth() {
    let all = rows("musl-truth.json");
    let auto = |row: &&Value| row["strategy"] == "auto" && row["seed"] == 1 && !row["truth"].is_null();
    let known: Vec<&Value> = all.iter().filter(auto).collect();
    assert!(known.len() >= 29, "{} functions", known.len());
    let reached = |row: &&&Value| bits(row) >= row["truth"]["true_max_bits"].as_f64().unwrap() - 0.5;
    assert!(known.iter().filter(reached).count() * 100 >= known.len() * 95);
    for row in known {
        let [covered, filled] = ["covered", "filled"].map(|key| row["truth"][key].as_f64().unwrap());
        assert!(covered >= 0.99 && filled >= 0.9, "{}: {covered} {filled}", text(row, "function"));
    }
}

#[test]
fn asking_a_runner_costs_a_fifth_of_the_throughput_at_most() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/targets.md");
    let table = std::fs::read_to_string(path).unwrap();
    let held = table.lines().filter(|line| line.ends_with("| at least 80 % |"));
    let shares: Vec<(&str, u32)> = held
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1], cells[4].trim_end_matches(" %").parse().unwrap())
        })
        .collect();
    let targets: Vec<&str> = shares.iter().map(|(target, _)| *target).collect();
    assert_eq!(targets, ["aarch64", "arm", "riscv64", "ppc64le", "s390x"]);
    assert!(shares.iter().all(|&(_, share)| share >= 80), "{shares:?}");
}

#[test]
fn explanations_name_the_right_statement_and_the_readme_says_how_many() {
    let read =
        |name: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let (table, readme) = (read("results/explain.md"), read("README.md"));
    let rows = table.lines().filter(|line| line.starts_with("| R") || line.starts_with("| C"));
    let rows: Vec<Vec<f64>> =
        rows.map(|line| line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()).collect();
    assert_eq!(rows.len(), 3, "{table}");
    let sum = |column: usize| rows.iter().map(|row| row[column]).sum::<f64>();
    let (injections, functions, statements) = (sum(0), sum(1), sum(2));
    assert!(injections >= 100.0 && functions == injections && statements >= 0.95 * injections, "{table}");
    let compiles = rows.iter().map(|row| row[0] * row[3]).sum::<f64>() / injections;
    assert!(compiles <= 20.0, "{compiles}");
    assert!(readme.contains(&format!("of {injections} injected statements")), "{injections}");
    assert!(readme.contains(&format!("in {compiles:.1} compiles")), "{compiles}");
}

#[test]
fn confining_code_costs_two_percent_and_twenty_milliseconds_at_most() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/sandbox.md");
    let table = std::fs::read_to_string(path).unwrap();
    let number = |cell: &str| cell.trim_end_matches(" ms").trim_start_matches("at most ").parse::<f64>();
    let rows = table.lines().filter(|line| line.contains("| at most "));
    let rows: Vec<(f64, f64)> = rows
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (number(cells[2]).unwrap(), number(cells[3].trim_end_matches(" ms")).unwrap())
        })
        .collect();
    let targets: Vec<f64> = rows.iter().map(|(_, target)| *target).collect();
    assert_eq!(targets, [1.02, 1.02, 20.0], "{table}");
    assert!(rows.iter().all(|(measured, target)| measured <= target), "{rows:?}");
}
