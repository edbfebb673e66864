//! What counts as equal: signs of zeros, NaNs and infinities that a domain names, and tolerances.

use crate::common::{Desk, comparison};

const HEAD: &str = "[lab]\nname = \"equal\"\nbaseline = \"gcc/O2/native\"\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n\
    [[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[flags]]\nname = \"fast\"\nargs = [\"-O2\", \"-ffast-math\"]\nfpenv = \"ieee\"\n\
    [search]\nbudget = 20_000\n";
const BUILD: &str = "gcc/fast/native";

const PLUS_ZERO: &str = "double plus_zero(double x) { return x + 0.0; }\n";
/// `-ffast-math` takes the subtractions together: zero, where the program has rounding errors of about 1e-16.
const CANCEL: &str = "double cancel(double x) { double y = x * 3.0; return y - x - x - x; }\n";

fn desk(code: &str, function: &str) -> Desk {
    let desk = Desk::new();
    desk.write("code.c", code).write("matrix.toml", &matrix(function));
    desk
}

fn matrix(function: &str) -> String {
    format!("{HEAD}[[function]]\n{function}\n")
}

fn cancel(tolerance: &str) -> String {
    format!("signature = \"double cancel(double x)\"\ndomain = {{ x = \"[0.5, 2]\" }}\n{tolerance}")
}

fn ranges(desk: &Desk, folder: &str, function: &str) -> Vec<serde_json::Value> {
    let run = desk.json(&format!("{folder}/run.json"));
    comparison(&run, function, BUILD)["ranges"].as_array().unwrap().clone()
}

#[test]
fn a_lost_sign_of_zero_is_found_where_it_is_asked_for_and_is_no_flush() {
    let desk = desk(PLUS_ZERO, "signature = \"double plus_zero(double x)\"");
    desk.expect(0, &["run", "--out", "any"]).out_has("no inconsistency found: plus_zero");
    assert!(
        comparison(&desk.json("any/run.json"), "plus_zero", BUILD)["class_changes"]["zero-sign"].is_u64()
    );
    for option in [["--zero", "sign"].as_slice(), &["--bitwise"]] {
        let args = [["run", "--out", "sign", "--overwrite"].as_slice(), option].concat();
        desk.expect(0, &args).out_has("zero-sign").out_has("0 -> -0");
        let ranges = ranges(&desk, "sign", "plus_zero");
        assert_eq!((ranges.len(), &ranges[0]["category"]), (1, &serde_json::json!("zero-sign")));
        assert_eq!(ranges[0]["witness"]["inputs"][0]["hex"], "-0x0p+0");
    }
    // The run says what counted, so that its witness is still there.
    desk.expect(0, &["replay", "sign"]).out_has("1 held");
    desk.expect(0, &["confirm", "sign"]).out_has("1 of 1");
    desk.expect(1, &["run", "--bitwise", "--zero", "any"]).err_has("--bitwise");
}

