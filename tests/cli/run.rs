//! `bitrift run`: what it prints and stores, and its options.

use crate::common::{Desk, SMALL_C, comparison, function};

#[test]
fn without_arguments_the_matrix_of_the_folder_is_searched_printed_and_stored() {
    let desk = Desk::small();
    let said = desk.expect(0, &[]);
    said.out_has("small: baseline gcc/O0/native").out_has("planted").out_has("gcc/O2/native");
    said.out_has("x in [2, 8").out_has("no inconsistency found: same").out_has("5 functions: 4 inconsistent");
    said.out_has("stored in results/0001-small\n");
    assert_eq!(desk.list("results"), ["0001-small"]);
    assert_eq!(
        desk.list("results/0001-small"),
        ["confirm.json", "origin.json", "run.json", "samples.jsonl", "timing.json"]
    );
}

#[test]
fn ranges_and_witnesses_are_those_that_were_planted() {
    let desk = Desk::small();
    let run = desk.expect(0, &["run", "-q", "--json"]).json();
    assert_eq!(comparison(&run, "same", "gcc/O2/native")["max_bits"], 0.0);
    let ranges = |name: &str| comparison(&run, name, "gcc/O2/native")["ranges"].as_array().unwrap().clone();
    let number = |v: &serde_json::Value| v["dec"].as_str().unwrap().parse::<f64>().unwrap();
    for name in ["planted", "single"] {
        let [range] = ranges(name).try_into().unwrap();
        let (lo, hi) = (number(&range["lo"][0]), number(&range["hi"][0]));
        assert!((1.8..=2.0).contains(&lo) && (7.5..8.6).contains(&hi), "{name}: {lo} {hi}");
    }
    let [range] = ranges("steps").try_into().unwrap();
    assert_eq!((number(&range["lo"][0]), number(&range["hi"][0])), (10.0, 19.0));
    let witness = &ranges("corner")[0]["witness"];
    assert_eq!((&witness["baseline"]["dec"], &witness["variant"]["hex"]), (&"2".into(), &"0x1p+0".into()));
}

#[test]
fn json_on_standard_output_is_run_json_and_quiet_leaves_standard_error_empty() {
    let desk = Desk::small();
    let said = desk.expect(0, &["run", "--quiet", "--json", "--out", "out"]);
    assert_eq!(said.out, desk.read("out/run.json"));
    assert_eq!(said.err, "");
    let said = desk.expect(0, &["run", "--json"]);
    assert_eq!(said.out, desk.read("out/run.json"));
    said.err_has("searching 5 functions");
}

#[test]
fn seed_budget_and_search_parameters_of_the_command_line_win() {
    let desk = Desk::small();
    let run = desk.expect(0, &["run", "-q", "--json"]).json();
    assert_eq!(
        (&run["seed"], &run["budget"], &run["strategy"]),
        (&1.into(), &"paper".into(), &"auto".into())
    );
    let args = [
        "run",
        "-q",
        "--json",
        "--seed",
        "7",
        "--budget",
        "4_000",
        "--strategy",
        "cigen",
        "--tighten",
        "false",
    ];
    let run = desk.expect(0, &args).json();
    assert_eq!((&run["seed"], &run["budget"]), (&7.into(), &4000.into()));
    for f in run["functions"].as_array().unwrap() {
        let used = f["comparisons"][0]["evaluations"].as_u64().unwrap();
        assert!(used <= 4000, "{} used {used}", f["name"]);
    }
}

#[test]
fn functions_are_chosen_by_glob() {
    let desk = Desk::small();
    let run = desk.expect(0, &["run", "-q", "--json", "--function", "s*e", "--function", "corner"]).json();
    let names: Vec<_> = run["functions"].as_array().unwrap().iter().map(|f| f["name"].clone()).collect();
    assert_eq!(names, ["same", "corner", "single"]);
    let said = desk.expect(1, &["run", "--function", "s*", "--function", "plant"]);
    said.err_has("no function matches `plant`; did you mean `planted`?");
    assert_eq!(desk.list("results"), ["0001-small"]);
}

