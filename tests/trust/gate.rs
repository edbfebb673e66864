//! The gate on real compilers: green as long as nothing moves, red with the findings named when something does,
//! green again when that is accepted, and a message of its own for everything that can be missing or broken.

use std::process::Stdio;

use crate::common::{Desk, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// `planted` differs on [2, 8) when optimised, on [64, 128) too with clang; `lost` under -ffast-math, by itself;
/// `same` never does.
const SOURCE: &str = "
#ifdef __OPTIMIZE__
#define PLANTED(where) (where)
#else
#define PLANTED(where) 0
#endif
#ifdef __clang__
#define CLANG(where) (where)
#else
#define CLANG(where) 0
#endif
double same(double x) { return x * 0.5; }
double planted(double x) {
    LOOP
    if (CLANG(x >= 64 && x < 128)) return x * 5;
    return PLANTED(x >= 2 && x < 8) ? x * 3 : x;
}
double lost(double x) { return (x + 1.0) - 1.0; }
";

const LAB: &str = "
[lab]
name = \"gated\"
baseline = \"gcc/O0\"
[search]
budget = \"paper\"
[sources]
files = [\"code.c\"]
[[compiler]]
name = \"gcc\"
[[compiler]]
name = \"tool\"
command = \"gcc\"
[[flags]]
name = \"O0\"
args = [\"-O0\"]
[[flags]]
name = \"opt\"
args = [\"-O2\"]
[[exclude]]
compiler = \"gcc\"
flags = \"opt\"
[[exclude]]
compiler = \"tool\"
flags = \"O0\"
";

const FUNCTIONS: &str = "
[[function]]
signature = \"double same(double x)\"
[[function]]
signature = \"double planted(double x)\"
[[function]]
signature = \"double lost(double x)\"
domain = { x = \"[-100, 100]\" }
";

/// The same build by another compiler.
fn with_clang() -> String {
    format!("{}{FUNCTIONS}", LAB.replace("command = \"gcc\"", "command = \"clang-16\""))
}

fn unlocked() -> Desk {
    let desk = Desk::new();
    desk.write("code.c", &SOURCE.replace("LOOP", "")).write("matrix.toml", &format!("{LAB}{FUNCTIONS}"));
    desk.expect(0, &["run", "-q"]);
    desk
}

fn locked() -> Desk {
    let desk = unlocked();
    desk.expect(0, &["accept"]).out_has("bitrift.lock.json made from results/0001-gated");
    desk
}

fn lock(desk: &Desk) -> Value {
    desk.json("bitrift.lock.json")
}

fn planted(lock: &Value) -> &Value {
    &lock["functions"]["planted"]["builds"]["tool/opt/native"]["ranges"]
}

#[test]
fn a_lock_holds_what_a_run_found_and_what_its_builds_are_made_of() {
    let desk = locked();
    let lock = lock(&desk);
    assert_eq!(lock["schema"], "bitrift.lock/1");
    assert_eq!((&lock["baseline"], &lock["nan"]), (&"gcc/O0/native".into(), &"any".into()));
    assert_eq!(lock["search"]["budget"], "paper");
    let build = &lock["builds"]["tool/opt/native"];
    assert_eq!((&build["flags"][0], &build["fpenv"]), (&"-O2".into(), &"ieee".into()));
    assert!(build["version"].as_str().unwrap().contains("gcc"), "{build}");
    assert!(build["libm"].as_str().unwrap().contains("libm"), "{build}");
    let range = &planted(&lock)[0];
    assert_eq!(range["lo"][0]["dec"], "2", "{range}");
    assert!(range["max_bits"].as_f64().unwrap() > 50.0 && range["witness"]["variant"]["hex"].is_string());
    assert_eq!(lock["functions"]["same"]["clean"][0], "tool/opt/native");
}

#[test]
fn the_same_compiler_is_green_another_is_red_until_it_is_accepted() {
    let desk = locked();
    desk.expect(0, &["gate", "-q"]).out_has("gate gated: green").out_has("1 held");

    desk.write("matrix.toml", &with_clang());
    let said = desk.expect(2, &["gate", "-q"]);
    said.out_has("planted on tool/opt/native")
        .out_has("no difference is accepted here")
        .out_has("bitrift eval planted 0x1.");
    said.out_has("version was `gcc").out_has("gate gated: red, 1 finding beyond bitrift.lock.json");
    said.out_has("to accept what was found: bitrift accept --loosen").out_lacks("lost on");
    let verdict = desk.json("results/0003-gated/gate.json");
    let finding = &verdict["findings"][0];
    assert_eq!((&verdict["schema"], &finding["kind"]), (&"bitrift.gate/1".into(), &"new".into()));
    let witness: f64 = finding["witness"]["inputs"][0]["dec"].as_str().unwrap().parse().unwrap();
    assert!((64.0..128.0).contains(&witness), "{finding}");

    // Only tightening: what is new stays out, and says how to get in.
    let before = desk.read("bitrift.lock.json");
    desk.expect(0, &["accept", "--dry-run", "--loosen"]).out_has("would be updated");
    assert_eq!(desk.read("bitrift.lock.json"), before);
    desk.expect(0, &["accept"]).out_has("not accepted").out_has("to accept it: bitrift accept --loosen");
    assert_eq!(planted(&lock(&desk)).as_array().unwrap().len(), 1);
    desk.expect(2, &["gate", "-q"]);

    desk.expect(0, &["accept", "--loosen"]).out_has("accepted");
    desk.expect(0, &["gate", "-q"]).out_has("green").out_lacks("note: tool/opt/native");
    let bytes = desk.read("bitrift.lock.json");
    desk.expect(0, &["accept"]).out_has("nothing to change");
    assert_eq!(desk.read("bitrift.lock.json"), bytes);

    // Back on gcc there is less: a note, and a tighter lock when that is accepted.
    desk.write("matrix.toml", &format!("{LAB}{FUNCTIONS}"));
    desk.expect(0, &["gate", "-q"]).out_has("planted on tool/opt/native: gone at 1 of 2 accepted witnesses");
    desk.expect(0, &["accept"]).out_has("removed");
    assert_eq!(planted(&lock(&desk)).as_array().unwrap().len(), 1);
}

#[test]
fn another_level_of_optimisation_is_red_with_what_it_moves() {
    let desk = locked();
    let fast = LAB.replace("\"-O2\"", "\"-O3\", \"-ffast-math\"");
    desk.write("matrix.toml", &format!("{fast}{FUNCTIONS}"));
    let said = desk.expect(2, &["gate", "-q", "--json"]);
    let verdict = said.json();
    let named = |f: &&Value| f["function"] == "lost" && f["kind"] == "new";
    let found =
        verdict["findings"].as_array().unwrap().iter().find(named).unwrap_or_else(|| panic!("{verdict:#}"));
    assert!(found["bits"].as_f64().unwrap() > 0.0 && found["lo"][0]["hex"].is_string());
    // What the verdict says can be seen.
    let input = found["witness"]["inputs"][0]["hex"].as_str().unwrap();
    desk.expect(0, &["eval", "-q", "lost", input])
        .out_has(found["witness"]["variant"]["dec"].as_str().unwrap());
    let notes = verdict["notes"].as_array().unwrap();
    assert!(
        notes
            .iter()
            .any(|n| n["kind"] == "build-changed" && n["text"].as_str().unwrap().contains("-ffast-math"))
    );
    desk.expect(0, &["accept", "--loosen"]);
    desk.expect(0, &["gate", "-q"]);
}

#[test]
fn a_short_time_or_another_seed_finds_nothing_that_is_not_there() {
    let desk = locked();
    for more in [&["--seed", "7"][..], &["--seed", "8", "--budget", "20000"]] {
        desk.expect(0, &[&["gate", "-q"][..], more].concat()).out_has("1 held");
    }
    for time in ["0", "0.05"] {
        let said = desk.bitrift(&["gate", "-q", "--time", time]);
        // Half a tenth of a second may be enough to search all.
        assert!(said.code == 3 || (said.code == 0 && time != "0"), "{}", said.shown());
        said.out_has("1 held").out_lacks("beyond bitrift.lock.json\n  to accept");
    }
}

#[test]
fn a_lock_that_is_not_there_or_not_ours_is_told() {
    let desk = unlocked();
    desk.expect(1, &["gate", "-q"])
        .err_has("there is no lock file bitrift.lock.json; `bitrift accept` makes one");
    desk.expect(0, &["accept"]);
    let good = desk.read("bitrift.lock.json");
    let range = "functions.planted.builds.tool/opt/native.ranges[0]";
    let at = |key: &str| format!("at `{range}.{key}`");
    let lo = "\"lo\": [{ \"hex\": \"0x1p+1\", \"dec\": \"2\" }]";
    let cases: [(&str, String, Vec<String>); 9] = [
        (
            "cut",
            good[..good.len() / 2].into(),
            vec!["is cut off at line".into(), "restore it from version".into()],
        ),
        (
            "newer",
            good.replace("bitrift.lock/1", "bitrift.lock/2"),
            vec!["written by a newer bitrift".into()],
        ),
        (
            "foreign",
            "{\"schema\": \"npm/3\"}".into(),
            vec!["is not a lock file of bitrift: its schema is \"npm/3\"".into()],
        ),
        ("no json", "lock = 1".into(), vec!["is not JSON".into()]),
        ("no number", good.replace(lo, "\"lo\": [{ \"hex\": \"two\", \"dec\": \"2\" }]"), vec![at("lo[0]")]),
        (
            "reversed",
            good.replace(lo, "\"lo\": [{ \"hex\": \"0x1p+9\", \"dec\": \"512\" }]"),
            vec![at("lo[0]"), "`512` is above".into()],
        ),
        (
            "bits",
            good.replacen("\"max_bits\": ", "\"max_bits\": -", 1),
            vec![at("max_bits"), "expected a number from 0 to 64".into()],
        ),
        (
            "build",
            good.replace("\"baseline\": \"gcc/O0/native\"", "\"baseline\": \"gcc/O9/native\""),
            vec!["`gcc/O9/native` is not among `builds`".into()],
        ),
        (
            "lab",
            good.replace("\"name\": \"gated\"", "\"name\": \"other\""),
            vec!["is the lock of the lab `other`".into()],
        ),
    ];
    for (what, text, messages) in cases {
        assert_ne!(text, good, "{what}");
        desk.write("bitrift.lock.json", &text);
        let said = desk.expect(1, &["gate", "-q"]);
        for message in messages {
            said.err_has(&message);
        }
    }
}

#[test]
fn a_compiler_or_a_function_that_is_missing_is_named_with_exit_code_3() {
    let desk = locked();
    let gone = LAB.replace("command = \"gcc\"", "command = \"no-such-cc\"\noptional = true");
    desk.write("matrix.toml", &format!("{gone}{FUNCTIONS}"));
    let said = desk.expect(3, &["gate", "-q"]);
    said.err_has("build tool/opt/native skipped: ").err_has("no-such-cc").err_has("install what is missing");

    let fewer = FUNCTIONS.replace("[[function]]\nsignature = \"double planted(double x)\"\n", "");
    desk.write("matrix.toml", &format!("{LAB}{fewer}"));
    desk.expect(3, &["gate", "-q"])
        .err_has("function planted is in the lock and not in the matrix")
        .err_has("--prune");
    // As the message says.
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]).out_has("--prune forgets it");
    desk.expect(0, &["accept", "--prune"]).out_has("removed");
    desk.expect(0, &["gate", "-q"]);

    let other = FUNCTIONS.replace("double same(double x)", "float same(double x)");
    desk.write("matrix.toml", &format!("{LAB}{other}"));
    desk.expect(3, &["gate", "-q"])
        .err_has("was accepted as double (double x), the matrix now says float (double x)");
    desk.write(
        "matrix.toml",
        &format!("{}{fewer}", LAB.replace("baseline = \"gcc/O0\"", "baseline = \"tool/opt\"")),
    );
    desk.expect(1, &["gate", "-q"])
        .err_has("made against the baseline gcc/O0/native, the matrix has tool/opt/native");
}

#[test]
fn a_witness_that_now_times_out_fails_the_gate() {
    let desk = locked();
    let lock = lock(&desk);
    let witness = planted(&lock)[0]["witness"]["inputs"][0]["hex"].as_str().unwrap();
    let endless = format!("if (PLANTED(x == {witness})) for (volatile int i = 1; i;) i = 1;");
    desk.write("code.c", &SOURCE.replace("LOOP", &endless));
    let said = desk.expect(2, &["gate", "-q"]);
    said.out_has("planted on tool/opt/native: timeout at an accepted witness")
        .out_has("1 faulted")
        .out_has(witness);
    desk.expect(0, &["accept", "--loosen"]);
    desk.expect(0, &["gate", "-q"]);
}

#[test]
fn limits_of_the_matrix_hold_whatever_is_accepted() {
    let desk = locked();
    let limit = |text: &str| {
        desk.write(
            "matrix.toml",
            &format!("{LAB}{FUNCTIONS}\n[[limit]]\nfunction = \"pl*\"\nbuild = \"tool/*\"\n{text}\n"),
        );
    };
    limit("max_bits = 8");
    desk.expect(2, &["gate", "-q"])
        .out_has("over-limit")
        .out_has("the matrix allows 8")
        .out_lacks("to accept");
    let shorthand = FUNCTIONS.replace("planted(double x)\"", "planted(double x)\"\nmax_bits = 8.5");
    desk.write("matrix.toml", &format!("{LAB}{shorthand}"));
    desk.expect(2, &["gate", "-q"]).out_has("the matrix allows 8.5");

    let clang = |text: &str| {
        desk.write("matrix.toml", &format!("{}\n[[limit]]\nfunction = \"planted\"\n{text}\n", with_clang()));
    };
    clang("allow = \"clang is known to\"");
    desk.expect(0, &["gate", "-q"]).out_has("allowed: clang is known to");
    clang("expect = true");
    desk.expect(2, &["gate", "-q"]).out_lacks("expected");

    desk.write("matrix.toml", &format!("{LAB}{FUNCTIONS}\n[[limit]]\nfunction = \"same\"\nexpect = true\n"));
    desk.expect(0, &["gate", "-q"])
        .out_has("note: same on tool/opt/native is expected to differ and does not");
    desk.expect(2, &["gate", "-q", "--strict"]).out_has("expected-gone");
}

#[test]
fn an_interrupted_gate_leaves_nothing_behind() {
    let desk = locked();
    let args = ["gate", "--budget", "2000000000"];
    let child = desk.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the gate searches", || desk.exists("results/0002-gated/journal.jsonl"));
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("interrupted before the verdict; nothing is stored, start the gate again"),
        "{said}"
    );
    assert_eq!(desk.list("results"), ["0001-gated"]);
    assert!(desk.processes().is_empty(), "{:?}", desk.processes());
}

/// Functions of five parameters that differ everywhere: a range for each of the 32 ways their signs can be.
fn manifold(functions: usize) -> (String, String) {
    let (mut code, mut matrix) = (String::new(), String::new());
    for index in 0..functions {
        let signature = format!("double f{index}(double a, double b, double c, double d, double e)");
        let odd = 3 + 2 * index;
        code.push_str(&format!(
            "{signature} {{\n#ifdef __OPTIMIZE__\nreturn a * {odd};\n#endif\nreturn a; }}\n"
        ));
        matrix.push_str(&format!("[[function]]\nsignature = \"{signature}\"\n"));
    }
    (code, matrix)
}

#[test]
fn a_thousand_witnesses_are_replayed_within_five_seconds() {
    let desk = Desk::new();
    let (code, functions) = manifold(40);
    let lab =
        LAB.replace("[sources]", "[sources]\nlibs = [\"m\"]").replace("budget = \"paper\"", "budget = 20000");
    desk.write("code.c", &code).write("matrix.toml", &format!("{lab}{functions}"));
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]);
    // No time is left for a search, which makes it incomplete.
    let said = desk.expect(3, &["gate", "-q", "--time", "0"]);
    let line = said.out.lines().find(|line| line.starts_with("replayed ")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let (witnesses, seconds): (usize, f64) =
        (words[1].replace(',', "").parse().unwrap(), words[4].parse().unwrap());
    assert!(witnesses >= 1000, "{line}");
    assert!(seconds < 5.0, "{line}");
    said.out_has(" 0 moved, 0 gone, 0 faulted");
}