#[test]
fn a_gate_that_was_accepted_bit_for_bit_is_red_on_a_lost_sign_and_on_a_matrix_that_ignores_it() {
    let plain = "double plus_zero(double x) { return x * 1.0; }\n";
    let desk = desk(plain, "signature = \"double plus_zero(double x)\"");
    desk.expect(0, &["run", "--bitwise", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate", "--bitwise"]).out_has("green");
    desk.expect(2, &["gate"]).out_has("`zero` was \"sign\", is \"any\"");
    // At -0 the baseline gives +0 now: it moved, and differs from the fast build.
    desk.write("code.c", PLUS_ZERO);
    desk.expect(2, &["gate", "--bitwise"]).out_has("zero-sign").out_has("baseline-moved");
}

#[test]
fn nan_and_infinities_that_a_domain_names_are_tried_first() {
    let code = "double checked(double x, double y) { return x == x && y - y == 0.0 ? x : 42.0; }\n";
    let function =
        |domain: &str| format!("signature = \"double checked(double x, double y)\"\ndomain = {{ {domain} }}");
    let desk = desk(code, &function("x = \"[0, 1]\", y = \"[0, 1]\""));
    desk.expect(0, &["run", "--out", "numbers"]).out_has("no inconsistency found: checked");
    for (domain, special) in [
        ("x = \"[0, 1], {nan}\", y = \"[0, 1]\"", "nan:0x7ff8000000000000"),
        ("x = \"[0, 1]\", y = \"{0.5, inf}\"", "inf"),
        ("x = \"all\", y = \"all\"", "nan:0x7ff8000000000000"),
    ] {
        desk.write("matrix.toml", &matrix(&function(domain)));
        // Even a budget that is nearly nothing has them.
        desk.expect(0, &["run", "--out", "named", "--overwrite", "--budget", "64"]);
        let found = ranges(&desk, "named", "checked");
        let text = serde_json::to_string(&found).unwrap();
        assert!(text.contains(special), "{domain}: {text}");
        desk.expect(0, &["run", "--out", "named", "--overwrite"]);
        desk.expect(0, &["replay", "named"]).out_has("0 moved, 0 gone");
        let _ = std::fs::remove_file(desk.path("bitrift.lock.json"));
        desk.expect(0, &["accept", "named"]);
        desk.expect(0, &["gate", "--out", "gated", "--overwrite"]).out_has("green");
        desk.expect(0, &["report", "named", "--html", "--out", "page.html"]);
    }
    desk.write("matrix.toml", &matrix(&function("x = \"{nan}\", y = \"[0, 1]\"")));
    desk.expect(1, &["run"]).err_has("the domain has no number");
}

#[test]
fn differences_within_a_tolerance_are_counted_and_not_reported() {
    let desk = desk(CANCEL, &cancel(""));
    desk.expect(0, &["run", "--out", "strict"]).out_has("magnitude");
    desk.write("matrix.toml", &matrix(&cancel("tolerance = { abs = 1e-12 }")));
    let said = desk.expect(0, &["run", "--out", "lax"]);
    said.out_has("no inconsistency found: cancel").out_has("within tolerance, not reported: cancel");
    let run = desk.json("lax/run.json");
    let row = comparison(&run, "cancel", BUILD);
    assert!(row["class_changes"]["within-tolerance"].as_u64().unwrap() > 5000, "{row}");
    assert_eq!(
        (&row["max_bits"], &row["tolerance"]["abs"]),
        (&serde_json::json!(0.0), &serde_json::json!(1e-12))
    );
    // Below the errors it changes nothing; a limit about the build alone counts as well; identical bits ignore it.
    desk.write("matrix.toml", &matrix(&cancel("tolerance = { abs = 1e-18, rel = 1e-9 }")));
    desk.expect(0, &["run", "--out", "tight"]).out_has("magnitude");
    let limit = "[[limit]]\nbuild = \"*/fast/*\"\ntolerance = { abs = 1e-12 }\n";
    desk.write("matrix.toml", &format!("{}{limit}", matrix(&cancel(""))));
    desk.expect(0, &["run", "--out", "limited"]).out_has("no inconsistency found: cancel");
    desk.expect(0, &["run", "--out", "bitwise", "--bitwise"]).out_has("magnitude");
}

#[test]
fn a_change_of_class_is_within_no_tolerance() {
    let code = "double over(double x) { return x * 1e300 * 1e-300; }\n";
    let desk = desk(code, "signature = \"double over(double x)\"\ntolerance = { abs = 1e308, rel = 1 }");
    desk.expect(0, &["run", "--out", "out"]).out_has("class-change");
}

#[test]
fn another_tolerance_than_was_accepted_is_red_until_it_is_accepted() {
    let desk = desk(CANCEL, &cancel("tolerance = { abs = 1e-17 }"));
    desk.expect(0, &["run", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate"]).out_has("green");
    desk.write("matrix.toml", &matrix(&cancel("tolerance = { abs = 1 }")));
    desk.expect(2, &["gate", "--out", "second"]).out_has("the tolerance was abs 1e-17, is abs 1.0");
    desk.expect(0, &["accept", "second"]).out_has("tolerance on gcc/fast/native was abs 1e-17, is abs 1.0");
    desk.expect(2, &["gate"]);
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate"]).out_has("green");
}

#[test]
fn a_tolerance_that_makes_no_sense_is_refused_with_its_place() {
    for (text, told) in [
        ("tolerance = 1e-9", "a table with `abs`, `rel` or both"),
        ("tolerance = {}", "tolerates nothing"),
        ("tolerance = { abs = -1 }", "a finite number of at least 0"),
        ("tolerance = { rel = 2 }", "a number from 0 to 1"),
        ("tolerance = { relative = 0.1 }", "`relative`"),
    ] {
        let desk = desk(CANCEL, &cancel(text));
        desk.expect(1, &["run"]).err_has(told).err_has("matrix.toml:");
    }
}
