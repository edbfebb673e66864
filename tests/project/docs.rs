//! Every command in the documentation runs, from the top of the repository as the pages say.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The lines of the ```sh blocks of a page.
fn commands(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside && !line.is_empty() => found.push(line.to_owned()),
            _ => {}
        }
    }
    found
}

/// A folder with what the commands use, and none of the runs of this checkout.
fn copy_of_the_repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["matrix.toml", "fixtures"] {
        let done = Command::new("cp").arg("-r").arg(root().join(name)).arg(folder.path()).status();
        assert!(done.unwrap().success());
    }
    folder
}

fn run(line: &str, folder: &Path) -> std::process::Output {
    let bitrift = Path::new(env!("CARGO_BIN_EXE_bitrift"));
    let path = format!("{}:{}", bitrift.parent().unwrap().display(), std::env::var("PATH").unwrap());
    Command::new("bash")
        .args(["-euo", "pipefail", "-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("BITRIFT_CACHE", folder.join("cache"))
        .output()
        .unwrap()
}

fn every_command_runs(page: &str, at_least: usize) {
    let lines = commands(&root().join(page));
    assert!(lines.len() >= at_least, "{page} has {} commands", lines.len());
    let folder = copy_of_the_repository();
    for line in lines {
        let output = run(&line, folder.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{page}: `{line}` failed with {}:\n{errors}", output.status);
        assert!(!output.stdout.is_empty(), "{page}: `{line}` printed nothing");
    }
}

#[test]
fn the_commands_of_the_fast_math_page_run() {
    every_command_runs("docs/fast-math.md", 4);
}

#[test]
fn the_commands_of_the_page_on_causes_run() {
    every_command_runs("docs/explain.md", 6);
}

#[test]
fn the_commands_of_the_gate_page_run() {
    every_command_runs("docs/gate.md", 4);
}

#[test]
fn the_commands_of_the_porting_page_run() {
    every_command_runs("docs/porting.md", 4);
}

#[test]
fn the_commands_of_the_page_on_libraries_run() {
    every_command_runs("docs/libraries.md", 4);
}

#[test]
fn the_commands_of_the_search_page_run() {
    every_command_runs("docs/search.md", 2);
}

#[test]
fn the_commands_of_the_reports_page_run() {
    every_command_runs("docs/reports.md", 10);
}

#[test]
fn the_commands_of_the_page_on_what_is_stored_run() {
    every_command_runs("docs/stored.md", 5);
}

#[test]
fn every_strategy_has_its_line_on_the_search_page() {
    let text = std::fs::read_to_string(root().join("docs/search.md")).unwrap();
    for name in bitrift::model::StrategyName::ALL {
        assert!(text.lines().any(|l| l.starts_with("| `") && l.contains(&format!("`{name}`"))), "{name}");
    }
}

#[test]
fn what_the_fast_math_page_says_of_its_example_is_so() {
    let folder = copy_of_the_repository();
    let line = "bitrift run --function expm1_over_x --quiet --json --out run";
    let run: serde_json::Value = serde_json::from_slice(&run(line, folder.path()).stdout).unwrap();
    let mut seen = 0;
    for comparison in run["functions"][0]["comparisons"].as_array().unwrap() {
        for range in comparison["ranges"].as_array().unwrap() {
            for end in ["lo", "hi"] {
                let x: f64 = range[end][0]["dec"].as_str().unwrap().parse().unwrap();
                assert!(x.abs() <= 1.0, "{comparison}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

#[test]
fn the_readme_names_both_commands_and_only_pages_that_exist() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.contains("cargo run --release") && text.contains("tests/run"));
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.contains("tests/run"), "CI runs the test command of the README");
    let mut links = 0;
    for page in [
        "README.md",
        "docs/fast-math.md",
        "docs/explain.md",
        "docs/gate.md",
        "docs/porting.md",
        "docs/libraries.md",
        "docs/matrix.md",
        "docs/search.md",
        "docs/reports.md",
        "docs/library.md",
        "docs/stored.md",
        "CONTRIBUTING.md",
    ] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', '#']).next().unwrap();
            let folder = root().join(page).parent().unwrap().to_path_buf();
            assert!(folder.join(target).exists(), "{page} points at {target}");
            links += 1;
        }
    }
    assert!(links > 4);
}

#[test]
fn the_numbers_of_the_readme_are_the_stored_ones() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let row = |text: &str, start: &str| {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"));
        line.split('|').skip(2).take(5).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let readme = read("README.md");
    assert_eq!(row(&readme, "| bitrift, default (`auto`) |"), row(&read("results/gsl-auto.md"), "| auto |"));
    let cigen = read("results/gsl-cigen.md");
    for (ours, published) in
        [("CIGEN as", "CIGEN (published)"), ("CIV as", "CIV (published)"), ("BGRT as", "BGRT (published)")]
    {
        assert_eq!(row(&readme, &format!("| {ours}")), row(&cigen, &format!("| {published}")));
    }
    let medians: Vec<String> =
        row(&cigen, "| cigen |")[..4].iter().map(|c| c.split(' ').next().unwrap().to_owned()).collect();
    assert!(readme.contains(&format!("median {}", medians.join(" / "))), "{medians:?}");
    let speed = cigen.lines().find(|line| line.starts_with("| geometric mean")).unwrap();
    let speed = speed.split('|').nth(4).unwrap().trim().trim_end_matches(" x").to_owned();
    assert!(readme.contains(&format!("1/{speed} of the time")), "{speed}");
    for name in ["gsl-auto", "gsl-cigen"] {
        let made = read(&format!("results/{name}.md"));
        let command = made.split('`').find(|part| part.starts_with("bitrift bench")).unwrap().to_owned();
        assert!(readme.contains(&command), "{command}");
    }
}

#[test]
fn every_command_the_readme_lists_is_understood() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let folder = copy_of_the_repository();
    let mut seen = 0;
    for line in text.lines().filter(|l| l.starts_with("| ") && l.contains("`bitrift ")) {
        let command = line.split("`bitrift ").nth(1).unwrap().split('`').next().unwrap();
        // Whether it parses: help wins over everything else that is right.
        let output = run(&format!("bitrift {command} --help"), folder.path());
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        seen += 1;
    }
    assert!(seen >= 7);
}

/// The keys that a table of the matrix takes, as the message about one that it does not take lists them.
fn keys_of(table: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.toml");
    std::fs::write(&path, format!("{table}\nno_such_key_at_all = 1\n")).unwrap();
    let message = bitrift::matrix::load(&path).unwrap_err().to_string();
    let list =
        message.lines().find_map(|line| line.split_once("help: allowed ")).map(|(_, list)| list.to_string());
    let list = list.unwrap_or_else(|| panic!("{message}"));
    list.split('`').skip(1).step_by(2).map(String::from).collect()
}

#[test]
fn every_key_that_a_matrix_takes_is_on_its_page() {
    let page = std::fs::read_to_string(root().join("docs/matrix.md")).unwrap();
    let is_there = |key: &str| {
        let written = [format!("`{key}`"), format!("[{key}]"), format!("{{ {key} =")];
        written.iter().any(|text| page.contains(text))
            || page.lines().any(|line| line.starts_with(&format!("{key} =")))
    };
    let tables = [
        "",
        "[lab]",
        "[sources]",
        "[[implementation]]",
        "[harness]",
        "[sandbox]",
        "[[compiler]]",
        "[[flags]]",
        "[[target]]",
        "[[environment]]",
        "[[exclude]]",
        "[[limit]]",
        "[[function]]",
        "[search]",
    ];
    let mut seen = 0;
    for table in tables {
        for key in keys_of(table) {
            assert!(is_there(&key), "docs/matrix.md does not say what `{key}` of {table} is");
            seen += 1;
        }
    }
    assert!(seen > 80, "{seen} keys");
    let top = keys_of("");
    let missing: Vec<&String> =
        top.iter().filter(|key| !tables.iter().any(|t| t.contains(key.as_str()))).collect();
    assert_eq!(missing, ["functions", "setup", "setup_headers"], "a table that this test does not know");
}

#[test]
fn the_library_page_shows_the_example_as_it_is() {
    let page = std::fs::read_to_string(root().join("docs/library.md")).unwrap();
    let example = std::fs::read_to_string(root().join("examples/ranges.rs")).unwrap();
    assert!(page.contains(&format!("```rust\n{example}```\n")), "docs/library.md shows another program");
    assert!(example.lines().count() < 40);
}
