//! A gate holds results, not only differences: what moves the baseline and all variants alike is red, and so is a matrix that
//! asks for less than was accepted.

use crate::common::Desk;

const HEAD: &str = "[lab]\nname = \"held\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n\
    [[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n";

fn desk(function: &str, domain: &str, source: &str) -> Desk {
    let desk = Desk::new();
    desk.write("code.c", source);
    desk.write("matrix.toml", &matrix(function, domain));
    desk
}

fn matrix(function: &str, domain: &str) -> String {
    format!("{HEAD}[[function]]\nsignature = \"{function}\"\n{domain}\n")
}

fn accepted(function: &str, domain: &str, source: &str) -> Desk {
    let desk = desk(function, domain, source);
    desk.expect(0, &["run", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate"]).out_has("green");
    desk
}

const F: &str = "double f(double x)";

#[test]
fn a_change_that_moves_all_builds_alike_is_red_with_its_input_and_can_be_accepted() {
    let desk = accepted(F, "domain = { x = \"[1, 16]\" }", "double f(double x) { return x * 3.0; }\n");
    desk.write("code.c", "double f(double x) { return x * 4.0; }\n");
    let red = desk.expect(2, &["gate", "--out", "second"]);
    red.out_has("baseline-moved").out_has("bits").out_has(" -> ").out_has("accept second --loosen");
    let gate = desk.json("second/gate.json");
    assert_eq!(gate["findings"][0]["kind"], "baseline-moved");
    assert!(gate["findings"][0]["witness"]["inputs"][0]["hex"].is_string(), "{gate}");
    // Without --loosen it stays out.
    desk.expect(0, &["accept", "second"]).out_has("baseline moved");
    desk.expect(2, &["gate"]);
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate"]).out_has("green");
}

/// One binade of all doubles: a part of 4,094 of the axis. The digests of blocks show it where no kept value does.
#[test]
fn a_move_on_one_binade_of_all_doubles_is_red_whatever_the_seed() {
    let source = |factor: &str| {
        format!("double f(double x) {{ return x >= 0x1p300 && x < 0x1p301 ? {factor} : x * 0.5; }}\n")
    };
    let desk = desk(F, "", &source("x * 0.5"));
    for seed in 1..=10 {
        desk.write("code.c", &source("x * 0.5"));
        let (seed, lock) = (seed.to_string(), format!("lock{seed}.json"));
        desk.expect(0, &["run", "--out", "out", "--overwrite", "--seed", &seed, "--quiet"]);
        desk.expect(0, &["accept", "out", "--lock", &lock]);
        desk.write("code.c", &source("x * 0.25"));
        let red = desk.expect(2, &["gate", "--lock", &lock, "--out", "gated", "--overwrite", "--quiet"]);
        red.out_has("baseline-moved");
    }
    // The command that narrows it lists the inputs of the block.
    let block = desk.json("gated/gate.json")["findings"][0]["text"].as_str().unwrap().to_owned();
    let number = block.split("--block ").nth(1).unwrap().split(['`', ' ']).next().unwrap().to_owned();
    let new = desk.expect(0, &["eval", "f", "--block", &number, "--quiet"]);
    desk.write("code.c", &source("x * 0.5"));
    let old = desk.expect(0, &["eval", "f", "--block", &number, "--quiet"]);
    let moved = |a: &str, b: &str| a.lines().zip(b.lines()).filter(|(a, b)| a != b).count();
    let (old, new) = (&old.out, &new.out);
    assert_eq!(old.lines().count(), 512);
    assert!((1..20).contains(&moved(old, new)), "{} lines differ", moved(old, new));
}

#[test]
fn a_move_on_a_64th_of_a_domain_of_one_binade_is_red() {
    let source = |factor: &str| {
        format!("double f(double x) {{ return x >= 1.5 && x < 1.515625 ? {factor} : x * 0.5; }}\n")
    };
    let desk = accepted(F, "domain = { x = \"[1, 2]\" }", &source("x * 0.5"));
    desk.write("code.c", &source("x * 0.25"));
    desk.expect(2, &["gate"]).out_has("baseline-moved");
}

#[test]
fn a_narrower_domain_is_red_until_it_is_accepted() {
    let source = "double f(double x) { return x * 3.0; }\n";
    let desk = accepted(F, "domain = { x = \"[1, 16]\" }", source);
    desk.write("matrix.toml", &matrix(F, "domain = { x = \"{1}\" }"));
    desk.expect(2, &["gate", "--out", "second"])
        .out_has("changed")
        .out_has("the domain was x in [1, 16], is x in {1}");
    desk.expect(0, &["accept", "second"]).out_has("domain was [1, 16], is {1}");
    desk.expect(2, &["gate"]);
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate"]);
}

#[test]
fn a_flag_set_that_was_emptied_is_red() {
    let desk = accepted(F, "domain = { x = \"[1, 16]\" }", "double f(double x) { return x * 3.0; }\n");
    let emptied = matrix(F, "domain = { x = \"[1, 16]\" }").replace("[\"-O2\"]", "[]");
    desk.write("matrix.toml", &emptied);
    desk.expect(2, &["gate"]).out_has("changed").out_has("arguments were `-O2`, are ``");
}

#[test]
fn another_metric_is_red() {
    let desk = accepted(F, "domain = { x = \"[1, 16]\" }", "double f(double x) { return x * 3.0; }\n");
    let other = matrix(F, "domain = { x = \"[1, 16]\" }")
        .replace("[[compiler]]", "[search]\nnan = \"sign\"\n[[compiler]]");
    desk.write("matrix.toml", &other);
    desk.expect(2, &["gate"]).out_has("`nan` was \"any\", is \"sign\"");
}

#[test]
fn a_limit_on_bits_refuses_a_nan_that_has_none() {
    let source = "#include <math.h>\ndouble f(double x)\n{\n#ifdef __OPTIMIZE__\n    return x;\n#else\n    return NAN;\n#endif\n}\n";
    let desk = desk(F, "domain = { x = \"[1, 2]\" }\n[[limit]]\nfunction = \"f\"\nmax_bits = 60", source);
    desk.expect(0, &["run", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(2, &["gate"]).out_has("over-limit");
}

/// The lock is one line longer for each function; the values stand in a file of their own.
#[test]
fn a_lock_without_its_values_still_holds_results() {
    let desk = accepted(F, "domain = { x = \"[1, 16]\" }", "double f(double x) { return x * 3.0; }\n");
    std::fs::remove_file(desk.path("bitrift.lock.values.json")).unwrap();
    desk.write("code.c", "double f(double x) { return x * 4.0; }\n");
    desk.expect(2, &["gate"]).out_has("baseline-moved").out_has("--block");
}
