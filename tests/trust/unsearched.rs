//! What was not searched is not clean: every way to a negative answer without having looked is told, and no gate is
//! green on it.

use crate::common::{Desk, comparison, function};

/// `same` never differs; `other` is what each test makes of it.
fn source(other: &str) -> String {
    format!(
        "#include <signal.h>\n#include <sys/types.h>\n#include <sys/stat.h>\n#include <fcntl.h>\n#include <unistd.h>\n\
         double same(double x) {{ return x * 0.5; }}\ndouble other(double x) {{ {other} }}\n"
    )
}

const PLAIN: &str = "return x * 0.25;";

/// Ends the process that watches the caller, where no sandbox keeps it from that.
const KILLS: &str = "if (x > 1) kill(getppid(), SIGTERM); return x * 0.25;";

/// Finds the pipe that a worker answers on and writes answers of its own: one of no evaluations with a token that is
/// guessed, one without a token.
const FORGES: &str = "
    static int done;
    static const char with[] = \"\\x0a\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\";
    static const char without[] = \"\\x07\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\";
    for (int fd = 100; x > 1 && !done && fd < 200; fd++) {
        struct stat about;
        if (fstat(fd, &about) != 0 || !S_ISFIFO(about.st_mode)) continue;
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY) continue;
        for (int i = 0; i < 64; i++)
            if (write(fd, FRAME, sizeof FRAME - 1) < 0) break;
    }
    done |= x > 1;
    return x * 0.25;";

const AXES: &str = "
[[compiler]]
name = \"gcc\"
[[flags]]
name = \"O0\"
args = [\"-O0\"]
[[flags]]
name = \"O2\"
args = [\"-O2\"]
";

const FUNCTIONS: &str = "
[[function]]
signature = \"double same(double x)\"
[[function]]
signature = \"double other(double x)\"
";

fn matrix(search: &str, axes: &str, functions: &str) -> String {
    format!(
        "[lab]\nname = \"gaps\"\nbaseline = \"gcc/O0/native\"\n[search]\n{search}\n[sources]\nfiles = [\"code.c\"]\nlibs = [\"m\"]\n{axes}{functions}"
    )
}

const PAPER: &str = "budget = \"paper\"";

/// A lab whose second function is this.
fn lab(other: &str) -> Desk {
    let desk = Desk::new();
    desk.write("code.c", &source(other)).write("matrix.toml", &matrix(PAPER, AXES, FUNCTIONS));
    desk
}

/// The same with a lock of the plain function, which is then replaced.
fn locked(other: &str) -> Desk {
    let desk = lab(PLAIN);
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]);
    desk.write("code.c", &source(other));
    desk
}

/// The paragraph of a table that lists clean functions.
fn clean(out: &str) -> String {
    let from = out.find("no inconsistency found").map_or("", |at| &out[at..]);
    from.split("\n\n").next().unwrap().to_string()
}

#[test]
fn a_function_whose_worker_was_lost_is_not_searched_in_every_report() {
    let desk = lab(KILLS);
    let said = desk.expect(0, &["run", "-q", "--no-sandbox"]);
    said.out_has("not searched").out_has("the process that searched was lost").out_has(", 1 not searched;");
    assert!(clean(&said.out).contains("same") && !clean(&said.out).contains("other"), "{}", said.shown());
    let run = desk.json("results/0001-gaps/run.json");
    assert_eq!(comparison(&run, "other", "gcc/O2/native")["stop_reason"], "lost");

    desk.expect(0, &["report"])
        .out_has("no inconsistency found in 1 of 2 functions, 1 not searched")
        .out_has("not searched:\n  other on gcc/O2/native: the process that searched was lost");
    desk.expect(0, &["report", "--markdown"]).out_has("1 function not searched").out_has("Not searched");
    let junit = desk.expect(0, &["report", "--junit"]);
    junit.out_has("errors=\"1\"").out_has("type=\"worker-lost\"");
    let sarif = desk.expect(0, &["report", "--sarif"]).json();
    let told = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(told.contains("other on gcc/O2/native was not searched"), "{told}");
    desk.expect(0, &["report", "--github"]).out_has("::warning").out_has("not searched");
    desk.expect(0, &["report", "--html"]);
    let page = desk.read("results/0001-gaps/report.html");
    assert!(
        page.contains("<h2 id=\"unsearched-title\">Not searched</h2>") && page.contains("\"marks\":\"u\"")
    );
    desk.expect(3, &["run", "-q", "--strict", "--no-sandbox"])
        .err_has("function other on build gcc/O2/native was not searched");
}