#[test]
fn timing_tells_what_a_run_cost_and_that_an_unchanged_one_compiles_nothing() {
    let desk = Desk::private();
    desk.write("small.c", SMALL_C).write("matrix.toml", &Desk::small().read("matrix.toml"));
    desk.expect(0, &["run", "--jobs", "2", "--out", "first"]).err_has("took 0 from the cache");
    desk.expect(0, &["run", "--jobs", "1", "--out", "second"]).err_has("compiled 0 files");
    let (first, second) = (desk.json("first/timing.json"), desk.json("second/timing.json"));
    let made = first["compiled"].as_u64().unwrap();
    // For each of two builds a probe, the source, the shims in one file, and a link.
    assert!(made == 8 && first["cached"] == 0, "{first:#}");
    assert_eq!((&second["compiled"], second["cached"].as_u64().unwrap()), (&0.into(), made));
    assert_eq!((&first["jobs"], &second["jobs"]), (&2.into(), &1.into()));
    let run = desk.json("first/run.json");
    for (timing, f) in first["functions"].as_array().unwrap().iter().zip(run["functions"].as_array().unwrap())
    {
        assert_eq!((&timing["name"], &timing["evaluations"]), (&f["name"], &f["evaluations"]));
        assert!(timing["wall_s"].as_f64().unwrap() > 0.0);
    }
    let wall = |key: &str| first[key].as_f64().unwrap();
    assert!(wall("wall_s") >= wall("compile_s") + wall("search_s") && wall("cpu_s") > 0.0, "{first:#}");
    assert!(first["date"].as_str().unwrap().ends_with('Z'), "{first:#}");
    // A header or source that changes is seen.
    desk.write("small.c", &SMALL_C.replace("0.5", "0.25"));
    desk.expect(0, &["run", "--out", "third"]);
    let third = desk.json("third/timing.json");
    let made_again = third["compiled"].as_u64().unwrap();
    assert!(made_again > 0 && made_again < made, "{third:#}");
}

#[test]
fn the_folder_bitrift_is_started_in_does_not_matter() {
    let desk = Desk::small();
    let here = desk.expect(0, &["run", "-q", "--json"]).json();
    desk.write("elsewhere/x", "");
    let matrix = desk.path("matrix.toml").display().to_string();
    let output =
        desk.command(&["run", "-q", "--json", &matrix]).current_dir(desk.path("elsewhere")).output().unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap(), here);
    assert!(desk.exists("elsewhere/results/0001-small/run.json"));
}

#[test]
fn compilers_of_three_families_are_compared_side_by_side() {
    let desk = Desk::small();
    let more = "[[compiler]]\nname = \"clang\"\ncommand = \"clang-16\"\n[[compiler]]\nname = \"tcc\"\n";
    desk.write("matrix.toml", &(desk.read("matrix.toml") + more));
    let run = desk.expect(0, &["run", "-q", "--json", "--strict"]).json();
    assert!(run["builds"].as_array().unwrap().iter().all(|b| b["status"] == "built"), "{run:#}");
    for build in ["gcc/O2/native", "clang/O2/native"] {
        assert!(comparison(&run, "planted", build)["max_bits"].as_f64().unwrap() > 50.0);
    }
    for build in ["clang/O0/native", "tcc/O0/native"] {
        assert_eq!(comparison(&run, "planted", build)["max_bits"], 0.0);
    }
    assert_eq!(function(&run, "planted")["comparisons"].as_array().unwrap().len(), 5);
}

