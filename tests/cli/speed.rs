//! `bitrift speed`: time per call beside bits.

use crate::common::{Desk, SMALL_AXES};

/// A function that -O2 makes several times faster and that differs there, and one that never differs.
fn desk() -> Desk {
    let desk = Desk::new();
    let code = "
double slow(double x) { double s = 0; for (int i = 1; i < 200; i++) s += x * (i & 7);\n
#ifdef __OPTIMIZE__
return x >= 2 && x < 8 ? -s : s;
#else
return s;
#endif
}
double same(double x) { return x * 0.5; }
";
    let functions = "
[[function]]
signature = \"double slow(double x)\"
domain = { x = \"[-100, 100]\" }

[[function]]
signature = \"double same(double x)\"
";
    desk.write("small.c", code).write("matrix.toml", &format!("{SMALL_AXES}{functions}"));
    desk.expect(0, &["run", "-q", "--no-confirm"]);
    desk
}

#[test]
fn every_build_has_its_time_beside_its_bits() {
    let desk = desk();
    let before = desk.read("results/0001-small/run.json");
    let said = desk.expect(0, &["speed", "-q"]);
    assert_eq!(before, desk.read("results/0001-small/run.json"));
    let speed = desk.json("results/0001-small/speed.json");
    assert_eq!(speed["schema"], "bitrift.speed/1");
    let ns = |build: usize, function: &str| speed["builds"][build]["functions"][function].as_f64().unwrap();
    assert_eq!(speed["builds"].as_array().unwrap().len(), 2);
    assert!(ns(0, "slow") > 1.5 * ns(1, "slow"), "{speed}");
    assert!(ns(0, "slow") > 50.0 && ns(0, "slow") < 100_000.0, "{speed}");
    // Both are on the front: one is faster, the other differs nowhere.
    for line in ["gcc/O2/native ", "gcc/O0/native "] {
        let line =
            said.out.lines().find(|l| l.starts_with(line)).unwrap_or_else(|| panic!("{}", said.shown()));
        assert_eq!(line.matches('*').count(), 2, "{}", said.shown());
    }
    said.out_has("1 of 2\n").out_has("baseline\n").out_has("2 functions timed on ");
    let json = desk.expect(0, &["speed", "-q", "--json"]).json();
    assert_eq!(json["builds"][1]["build"], "gcc/O2/native");
}

#[test]
fn without_stored_samples_inputs_are_drawn_from_the_domains() {
    let desk = desk();
    std::fs::remove_file(desk.path("results/0001-small/samples.jsonl")).unwrap();
    desk.expect(0, &["speed", "-q"]).out_has("2 functions timed");
}

#[test]
fn emulated_builds_stand_apart() {
    let desk = desk();
    let target = "
[[target]]
name = \"native\"

[[target]]
name = \"aarch64\"
triple = \"aarch64-linux-gnu\"
compilers = { gcc = \"aarch64-linux-gnu-gcc\" }
runner = [\"qemu-aarch64\", \"-L\", \"/usr/aarch64-linux-gnu\"]
";
    desk.write(
        "matrix.toml",
        &format!("{}{target}", desk.read("matrix.toml").replace("gcc/O0", "gcc/O0/native")),
    );
    let said = desk.expect(0, &["speed", "-q"]);
    let (own, apart) = said.out.split_once("programs of their own").unwrap();
    assert!(own.contains("gcc/O2/native") && !own.contains("aarch64"), "{}", said.shown());
    assert!(apart.contains("gcc/O2/aarch64"), "{}", said.shown());
}