#[test]
fn a_gate_whose_worker_is_lost_is_incomplete() {
    let desk = locked(KILLS);
    // In a sandbox nobody loses a worker to it, and all is searched.
    desk.expect(0, &["gate", "-q"]).out_has("searched all 2 comparisons of the lock");
    std::fs::remove_dir_all(desk.path("results/0002-gaps")).unwrap();
    let said = desk.expect(3, &["gate", "-q", "--no-sandbox"]);
    said.out_has("gate gaps: incomplete").out_has("searched 1 of 2 comparisons of the lock");
    let gate = desk.json("results/0002-gaps/gate.json");
    assert_eq!(gate["verdict"], "incomplete");
    let gap = &gate["unsearched"][0];
    assert_eq!((&gap["function"], &gap["kind"]), (&"other".into(), &"worker-lost".into()), "{gap}");
    assert!(gap["accepted"].as_u64().unwrap() > 1000, "{gap}");
    // Nothing of it can be accepted either.
    desk.expect(0, &["accept"]).out_has("not searched: the process that searched was lost");
    desk.expect(3, &["gate", "-q", "--no-sandbox"]);
}

#[test]
fn a_gate_that_its_time_cut_short_is_incomplete_and_says_what_share_was_searched() {
    let desk = locked(PLAIN);
    let said = desk.expect(3, &["gate", "-q", "--time", "0.0001"]);
    said.out_has("cut by time").out_has("% of its search");
    let gate = desk.json("results/0002-gaps/gate.json");
    assert_eq!(gate["verdict"], "incomplete");
    assert!(gate["searched"]["share"].as_f64().unwrap() < 1.0, "{gate:#}");
    let said = desk.expect(0, &["gate", "-q", "--time", "600"]);
    said.out_has("green").out_has("searched all 2 comparisons of the lock");
}

#[test]
fn a_deadline_of_the_matrix_makes_no_gate_green() {
    let desk = locked(PLAIN);
    desk.write("matrix.toml", &matrix(&format!("{PAPER}\ndeadline_s = 1e-6"), AXES, FUNCTIONS));
    desk.expect(3, &["gate", "-q"]).out_has("incomplete").out_has("cut by time");
}

#[test]
fn a_gate_of_a_smaller_budget_than_the_locks_is_incomplete() {
    let desk = locked(PLAIN);
    let said = desk.expect(3, &["gate", "-q", "--budget", "10"]);
    said.out_has("evaluations, the accepted search had");
    assert_eq!(desk.json("results/0002-gaps/gate.json")["unsearched"][0]["kind"], "too-few");
    desk.expect(0, &["gate", "-q", "--budget", "50000"]);
}

#[test]
fn what_is_given_up_makes_a_gate_incomplete_though_its_faults_are_accepted() {
    let desk = lab("if (x > 1) *(volatile int *)0 = 1; return x;");
    desk.expect(0, &["run", "-q"]).out_has("given up after too many faults");
    desk.expect(0, &["accept", "--loosen"]);
    desk.expect(3, &["gate", "-q"]).out_has("incomplete").out_has("given up after too many faults");
}

#[test]
fn what_is_red_stays_red_beside_what_was_not_searched() {
    let desk = locked(KILLS);
    let moved = source(KILLS)
        .replace("return x * 0.5;", "\n#ifdef __OPTIMIZE__\nif (x > 2) return x;\n#endif\nreturn x * 0.5;");
    desk.write("code.c", &moved);
    let said = desk.expect(2, &["gate", "-q", "--no-sandbox"]);
    said.out_has("same on gcc/O2/native").out_has("gate gaps: red").out_has("not searched");
    let gate = desk.json("results/0002-gaps/gate.json");
    assert_eq!((&gate["verdict"], gate["unsearched"].as_array().unwrap().len()), (&"red".into(), 1));
}

