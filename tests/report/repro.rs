//! Folders that show findings on a machine without bitrift: they are copied away from everything and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use crate::common::Desk;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a script with nothing of this project in reach: its own folder, a plain PATH, no other variable.
fn shown(script: &Path) -> Output {
    Command::new("sh")
        .arg(script)
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .output()
        .unwrap()
}

#[track_caller]
fn expect(script: &Path, code: i32, text: &str) {
    let output = shown(script);
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{}\n{said}", script.display());
    assert!(said.contains(text), "no `{text}` in\n{said}");
}

/// The scripts of all findings of the latest run, in a folder outside the desk's own.
fn all_scripts(desk: &Desk, elsewhere: &Path) -> Vec<PathBuf> {
    let said = desk.expect(0, &["repro", "--all", "-q", "--out", "made"]);
    let names = desk.list("made");
    assert_eq!(said.out.lines().count(), names.len());
    let moved = Command::new("mv").arg(desk.path("made")).arg(elsewhere.join("made")).status().unwrap();
    assert!(moved.success());
    names.iter().map(|name| elsewhere.join("made").join(name).join("run.sh")).collect()
}

/// Every script shows its difference. They compile much, so several run at once.
fn every_script_shows_its_difference(scripts: Vec<PathBuf>) {
    let (queue, wrong) = (Mutex::new(scripts), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(script) = queue.lock().unwrap().pop() else { break };
                    let output = shown(&script);
                    if output.status.code() != Some(0) {
                        let said =
                            [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
                        wrong.lock().unwrap().push(format!("{}\n{}", script.display(), said.concat()));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} fail, the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn every_finding_of_the_quickstart_shows_itself_outside_the_project() {
    let desk = Desk::new();
    for name in ["matrix.toml", "fixtures/quickstart"] {
        std::fs::create_dir_all(desk.path("fixtures")).unwrap();
        let done = Command::new("cp").arg("-r").arg(root().join(name)).arg(desk.path(name)).status();
        assert!(done.unwrap().success());
    }
    desk.expect(0, &["run", "-q"]).out_lacks("NOT confirmed");
    let elsewhere = tempfile::tempdir().unwrap();
    let scripts = all_scripts(&desk, elsewhere.path());
    assert!(scripts.len() > 100, "{} findings", scripts.len());
    drop(desk);
    every_script_shows_its_difference(scripts);
}

/// Setup, a call, a body, headers near and far, integers, floats, forced environments, another libm, another
/// target, and names that a shell would take apart.
fn hard_lab() -> Desk {
    let desk = Desk::new();
    desk.write(
        "code/src dir/it's $x.c",
        "#include \"../near/near.h\"\n#include <far.h>\nstatic double scale;\nvoid start(double s) { scale = s; }\n\
         double planted(double x) { return PLANTED(x >= 2 && x < 8) ? x * FACTOR * scale : x; }\n\
         double steps(int n) { return PLANTED(n >= 10 && n < 20) ? -n : n + 0.5; }\n\
         float single(float x) { return PLANTED(x >= 2 && x < 8) ? -x : x; }\n\
         double tiny(double x) { return x * 0x1p-1030; }\nint main(void) { return 7; }\n",
    );
    desk.write(
        "code/near/near.h",
        "#ifdef __OPTIMIZE__\n#define PLANTED(where) (where)\n#else\n#define PLANTED(where) 0\n#endif\n",
    );
    desk.write("far/far.h", "#include <deeper/deeper.h>\n#include <math.h>\nvoid start(double);\n");
    desk.write("far/deeper/deeper.h", "#define FACTOR (sizeof(TEXT) - 1)\n");
    desk.write(
        "lab/matrix.toml",
        r#"
setup = "start(1);"
setup_headers = ["far.h"]

[lab]
name = "hard"
baseline = "gcc/O0/native/own"

[search]
budget = "paper"

[sources]
files = ["../code/src dir/*.c"]
defines = ["TEXT=\"a 'b'\""]
libs = ["m"]

[[compiler]]
name = "gcc"
args = ["-I../far"]

[[flags]]
name = "O0"
args = ["-O0"]

[[flags]]
name = "O2"
args = ["-O2", "-ffast-math", "-Wall", "-Werror"]

[[target]]
name = "native"

[[target]]
name = "aarch64"
triple = "aarch64-linux-gnu"
compilers = { gcc = "aarch64-linux-gnu-gcc" }
runner = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]

[[environment]]
name = "own"

[[environment]]
name = "up"
rounding = "up"
fpenv = "ieee"

[[environment]]
name = "musl"
libm = "musl"

[[exclude]]
target = "aarch64"
environment = "[!o]*"

[[function]]
signature = "double planted(double x)"

[[function]]
signature = "double steps(int n)"
domain = { n = "[0, 100]" }

[[function]]
signature = "float single(float x)"

[[function]]
name = "called"
headers = ["far.h"]
params = ["double x", "unsigned n"]
domain = { x = "[1, 2]", n = "[1, 3]" }
call = "x / (n + 2.0) + FACTOR"

[[function]]
name = "a-body"
headers = ["far.h"]
params = ["double x"]
domain = { x = "[1, 2]" }
body = """
double both[2];
both[0] = x; both[1] = exp(x) / 3;
return both[0] + both[1];
"""

[[function]]
signature = "double tiny(double x)"
"#,
    );
    desk
}

#[test]
fn headers_setups_environments_and_emulators_go_along() {
    let desk = hard_lab();
    std::fs::rename(desk.path("lab/matrix.toml"), desk.path("lab/m.toml")).unwrap();
    desk.expect(0, &["run", "-q", "lab/m.toml"]).out_lacks("NOT confirmed").out_lacks("could not be tried");
    let said = desk.expect(0, &["repro", "--all", "-q", "--matrix", "lab/m.toml", "--out", "made"]);
    assert!(said.out.lines().count() > 10, "{}", said.shown());
    for wanted in [
        "planted-gcc-O2-native-own",
        "steps-gcc-O2-aarch64-own",
        "tiny-gcc-O2-native-own",
        "a-body-gcc-O0-native-up",
        "single-gcc-O2-native-musl",
    ] {
        assert!(desk.list("made").iter().any(|name| name.starts_with(wanted)), "{wanted} in {}", said.out);
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let place = elsewhere.path().join("it's here");
    assert!(Command::new("mv").arg(desk.path("made")).arg(&place).status().unwrap().success());
    let scripts = std::fs::read_dir(&place).unwrap().map(|e| e.unwrap().path().join("run.sh")).collect();
    drop(desk);
    every_script_shows_its_difference(scripts);
}

/// The small lab's `planted`, searched.
fn small() -> Desk {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q", "--function", "planted"]);
    desk
}

const PLANTED: &str = "planted#gcc/O2/native.1";

#[test]
fn a_difference_that_is_gone_or_another_one_is_told() {
    let desk = small();
    let said = desk.expect(0, &["repro", PLANTED, "-q", "--out", "shown"]);
    assert_eq!(said.out, "sh shown/run.sh\n");
    let script = desk.path("shown/run.sh");
    expect(&script, 0, "the difference is as stored");
    let (code, file) = (desk.read("shown/files/small.c"), "shown/files/small.c");
    desk.write(file, &code.replace("x * 3 : x; }\ndouble corner", "x : x; }\ndouble corner"));
    expect(&script, 1, "the difference is gone");
    desk.write(file, &code.replace("x * 3 : x; }\ndouble corner", "x * 5 : x; }\ndouble corner"));
    expect(&script, 1, "the difference is another one");
    desk.write(file, "no C");
    expect(&script, 2, "could not build gcc/O0/native");
    // The folder is bitrift's own and may be made again; one that is not stays.
    desk.expect(0, &["repro", "1", PLANTED, "-q", "--out", "shown"]);
    expect(&script, 0, "as stored");
    desk.write("mine/notes.txt", "mine");
    desk.expect(1, &["repro", PLANTED, "-q", "--out", "mine"]).err_has("no script of `bitrift repro`");
}

#[test]
fn a_crash_and_a_timeout_are_answers_too() {
    for (fault, code) in
        [("SIGSEGV", "(*(volatile double *)0)"), ("exit 3", "(exit(3), x)"), ("timeout", "spin(x)")]
    {
        let desk = small();
        let run = desk.read("results/0001-small/run.json");
        let mut json: serde_json::Value = serde_json::from_str(&run).unwrap();
        json["functions"][0]["comparisons"][0]["ranges"][0]["witness"]["variant"] =
            serde_json::json!({"hex": fault, "dec": fault});
        desk.write("results/0001-small/run.json", &json.to_string());
        // These are about the run as it was.
        for beside in ["origin.json", "confirm.json"] {
            std::fs::remove_file(desk.path("results/0001-small").join(beside)).unwrap();
        }
        let source = desk
            .read("small.c")
            .replace("x * 3 : x; }\ndouble corner", &format!("{code} : x; }}\ndouble corner"));
        let spin =
            "#include <stdlib.h>\nstatic double spin(volatile double x) { for (;;) x = x; return x; }\n";
        desk.write("small.c", &format!("{spin}{source}"));
        desk.expect(0, &["repro", PLANTED, "-q", "--out", "shown"]);
        expect(&desk.path("shown/run.sh"), 0, "the difference is as stored");
    }
}

#[test]
fn a_finding_that_is_not_there_is_told_with_those_that_are() {
    let desk = small();
    let said = desk.expect(1, &["repro", "planted#gcc/O2/native.2"]);
    said.err_has("no finding `planted#gcc/O2/native.2`; did you mean `planted#gcc/O2/native.1`?");
    said.err_has("findings of planted: `planted#gcc/O2/native.1`");
    desk.expect(1, &["repro"]).err_has("which finding?");
    desk.expect(1, &["repro", "1", PLANTED, "--all"]).err_has("leave the finding out");
    // The worst input of a build has a name of its own.
    desk.expect(0, &["repro", "planted#gcc/O2/native.max", "-q"])
        .out_has("sh repro/planted-gcc-O2-native.max/run.sh");
    let matrix = desk.read("matrix.toml").replace("double planted(double x)", "float planted(float x)");
    desk.write("matrix.toml", &matrix);
    desk.expect(1, &["repro", PLANTED]).err_has("was stored as double (double x)").err_has("--matrix");
}
