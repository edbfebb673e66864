//! `bitrift report` as a user and a pipeline meet it: every format of a real run, held against its schema.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Desk, SMALL_C, names_in};
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A stored run of the small lab, with a compiler that is not there.
fn desk() -> Desk {
    let desk = Desk::small();
    let absent = "\n[[compiler]]\nname = \"gone\"\ncommand = \"no-such-cc\"\noptional = true\n";
    desk.write("matrix.toml", &(desk.read("matrix.toml") + absent));
    desk.expect(0, &["run", "-q"]);
    desk
}

/// What the renderer makes of the run that all renderers share.
fn snapshot(name: &str) -> String {
    let text = fs::read_to_string(root().join("src/report").join(name)).unwrap();
    text.splitn(3, "---\n").nth(2).unwrap().to_owned()
}

#[track_caller]
fn passes_junit(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junit.xml");
    fs::write(&path, text).unwrap();
    let schema = root().join("tests/schemas/junit-10.xsd");
    let output =
        Command::new("xmllint").args(["--noout", "--nonet", "--schema"]).arg(schema).arg(path).output();
    let output = output.unwrap_or_else(|e| panic!("xmllint: {e}; apt-get install libxml2-utils"));
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn passes_sarif(text: &str) -> Value {
    let schema = fs::read_to_string(root().join("tests/schemas/sarif-schema-2.1.0.json")).unwrap();
    // A bracket too many, which JavaScript forgives and this validator does not, where languages are spelled;
    // bitrift writes none.
    let schema: Value = serde_json::from_str(&schema.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}?$")).unwrap();
    let log: Value = serde_json::from_str(text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    log
}

/// The line of a text in a file, counted from 1.
fn line_of(file: &str, text: &str) -> u64 {
    file.lines().position(|line| line.contains(text)).unwrap() as u64 + 1
}

#[test]
fn run_json_says_where_each_function_is_defined() {
    let desk = Desk::small();
    let called = "[[function]]\nname = \"called\"\nparams = [\"double x\"]\ncall = \"sqrt(x) + planted(x)\"\n\
        headers = [\"math.h\", \"small.h\"]\n";
    let nowhere = "[[function]]\nname = \"nowhere\"\nparams = [\"double x\"]\ncall = \"x * x\"\n";
    desk.write("small.h", "double planted(double x);\n");
    let matrix =
        desk.read("matrix.toml").replace("files = [\"small.c\"]", "files = [\"small.c\"]\ninclude = [\".\"]");
    desk.write("matrix.toml", &(matrix + called + nowhere));
    let run = desk.expect(0, &["run", "-q", "--json"]).json();
    for (name, text) in
        [("planted", "double planted"), ("single", "float single"), ("called", "double planted")]
    {
        let source = &crate::common::function(&run, name)["source"];
        assert_eq!(source["file"], "small.c", "{name}");
        assert_eq!(source["line"], line_of(SMALL_C, text), "{name}");
    }
    assert!(crate::common::function(&run, "nowhere")["source"].is_null());
}

#[test]
fn junit_passes_the_schema_of_jenkins() {
    passes_junit(&snapshot(
        "snapshots/bitrift__report__junit__tests__every_function_and_build_is_a_test_case.snap",
    ));
    let said = desk().expect(0, &["report", "--junit"]);
    passes_junit(&said.out);
    // Three builds of five functions: one compared, four of whose functions differ, and two not there.
    said.out_has("tests=\"15\" failures=\"4\" errors=\"0\"").out_has("<skipped message=\"no-such-cc");
}

#[test]
fn sarif_passes_the_schema_of_oasis_and_points_at_definitions() {
    passes_sarif(&snapshot(
        "sarif/snapshots/bitrift__report__sarif__tests__every_range_is_a_result_of_its_category_at_its_function.snap",
    ));
    let desk = desk();
    let log = passes_sarif(&desk.expect(0, &["report", "--sarif", "--source-root", "my lab"]).out);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results.len() >= 4, "{results:#?}");
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "my%20lab/small.c");
        let name = result["locations"][0]["logicalLocations"][0]["name"].as_str().unwrap();
        assert_eq!(place["region"]["startLine"], line_of(SMALL_C, &format!(" {name}(")), "{name}");
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
    }
    let again = passes_sarif(&desk.expect(0, &["report", "--sarif"]).out);
    let prints = |log: &Value| {
        let results = log["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|r| r["partialFingerprints"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(prints(&log), prints(&again));
}

#[test]
fn annotations_and_markdown_name_what_differs() {
    let desk = desk();
    let said = desk.expect(0, &["report", "--github"]);
    let line = line_of(SMALL_C, "double planted");
    said.out_has(&format!("file=small.c,line={line},title=planted%3A "));
    said.out_has("::notice title=bitrift::4 of 5 functions differ");
    let said = desk.expect(0, &["report", "--markdown", "--function", "planted"]);
    said.out_has("**1 of 1 function**").out_has("| `planted` |").out_has("<details>");
}

#[test]
fn csv_has_every_stored_sample_and_reads_back_exactly() {
    let desk = desk();
    desk.expect(0, &["report", "--samples", "--out", "samples.csv"]);
    let text = desk.read("samples.csv");
    assert_eq!(desk.expect(0, &["report", "--samples"]).out, text);
    let stored: usize = desk
        .read("results/0001-small/samples.jsonl")
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["samples"].as_array().unwrap().len() * line["builds"].as_array().unwrap().len()
        })
        .sum();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heading: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(
        heading[..8],
        ["function", "sample", "build", "emulated", "bits", "x1_name", "x1_hex", "x1_dec"]
    );
    assert_eq!(heading.len(), 5 + 3 * 2, "the function of most parameters has two");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), stored);
    // A reader such as `head` that has seen enough.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = desk.command(&["report", "--samples"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    for row in rows.iter().filter(|row| &row[0] == "single") {
        let dec: f32 = row[7].parse().unwrap();
        let hex = bitrift::fp::parse_number(bitrift::fp::Scalar::F32, &row[6]).unwrap();
        assert_eq!(u64::from(dec.to_bits()), hex, "{row:?}");
    }
}