#[test]
fn a_lock_records_evaluations_and_one_that_does_not_is_told() {
    let desk = locked(PLAIN);
    let mut lock = desk.json("bitrift.lock.json");
    let recorded = lock["functions"]["other"]["evaluations"]["gcc/O2/native"].as_u64().unwrap();
    let run = desk.json("results/0001-gaps/run.json");
    assert_eq!(recorded, comparison(&run, "other", "gcc/O2/native")["evaluations"].as_u64().unwrap());
    for name in ["same", "other"] {
        lock["functions"][name].as_object_mut().unwrap().remove("evaluations");
    }
    desk.write("bitrift.lock.json", &lock.to_string());
    desk.expect(0, &["gate", "-q"]).out_has("does not record the evaluations of 2 of 2 comparisons");
    desk.expect(0, &["accept"]);
    assert_eq!(
        desk.json("bitrift.lock.json")["functions"]["other"]["evaluations"]["gcc/O2/native"],
        recorded
    );
}

#[test]
fn a_slow_function_that_had_less_than_half_of_the_recorded_evaluations_is_not_searched() {
    let slow = "for (volatile int i = 0; i < 300000; i++) {} return x * 0.25;";
    let desk = Desk::new();
    let search = "budget = 20000\npace_us = 1";
    desk.write("code.c", &source(slow)).write("matrix.toml", &matrix(search, AXES, FUNCTIONS));
    desk.expect(0, &["run", "-q"]);
    let run = desk.json("results/0001-gaps/run.json");
    assert_eq!(comparison(&run, "other", "gcc/O2/native")["stop_reason"], "pace", "{run:#}");
    desk.expect(0, &["accept", "--loosen"]);
    let mut lock = desk.json("bitrift.lock.json");
    let recorded = &mut lock["functions"]["other"]["evaluations"]["gcc/O2/native"];
    *recorded = (recorded.as_u64().unwrap() * 100).into();
    desk.write("bitrift.lock.json", &lock.to_string());
    desk.expect(3, &["gate", "-q"]).out_has("incomplete").out_has("the accepted search had");
}

#[test]
fn an_answer_that_code_under_test_forged_is_a_fault_and_no_answer() {
    for frame in ["with", "without"] {
        let desk = locked(&FORGES.replace("FRAME", frame));
        let said = desk.expect(2, &["gate", "-q"]);
        said.out_has("other on gcc/O").out_has("garbled, which is not accepted");
        let run = desk.json("results/0002-gaps/run.json");
        let faults = function(&run, "other")["faults"].to_string();
        assert!(faults.contains("garbled"), "{faults}");
        // What it computes is searched all the same, where it cannot reach the pipe.
        let row = comparison(&run, "other", "gcc/O2/native");
        assert!(row["stop_reason"] == "complete" && row["evaluations"].as_u64().unwrap() > 1000, "{row:#}");
    }
}

#[test]
fn the_build_that_forges_is_named_and_no_other() {
    let forges = FORGES.replace("FRAME", "with");
    let desk = lab(&format!("\n#ifdef __OPTIMIZE__\n{forges}\n#endif\n{PLAIN}"));
    desk.expect(0, &["run", "-q"]);
    let run = desk.json("results/0001-gaps/run.json");
    let faults = function(&run, "other")["faults"].as_array().unwrap();
    let named: Vec<_> =
        faults.iter().map(|f| (f["build"].as_str().unwrap(), f["kind"].as_str().unwrap())).collect();
    assert_eq!(named, [("gcc/O2/native", "garbled")]);
    let bytes = desk.read("results/0001-gaps/run.json");
    desk.expect(0, &["run", "-q", "--jobs", "3"]);
    assert!(desk.read("results/0002-gaps/run.json") == bytes, "another number of jobs gives another run");
}

fn with_absent(key: &str) -> String {
    let absent = format!("[[compiler]]\nname = \"acme\"\ncommand = \"acme-cc\"\n{key}\n");
    matrix(PAPER, &format!("{AXES}{absent}"), FUNCTIONS)
}