#[test]
fn a_build_that_answers_differently_each_time_is_nondeterministic_and_no_inconsistency() {
    let desk = Desk::small();
    let count = "double count(double x) { static double calls; return PLANTED(x > 2) ? x + ++calls : x; }\n";
    desk.write("small.c", &format!("{SMALL_C}{count}"));
    desk.write(
        "matrix.toml",
        &(desk.read("matrix.toml") + "[[function]]\nsignature = \"double count(double x)\"\n"),
    );
    // Nothing else was asked for, so that nothing was searched.
    let said = desk.expect(3, &["run", "--out", "out", "--function", "count"]);
    said.out_has("not deterministic: count").out_has("nondeterministic").out_has("0 inconsistent");
    let run = desk.json("out/run.json");
    let row = comparison(&run, "count", "gcc/O2/native");
    assert_eq!(
        (&row["stop_reason"], &row["witness"]),
        (&"nondeterministic".into(), &serde_json::Value::Null)
    );
    desk.expect(3, &["run", "-q", "--strict", "--function", "count"])
        .err_has("answers differently for the same input");
}

#[test]
fn faults_are_rows_with_the_build_and_the_input() {
    let desk = Desk::small();
    let crash = "double crash(double x) { return PLANTED(x >= 2 && x < 4) ? *(volatile double *)0 : x; }\n";
    desk.write("small.c", &format!("{SMALL_C}{crash}"));
    let more = "[[function]]\nsignature = \"double crash(double x)\"\ndomain = { x = \"[0, 100]\" }\n";
    desk.write("matrix.toml", &(desk.read("matrix.toml") + more));
    let said = desk.expect(0, &["run", "--out", "out", "--function", "crash", "--function", "same"]);
    said.out_has("SIGSEGV").out_has("1 with faults").err_has("faults");
    let run = desk.json("out/run.json");
    let fault = &function(&run, "crash")["faults"][0];
    assert_eq!((&fault["build"], &fault["kind"]), (&"gcc/O2/native".into(), &"SIGSEGV".into()));
    let input: f64 = fault["examples"][0][0]["dec"].as_str().unwrap().parse().unwrap();
    assert!((2.0..4.0).contains(&input), "{fault:#}");
    let hex = fault["examples"][0][0]["hex"].as_str().unwrap();
    desk.expect(0, &["eval", "crash", hex, "-q"]).out_has("SIGSEGV");
}

#[test]
fn a_build_that_answers_differently_each_time_is_in_no_camp_and_the_others_keep_theirs() {
    let desk = Desk::new();
    desk.write(
        "code.c",
        "#ifndef MOVED
         #define MOVED 0
         #endif
         double moved(double x) {
         #ifdef UNSTEADY
             static double calls;
             calls += 1;
             return x + calls;
         #else
             return MOVED && x >= 2 && x < 8 ? x * 3 : x;
         #endif
         }",
    );
    let flags = |name: &str, arg: &str| format!("[[flags]]\nname = \"{name}\"\nargs = [\"{arg}\"]\n");
    let axes = [
        flags("plain", "-O0"),
        flags("moved", "-DMOVED=1"),
        flags("also-moved", "-DMOVED=2"),
        flags("unsteady", "-DUNSTEADY"),
    ];
    let matrix = format!(
        "[lab]\nbaseline = \"gcc/plain\"\n[search]\nbudget = 4000\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n{}\
         [[function]]\nsignature = \"double moved(double x)\"\n",
        axes.concat()
    );
    desk.write("matrix.toml", &matrix);
    let run = desk.expect(0, &["run", "--quiet", "--json"]).json();
    let row = function(&run, "moved");
    assert_eq!(
        comparison(&run, "moved", "gcc/unsteady/native")["stop_reason"],
        "nondeterministic",
        "{row:#}"
    );
    let camps = row["camps"].as_array().unwrap();
    assert!(!camps.is_empty());
    for camp in camps {
        let expected =
            serde_json::json!([["gcc/also-moved/native", "gcc/moved/native"], ["gcc/plain/native"]]);
        let mut found = camp["camps"].clone();
        found.as_array_mut().unwrap().iter_mut().for_each(|camp| {
            camp.as_array_mut().unwrap().sort_by_key(|build| build.as_str().unwrap().to_owned());
        });
        assert_eq!(found, expected, "{camp:#}");
    }
}