#[test]
fn the_summary_fits_a_terminal_of_80_columns_and_honours_no_color() {
    let desk = desk();
    let plain = desk.expect(0, &["report"]);
    plain.out_has("small: 4 of 5 functions differ").out_has("look next:").out_has("bitrift show --function");
    assert!(!plain.out.contains('\u{1b}'));
    let colored = desk.on_a_terminal(80, &["report"], &[]);
    assert!(colored.out.contains("\u{1b}["), "{}", colored.shown());
    let quiet = desk.on_a_terminal(80, &["report"], &[("NO_COLOR", "1")]);
    assert!(!quiet.out.contains("\u{1b}[3"), "{}", quiet.shown());
    assert!(quiet.out.lines().all(|line| line.trim_end().chars().count() <= 80), "{}", quiet.shown());
    // What it says to look at next can be pasted.
    let next: Vec<&str> = plain.out.lines().filter_map(|l| l.trim().strip_prefix("bitrift ")).collect();
    for line in next.iter().filter(|line| !line.contains("--html")) {
        desk.expect(0, &line.split(' ').collect::<Vec<_>>());
    }
    assert!(next.len() >= 3, "{}", plain.shown());
}

#[test]
fn one_format_at_a_time_and_files_appear_whole_or_not_at_all() {
    let desk = desk();
    desk.expect(1, &["report", "--junit", "--sarif"]).err_has("cannot be used with");
    desk.expect(1, &["report", "--parquet"]).err_has("--out");
    for format in ["--markdown", "--junit", "--sarif", "--github", "--samples"] {
        let printed = desk.expect(0, &["report", format]).out;
        assert!(desk.expect(0, &["report", format, "--out", "file"]).out.is_empty());
        assert_eq!(desk.read("file"), printed, "{format}");
        desk.expect(1, &["report", format, "--out", "nowhere/file"]).err_has("failed to write nowhere/file");
    }
    let left: Vec<String> = desk.list(".").into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
    desk.expect(1, &["report", "--junit", "--function", "nope"]).err_has("nope");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_bitrift_without_parquet_says_how_to_get_it() {
    let desk = Desk::new();
    desk.expect(1, &["report", "--parquet", "--out", "x"]).err_has("--features parquet").err_has("--samples");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_rows_of_the_csv() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let desk = desk();
    desk.expect(0, &["report", "--parquet", "--out", "samples.parquet"]);
    let file = fs::File::open(desk.path("samples.parquet")).unwrap();
    let rows = SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows();
    let csv = desk.expect(0, &["report", "--samples"]).out;
    assert_eq!(rows as usize + 1, csv.lines().count());
}

/// Files beside run.json that are newer, cut off, of a wrong type, or something else altogether.
#[test]
fn damaged_files_beside_a_run_are_answered_in_words() {
    let desk = desk();
    let run = "results/0001-small";
    let mut told = Vec::new();
    for (file, schema) in [("confirm.json", "bitrift.confirm"), ("speed.json", "bitrift.speed")] {
        for (case, text) in [
            ("newer", format!("{{\"schema\": \"{schema}/9\", \"other\": 1}}")),
            ("cut off", format!("{{\"schema\": \"{schema}/1\", ")),
            (
                "wrong type",
                format!("{{\"schema\": \"{schema}/1\", \"witnesses\": 7, \"cpu\": 7, \"builds\": 7}}"),
            ),
            ("foreign", "{\"schema\": \"other\"}".into()),
            ("a list", "[]".into()),
        ] {
            desk.write(&format!("{run}/{file}"), &text);
            let said = desk.expect(1, &["report"]);
            told.push(format!("{file}, {case}: {}", said.err.trim()));
        }
        fs::remove_file(desk.path(run).join(file)).unwrap();
    }
    let samples = format!("{run}/samples.jsonl");
    let good = desk.read(&samples);
    for (case, text) in [
        ("cut off", good[..good.find("params").unwrap() + 2].to_owned()),
        ("wrong type", good.replacen("\"params\":[", "\"params\":[7,", 1)),
        ("no JSON", format!("{good}<html>\n")),
    ] {
        desk.write(&samples, &text);
        let said = desk.expect(1, &["report", "--samples"]);
        assert!(said.out.is_empty(), "{}", said.shown());
        told.push(format!("samples.jsonl, {case}: {}", said.err.trim()));
    }
    fs::remove_file(desk.path(&samples)).unwrap();
    assert_eq!(desk.expect(0, &["report", "--samples"]).out, "function,sample,build,emulated,bits\n");
    assert!(told.iter().all(|line| !line.contains("panicked")));
    // Columns depend on what the search found.
    let told: Vec<String> =
        told.iter().map(|line| line.split(", column").next().unwrap().to_owned()).collect();
    let told: Vec<&str> = told.iter().map(|line| line.split(" at line").next().unwrap()).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn no_hostile_run_file_makes_a_report_or_a_comparison_fail_other_than_in_words() {
    let desk = desk();
    let folder = root().join("tests/hostile");
    for name in names_in(&folder).iter().filter(|n| n.ends_with(".json")) {
        fs::create_dir_all(desk.path("run")).unwrap();
        fs::copy(folder.join(name), desk.path("run/run.json")).unwrap();
        for args in [
            vec!["report", "run"],
            vec!["report", "run", "--markdown"],
            vec!["report", "run", "--junit"],
            vec!["report", "run", "--sarif"],
            vec!["report", "run", "--github"],
            vec!["report", "run", "--samples"],
            vec!["report", "run", "--html"],
            vec!["compare", "run", "1"],
            vec!["compare", "1", "run", "--json"],
        ] {
            let said = desk.bitrift(&args);
            assert_eq!(said.code, i32::from(name != "good.json"), "{name}: {}", said.shown());
            assert!(said.code == 0 || said.err.starts_with("error: "), "{name}: {}", said.shown());
            assert!(!said.out.contains('\u{1b}'), "{name}: {}", said.shown());
        }
    }
}