#[test]
fn a_compiler_that_is_absent_ends_a_run_with_exit_code_3_unless_it_is_optional() {
    let desk = lab(PLAIN);
    desk.write("matrix.toml", &with_absent(""));
    let said = desk.expect(3, &["run", "-q"]);
    said.err_has("build acme/O0/native").err_has("acme-cc").err_has("optional = true");
    // After everything else was done.
    said.out_has("no inconsistency found: same, other").out_has("stored in results/0001-gaps");
    assert!(desk.exists("results/0001-gaps/confirm.json"));
    desk.write("matrix.toml", &with_absent("optional = true"));
    desk.expect(0, &["run", "-q"]).out_has("acme-cc");
    let target = "[[target]]\nname = \"native\"\n[[target]]\nname = \"far\"\ntriple = \"aarch64-linux-gnu\"\n\
                  compilers = { gcc = \"acme-gcc\" }\nrunner = [\"qemu-aarch64\"]\n";
    let far = |key: &str| matrix(PAPER, &format!("{AXES}{target}{key}\n"), FUNCTIONS);
    desk.write("matrix.toml", &far(""));
    desk.expect(3, &["run", "-q"]).err_has("build gcc/O2/far");
    desk.write("matrix.toml", &far("optional = true"));
    desk.expect(0, &["run", "-q"]);
}

#[test]
fn a_run_with_nothing_left_to_compare_is_an_error_in_junit_too() {
    let desk = lab(PLAIN);
    let alone = "[[exclude]]\nflags = \"O2\"\n";
    let absent = "[[compiler]]\nname = \"acme\"\ncommand = \"acme-cc\"\noptional = true\n\
                  [[exclude]]\ncompiler = \"acme\"\nflags = \"O0\"\n";
    for axes in
        [format!("{AXES}{alone}"), format!("{AXES}{absent}[[exclude]]\ncompiler = \"gcc\"\nflags = \"O2\"\n")]
    {
        desk.write("matrix.toml", &matrix(PAPER, &axes, FUNCTIONS));
        let said = desk.expect(3, &["run", "-q", "--out", "run", "--overwrite"]);
        said.err_has("nothing was compared").out_has("not searched").out_lacks("no inconsistency found");
        desk.expect(0, &["report", "run", "--junit"]).out_has("errors=\"1\"").out_has("nothing-to-compare");
        desk.expect(0, &["report", "run"])
            .out_has("no inconsistency found in 0 of 2 functions, 2 not searched");
        desk.expect(1, &["accept", "run", "--loosen"]).err_has("searched nothing");
    }
}

#[test]
fn a_run_that_searched_nothing_or_next_to_nothing_is_not_accepted() {
    let desk = lab(PLAIN);
    desk.write("matrix.toml", &matrix(&format!("{PAPER}\ndeadline_s = 1e-6"), AXES, FUNCTIONS));
    desk.expect(3, &["run", "-q"]).err_has("nothing was searched").err_has("give the search more time");
    for more in [&["accept"][..], &["accept", "--loosen"]] {
        desk.expect(1, more)
            .err_has("the run searched nothing")
            .err_has("other on gcc/O2/native: cut by time");
    }
    desk.write("matrix.toml", &matrix(PAPER, AXES, FUNCTIONS));
    desk.expect(0, &["run", "-q", "--budget", "1"]);
    desk.expect(1, &["accept"]).err_has("searched too little").err_has("at least 1000").err_has("--loosen");
    assert!(!desk.exists("bitrift.lock.json"));
    desk.expect(0, &["accept", "--loosen"]);
    // A search that came to its own end is enough, however few inputs there are.
    let small = "[[function]]\nsignature = \"double same(double x)\"\ndomain = { x = \"{1, 2, 3}\" }\n";
    desk.write("matrix.toml", &matrix(PAPER, AXES, small));
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept", "--lock", "small.json"]);
    desk.expect(0, &["gate", "-q", "--lock", "small.json"]);
}

#[test]
fn a_lock_remembers_absent_builds_and_a_gate_says_what_became_of_them() {
    let desk = lab(PLAIN);
    desk.write("matrix.toml", &with_absent("optional = true"));
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]);
    let lock = desk.json("bitrift.lock.json");
    assert!(lock["absent"]["acme/O2/native"].as_str().unwrap().contains("acme-cc"), "{lock:#}");
    desk.expect(0, &["gate", "-q"]).out_has("acme/O2/native is absent, as when the lock was made");
    desk.write("matrix.toml", &with_absent("optional = true").replace("acme-cc", "gcc"));
    desk.expect(0, &["gate", "-q"])
        .out_has("acme/O2/native was absent when the lock was made")
        .out_has("is here now: nothing");
    desk.expect(0, &["accept"]);
    assert!(desk.json("bitrift.lock.json")["absent"].is_null());
    // One that is not optional keeps a gate from being green.
    let more = "optional = true\n[[compiler]]\nname = \"zeta\"\ncommand = \"zeta-cc\"";
    desk.write("matrix.toml", &with_absent(more).replace("acme-cc", "gcc"));
    desk.expect(3, &["gate", "-q"]).out_has("incomplete").out_has("zeta-cc");
}

