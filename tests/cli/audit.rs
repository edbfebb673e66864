//! The instructions that `bitrift run` and `show` tell of.

use crate::common::{Desk, Said, entry};

const AXES: &str = "[lab]\nbaseline = \"gcc/O2\"\n[sources]\nfiles = [\"code.c\"]\nlibs = [\"m\"]\n\
    [search]\nbudget = 500\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n\
    [[flags]]\nname = \"recip\"\nargs = [\"-O2\", \"-mfma\", \"-ffast-math\", \"-mrecip\"]\n\
    [[function]]\nsignature = \"float inverse(float x)\"\n[[function]]\nsignature = \"float same(float x)\"\n";

/// A desk on which the disassemblers are scripts: they note that they were called, then do as told.
fn desk(script: &str) -> Desk {
    let desk = Desk::private();
    desk.write("code.c", "float inverse(float x) { return 3 / x; }\nfloat same(float x) { return x; }\n");
    desk.write("matrix.toml", AXES);
    for name in ["objdump", "llvm-objdump"] {
        let text = format!("echo called >> '{}'\n{script}", desk.path("calls").display());
        desk.script(&format!("bin/{name}"), &text);
    }
    desk
}

/// In no sandbox, in which the scripts could not note anything.
fn run(desk: &Desk, args: &[&str]) -> Said {
    let path = format!("{}:{}", desk.path("bin").display(), std::env::var("PATH").unwrap());
    let said = Said::of(desk.command(args).arg("--no-sandbox").env("PATH", path).output().unwrap(), args);
    assert_eq!(said.code, 0, "{}", said.shown());
    said
}

#[test]
fn approximate_reciprocals_are_shown_with_what_they_mean_and_disassembled_once() {
    let desk = desk("exec /usr/bin/objdump \"$@\"");
    let first = run(&desk, &["run", "--quiet", "--out", "a"]);
    first.out_has("instructions in").out_has("vrcpss gives different bits on processors of other makers");
    let builds = &desk.json("a/run.json")["builds"];
    assert_eq!(entry(builds, "id", "gcc/O2/native").get("audit"), None);
    let audit = &entry(builds, "id", "gcc/recip/native")["audit"];
    assert_eq!(audit["inverse"]["approximate"], 1, "{audit:#}");
    assert_eq!(audit["inverse"]["by_maker"], serde_json::json!(["vrcpss"]));
    assert_eq!(audit.get("same"), None);
    assert_eq!(desk.read("calls").lines().count(), 2);
    run(&desk, &["run", "--quiet", "--out", "b"]);
    assert_eq!(desk.read("calls").lines().count(), 2);
    assert_eq!(desk.read("a/run.json"), desk.read("b/run.json"));
    desk.expect(0, &["show", "a", "--function", "same"]).out_lacks("rcpss");
}

#[test]
fn without_a_disassembler_a_run_goes_on_and_says_what_is_missing() {
    let desk = desk("echo 'no such machine' >&2; exit 1");
    let said = run(&desk, &["run", "--quiet", "--strict", "--out", "a"]);
    said.out_has("instructions of gcc/O2/native not counted: no such machine").out_lacks("instructions in");
    let build = desk.json("a/run.json")["builds"][1].clone();
    assert_eq!((&build["status"], &build["unaudited"]), (&"built".into(), &"no such machine".into()));
    // It may be there the next time.
    for name in ["objdump", "llvm-objdump"] {
        desk.script(&format!("bin/{name}"), "exec /usr/bin/objdump \"$@\"");
    }
    run(&desk, &["run", "--quiet", "--out", "b"]).out_has("vrcpss gives different bits");
}