#[test]
fn a_function_that_gives_one_answer_to_everything_is_told() {
    let desk = lab("return access(\"/no/such/table.dat\", R_OK) == 0 ? x : -1;");
    desk.expect(0, &["run", "-q"]).out_has("every result is -1: other");
    let run = desk.json("results/0001-gaps/run.json");
    assert_eq!(function(&run, "other")["constant"][0]["dec"], "-1");
    assert!(function(&run, "same").get("constant").is_none());
    desk.expect(0, &["report"]).out_has("every result is -1");
    desk.expect(0, &["report", "--markdown"]).out_has("every result is -1");
    desk.expect(0, &["report", "--html"]);
    assert!(desk.read("results/0001-gaps/report.html").contains("\"remarks\":[\"every result is -1\"]"));
    desk.expect(0, &["show"]).out_has("every result is -1: other");
}

#[test]
fn library_code_that_no_flag_reaches_is_told() {
    let desk = lab(PLAIN);
    let flags = |name: &str, args: &str| format!("[[flags]]\nname = \"{name}\"\nargs = [{args}]\n");
    let axes = [
        AXES.to_string(),
        flags("O1", "\"-O1\""),
        flags("O3", "\"-O3\""),
        flags("O3-native", "\"-O3\", \"-march=native\""),
    ];
    let call = "[[function]]\nname = \"bessel\"\nparams = [\"double x\"]\nheaders = [\"math.h\"]\ncall = \"j0(x)\"\n";
    desk.write("matrix.toml", &matrix(PAPER, &axes.concat(), &format!("{FUNCTIONS}{call}")));
    let said = desk.expect(0, &["run", "-q"]);
    said.out_has("not in your sources: the same code in every build: bessel");
    let run = desk.json("results/0001-gaps/run.json");
    assert_eq!(function(&run, "bessel")["same_code"], true);
    assert!(function(&run, "same").get("same_code").is_none());
}

/// The heads of old libraries are two, of which the preprocessor takes one: no parser of C sees a definition there.
#[test]
fn code_whose_head_is_not_understood_is_not_said_to_be_elsewhere() {
    let old = "#ifdef __STDC__\n\tdouble old(double x)\n#else\n\tdouble old(x)\n\tdouble x;\n#endif\n{\n\treturn x * 0.5;\n}\n";
    let desk = lab(PLAIN);
    desk.write("code.c", &format!("{}{old}", source(PLAIN)));
    let function = "[[function]]\nsignature = \"double old(double x)\"\n";
    desk.write("matrix.toml", &matrix(PAPER, AXES, &format!("{FUNCTIONS}{function}")));
    desk.expect(0, &["run", "-q"]).out_has("no inconsistency found").out_lacks("not in your sources");
}

#[test]
fn the_doctor_calls_every_function_once() {
    let desk = lab("if (x > 1) *(volatile int *)0 = 1; return x;");
    let gone = "[[function]]\nsignature = \"double gone(double x)\"\n";
    desk.write("matrix.toml", &matrix(PAPER, AXES, &format!("{FUNCTIONS}{gone}")));
    let said = desk.expect(3, &["doctor"]);
    said.out_has("2 of 2 builds can")
        .out_has("SIGSEGV at x = 1.5")
        .out_has("no source of [sources] defines `gone`");
    said.out_has("2 of 6 calls, one of each function in each build, gave a value");
    desk.write("code.c", "this is not C");
    desk.expect(3, &["doctor"]).out_has("all: the sources").out_has("0 of 6 calls");
}

#[test]
fn a_replay_that_could_evaluate_no_witness_is_no_success() {
    let differs = "\n#ifdef __OPTIMIZE__\nif (x > 2) return x;\n#endif\nreturn x * 0.25;";
    let desk = lab(differs);
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["replay", "-q"]).out_has("1 held");
    desk.write("matrix.toml", &desk.read("matrix.toml").replace("name = \"O2\"", "name = \"O2-new\""));
    desk.expect(3, &["replay", "-q"]).out_has("1 unevaluated").err_has("no witness is left");
}
