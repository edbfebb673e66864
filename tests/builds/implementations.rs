//! Several implementations of the same functions in one matrix: each answers with its own code, and everything
//! that is said of builds is said of theirs.

use std::path::Path;
use std::process::Command;

use crate::common::{Desk, comparison, contents, entry, function, names_in};
use bitrift::model::Callee;
use serde_json::Value;

const AXES: &str = "
[lab]
name = \"two\"
baseline = \"gcc/O2/native\"
[search]
budget = \"paper\"
[[compiler]]
name = \"gcc\"
[[flags]]
name = \"O0\"
args = [\"-O0\"]
[[flags]]
name = \"O2\"
args = [\"-O2\"]
";

/// The fixture on a desk of its own.
fn fixture() -> Desk {
    let desk = Desk::new();
    for name in ["matrix.toml", "textbook.c"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/implementations").join(name);
        desk.write(name, &std::fs::read_to_string(path).unwrap());
    }
    desk
}

/// A shared library of its own, with the SONAME of its file.
fn library(desk: &Desk, path: &str, text: &str) {
    desk.write(&format!("{path}.c"), text);
    let name = Path::new(path).file_name().unwrap().to_str().unwrap();
    let (file, source) = (desk.path(path), desk.path(&format!("{path}.c")));
    let soname = format!("-Wl,-soname,{name}");
    let words = ["-shared", "-fPIC", "-fno-builtin", &soname, "-o"];
    assert!(Command::new("gcc").args(words).arg(file).arg(source).status().unwrap().success());
}

/// What a build answers, in decimal.
#[track_caller]
pub fn answer(desk: &Desk, words: &[&str], build: &str) -> String {
    let said = desk.expect(0, &[&["eval"], words].concat());
    let line = said.out.lines().find(|l| l.split_whitespace().next() == Some(build));
    let line = line.unwrap_or_else(|| panic!("no {build} in\n{}", said.shown()));
    let hex = line.split_whitespace().position(|word| word.starts_with("0x") || word.starts_with("-0x"));
    line.split_whitespace().nth(hex.unwrap() + 1).unwrap().to_owned()
}

fn ids(run: &Value) -> Vec<&str> {
    run["builds"].as_array().unwrap().iter().map(|b| b["id"].as_str().unwrap()).collect()
}

#[test]
fn an_implementation_has_its_keys_as_written_and_the_calls_of_functions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.c"), "").unwrap();
    std::fs::write(folder.path().join("libv.so.1"), "").unwrap();
    let text = "
        [[implementation]]
        name = \"own\"
        files = [\"*.c\"]
        defines = [\"N=3\"]
        headers = [\"own.h\"]
        setup = \"init();\"
        compilers = [\"gc*\"]
        [[implementation]]
        name = \"lib\"
        libs = [\"m\", \"./libv.so.1\"]
        flags = [\"O0\"]
        [[compiler]]
        name = \"gcc\"
        [[flags]]
        name = \"O0\"
        [[function]]
        signature = \"double f(double x)\"
        calls = { lib = \" v_f(x) \" }
        [[function]]
        name = \"g\"
        params = [\"double x\"]
        calls = { own = \"g1(x)\" }
    ";
    let path = folder.path().join("matrix.toml");
    std::fs::write(&path, text).unwrap();
    let lab = bitrift::matrix::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let [own, lib] = lab.implementations.as_slice() else { panic!("{:?}", lab.implementations) };
    assert_eq!(own.sources.files, [folder.path().join("own.c")]);
    assert_eq!((own.name.as_str(), own.setup.as_deref()), ("own", Some("init();")));
    assert_eq!((own.headers.as_slice(), &own.setup_headers), (&["own.h".to_owned()][..], &own.headers));
    assert_eq!((own.compilers.as_deref(), own.flags.as_deref()), (Some(&["gc*".to_owned()][..]), None));
    assert_eq!(lib.sources.libs, ["m", folder.path().join("libv.so.1").to_str().unwrap()]);
    let called = |i: usize, f: usize| lab.implementations[i].function(&lab.functions[f]).map(|f| f.callee);
    assert_eq!(called(0, 0), Some(Callee::Signature("double f(double x)".into())));
    assert_eq!(called(1, 0), Some(Callee::Call("v_f(x)".into())));
    assert_eq!((called(0, 1), called(1, 1)), (Some(Callee::Call("g1(x)".into())), None));
}

#[test]
fn a_run_compares_two_implementations_and_the_library_is_built_once() {
    let desk = fixture();
    let run = desk.expect(0, &["run", "-q", "--json"]).json();
    assert_eq!(ids(&run), ["gcc/O0/native", "gcc/O2/native", "libm:gcc/O2/native"]);
    assert_eq!(entry(&run["builds"], "id", "libm:gcc/O2/native")["implementation"], "libm");
    assert!(entry(&run["builds"], "id", "gcc/O0/native").get("implementation").is_none());
    for (name, least) in [("expm1", 50.0), ("log1p", 50.0), ("hypot", 50.0), ("root3", 3.0)] {
        let bits = comparison(&run, name, "gcc/O2/native")["max_bits"].as_f64().unwrap();
        assert!(bits > least, "{name}: {bits}");
        let camps = &function(&run, name)["camps"];
        let divided = camps[0]["divided_by"].as_str().unwrap_or_default();
        assert!(divided.ends_with("| the rest"), "{camps:#}");
    }
    assert_eq!(function(&run, "expm1")["source"]["file"], "textbook.c");
    assert!(run["sources"]["textbook.c"].is_string(), "{}", run["sources"]);
}

#[test]
fn camps_are_divided_by_implementation() {
    let desk = fixture();
    let again =
        "[[implementation]]\nname = \"again\"\nheaders = [\"math.h\"]\nlibs = [\"m\"]\nflags = [\"*\"]\n";
    let matrix = desk.read("matrix.toml").replace("calls = { libm", "calls = { again = \"cbrt(x)\", libm");
    desk.write("matrix.toml", &format!("{matrix}\n{again}"));
    let run = desk.expect(0, &["run", "-q", "--json", "--function", "expm1"]).json();
    assert_eq!(ids(&run)[3..], ["again:gcc/O0/native", "again:gcc/O2/native"]);
    desk.write("matrix.toml", &desk.read("matrix.toml").replace("libm:gcc", "gcc"));
    let run = desk.expect(0, &["run", "-q", "--json", "--function", "expm1"]).json();
    let divided = function(&run, "expm1")["camps"][0]["divided_by"].as_str().unwrap();
    assert_eq!(divided, "all again builds, libm:gcc/O2/native | the rest");
}

#[test]
fn a_gate_holds_what_was_accepted_and_a_changed_source_is_red() {
    let desk = fixture();
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]);
    let lock = desk.json("bitrift.lock.json");
    assert_eq!(lock["baseline"], "libm:gcc/O2/native");
    desk.expect(0, &["gate", "-q"]).out_has("gate implementations: green");
    let worse = desk.read("textbook.c").replace(": pow(x, 1.0 / 3)", ": pow(x, 1.0 / 3) * (x > 8 ? 2 : 1)");
    desk.write("textbook.c", &worse);
    let said = desk.expect(2, &["gate", "-q"]);
    said.out_has("root3 on gcc/O2/native").out_has("gate implementations: red");
}

#[test]
fn limits_and_excludes_know_implementations() {
    let desk = fixture();
    let matrix = desk.read("matrix.toml").replace("libm:gcc", "gcc");
    let limit = |build: &str| format!("{matrix}\n[[limit]]\nbuild = \"{build}\"\nmax_bits = 1\n");
    desk.write("matrix.toml", &matrix);
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]);
    // The builds of [sources] agree with each other; libm's is far from them.
    for (glob, code) in [("gcc/*", 0), ("*", 0), ("libm:*", 2), ("*:gcc/O2/*", 2)] {
        desk.write("matrix.toml", &limit(glob));
        desk.expect(code, &["gate", "-q"]);
    }
    desk.write("matrix.toml", &limit("lbm:*"));
    desk.expect(1, &["plan"])
        .err_has("no build matches `lbm:*` of a [[limit]]")
        .err_has("libm:gcc/O2/native");
    let named = matrix.replace("[sources]\nfiles", "[[implementation]]\nname = \"book\"\nfiles");
    let named = named.replace("baseline = \"gcc", "baseline = \"book:gcc");
    desk.write("matrix.toml", &format!("{named}\n[[limit]]\nbuild = \"gcc/*\"\nallow = \"known\"\n"));
    desk.expect(1, &["plan"]).err_has("did you mean `*:gcc/*`?");
    let exclude = "[[exclude]]\nimplementation = \"book\"\nflags = \"O0\"\n";
    desk.write("matrix.toml", &format!("{named}\n{exclude}"));
    let said = desk.expect(0, &["plan"]);
    said.out_has("book:gcc/O2/native").out_has("libm:gcc/O2/native").out_lacks("book:gcc/O0/native");
}

#[test]
fn reports_carry_the_ids_and_no_file_name_has_a_colon() {
    let desk = fixture();
    desk.write("matrix.toml", &desk.read("matrix.toml").replace("libm:gcc", "gcc"));
    desk.expect(0, &["run", "-q", "--budget", "paper", "--out", "run"]);
    let id = "libm:gcc/O2/native";
    for format in ["--markdown", "--junit", "--sarif", "--samples"] {
        desk.expect(0, &["report", "run", format]).out_has(id);
    }
    desk.expect(0, &["report", "run", "--html", "--out", "page.html"]);
    assert!(desk.read("page.html").contains(id));
    desk.expect(0, &["show", "run"]).out_has(id);
    desk.expect(0, &["speed", "run"]).out_has(id);
    desk.expect(0, &["replay", "run", "--all"]).out_has(id);
    desk.expect(0, &["confirm", "run", "--all"]).out_has(id).out_has("confirmed");
    desk.expect(0, &["compare", "run", "run"]).out_has("unchanged");
    desk.expect(0, &["repro", "run", "--all", "-q"]);
    assert!(!desk.list("repro").is_empty());
    for (path, _) in contents(&desk.path(".")) {
        assert!(!path.to_string_lossy().contains(':'), "{}", path.display());
    }
}

#[test]
fn a_repro_folder_shows_the_difference_of_two_implementations_without_bitrift() {
    let desk = fixture();
    desk.expect(0, &["run", "-q", "--budget", "paper", "--out", "run", "--function", "root3"]);
    desk.expect(0, &["repro", "run", "--all", "-q", "--out", "made"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("made");
    assert!(Command::new("mv").arg(desk.path("made")).arg(&moved).status().unwrap().success());
    let names = names_in(&moved);
    assert!(!names.is_empty());
    for name in names {
        let folder = moved.join(&name);
        let files = names_in(&folder);
        assert!(files.contains(&"repro-variant.c".to_owned()), "{files:?}");
        let mut plain = Command::new("sh");
        plain.arg(folder.join("run.sh")).current_dir("/").env_clear().env("PATH", "/usr/bin:/bin");
        let output = plain.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        let readme = std::fs::read_to_string(folder.join("README.txt")).unwrap();
        assert!(readme.starts_with("Two implementations of one function disagree."), "{readme}");
    }
}

#[test]
fn explain_says_that_implementations_differ_and_looks_no_deeper() {
    let desk = fixture();
    desk.expect(0, &["run", "-q", "--budget", "paper", "--out", "run", "--function", "log1p"]);
    let file = desk.expect(0, &["explain", "run", "-q", "--json"]).json();
    let findings = file["findings"].as_object().unwrap();
    let of_two: Vec<&Value> = findings.values().collect();
    assert!(!of_two.is_empty());
    for row in of_two {
        let layers = row["layers"].as_object().unwrap();
        assert_eq!(layers.keys().collect::<Vec<_>>(), ["environment"], "{row:#}");
        let text = layers["environment"]["text"].as_str().unwrap();
        assert_eq!(text, "the implementations differ: libm and [sources]");
        assert_eq!(layers["environment"]["causes"][0][0]["environment"], "implementation");
    }
    desk.expect(0, &["explain", "run", "-q"])
        .out_has("   the implementation\n")
        .out_has("the implementations differ");
}

#[test]
fn a_function_without_a_way_to_call_it_is_missing_there_with_the_reason() {
    let desk = fixture();
    let matrix = desk.read("matrix.toml");
    let more = "[[function]]\nname = \"sum\"\nparams = [\"double x\"]\ncall = \"x + 1\"\n\
        [[function]]\nname = \"power\"\nparams = [\"double x\"]\ncalls = { libm = \"pow(x, 2.5)\" }\n";
    desk.write("matrix.toml", &format!("{matrix}\n{more}"));
    let run = desk.expect(0, &["run", "-q", "--budget", "paper", "--json"]).json();
    let missing = |name: &str| function(&run, name)["missing"].as_object().unwrap().clone();
    let reason = missing("power")["gcc/O0/native"].as_str().unwrap().to_owned();
    assert_eq!(reason, "nothing says how power is called in [sources]: give it a `call`");
    // The baseline is libm's, so that nothing can be compared with it.
    let reason = missing("sum")["libm:gcc/O2/native"].as_str().unwrap().to_owned();
    assert_eq!(reason, "nothing says how sum is called in libm: give it `calls = { libm = \"...\" }`");
}

#[test]
fn a_library_that_defines_sin_answers_with_its_own() {
    let desk = Desk::new();
    library(&desk, "lib/libforty.so", "double sin(double x) { return 42 + x * 0; }\n");
    let more = "[sources]\nlibs = [\"m\"]\n[[implementation]]\nname = \"forty\"\nlibs = [\"lib/libforty.so\"]\n\
        [[function]]\nsignature = \"double sin(double x)\"\n";
    desk.write("matrix.toml", &format!("{AXES}{more}"));
    assert_eq!(answer(&desk, &["sin", "1"], "gcc/O2/native"), "0.8414709848078965");
    assert_eq!(answer(&desk, &["sin", "1"], "forty:gcc/O2/native"), "42");
    let run = desk.expect(0, &["run", "-q", "--json"]).json();
    let row = comparison(&run, "sin", "forty:gcc/O2/native");
    assert!(row["max_bits"].as_f64().unwrap() > 60.0, "{row:#}");
}

#[test]
fn two_libraries_of_one_soname_answer_each_with_its_own() {
    let desk = Desk::new();
    for (folder, factor) in [("old", "2"), ("new", "3")] {
        let text = format!("double scaled(double x) {{ return x * {factor}; }}\n");
        library(&desk, &format!("{folder}/libv.so.1"), &text);
    }
    let implementation =
        |name: &str| format!("[[implementation]]\nname = \"{name}\"\nlibs = [\"{name}/libv.so.1\"]\n");
    let function = "[[function]]\nsignature = \"double scaled(double x)\"\n";
    let axes = AXES.replace("gcc/O2/native", "old:gcc/O2/native");
    desk.write("matrix.toml", &format!("{axes}{}{}{function}", implementation("old"), implementation("new")));
    assert_eq!(answer(&desk, &["scaled", "5"], "old:gcc/O2/native"), "10");
    assert_eq!(answer(&desk, &["scaled", "5"], "new:gcc/O2/native"), "15");
    let said = desk.expect(0, &["run", "--json", "--out", "run"]);
    said.err_has("new:gcc/O2/native is a program of its own: its libv.so.1 is not that of old:gcc/O2/native");
    assert!(comparison(&said.json(), "scaled", "new:gcc/O2/native")["max_bits"].as_f64().unwrap() > 40.0);
    desk.expect(0, &["replay", "run", "--all"]).out_has("new:gcc/O2/native");
}

#[test]
fn two_sources_that_export_the_same_symbols_answer_each_with_their_own() {
    let desk = Desk::new();
    for (name, factor) in [("one", "2"), ("two", "3")] {
        let text = "double factor = F; double factored(double x);\n\
            double scaled(double x) { return factored(x); }\ndouble factored(double x) { return x * factor; }\n";
        desk.write(&format!("{name}.c"), &text.replace('F', factor));
    }
    let more = "[sources]\nfiles = [\"one.c\"]\n\
        [[implementation]]\nname = \"two\"\nfiles = [\"two.c\"]\nsetup = \"factor = factor + 4;\"\nheaders = [\"f.h\"]\ninclude = [\".\"]\n\
        [[function]]\nsignature = \"double scaled(double x)\"\n";
    desk.write("f.h", "extern double factor;\n").write("matrix.toml", &format!("{AXES}{more}"));
    assert_eq!(answer(&desk, &["scaled", "5"], "gcc/O0/native"), "10");
    for build in ["two:gcc/O0/native", "two:gcc/O2/native"] {
        assert_eq!(answer(&desk, &["scaled", "5"], build), "35");
    }
}

#[test]
fn a_library_is_built_with_the_baselines_compiler_and_flags_unless_it_says_otherwise() {
    let desk = Desk::new();
    let function = "[[function]]\nsignature = \"double sin(double x)\"\n[sources]\nlibs = [\"m\"]\n";
    let plan = |extra: &str| {
        let implementation = format!("[[implementation]]\nname = \"lib\"\nlibs = [\"m\"]\n{extra}");
        desk.write(
            "matrix.toml",
            &format!("{AXES}[[compiler]]\nname = \"clang-16\"\n{function}{implementation}"),
        );
        let out = desk.expect(0, &["plan"]).out;
        let named = out.lines().filter(|l| l.starts_with("lib:")).map(str::to_owned);
        named.collect::<Vec<_>>()
    };
    assert_eq!(plan(""), ["lib:gcc/O2/native"]);
    assert_eq!(plan("flags = [\"*\"]\n"), ["lib:gcc/O0/native", "lib:gcc/O2/native"]);
    assert_eq!(plan("compilers = [\"clang*\"]\n"), ["lib:clang-16/O2/native"]);
}

#[test]
fn doctor_tries_every_implementation() {
    fixture().expect(0, &["doctor"]).out_has("libm:gcc/O2/native").out_has("gcc/O0/native");
}

/// musl's own code against the system's libm, on the machine that has both.
#[test]
fn musl_and_glibc_differ_where_their_algorithms_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/musl");
    let output = Command::new(folder.join("fetch")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let desk = Desk::new();
    let here = folder.display().to_string();
    let matrix = std::fs::read_to_string(folder.join("matrix.toml")).unwrap();
    let matrix = matrix.replace("\"source/", &format!("\"{here}/source/"));
    let matrix = matrix.replace("\"functions.toml\"", &format!("\"{here}/functions.toml\""));
    let glibc = "[[implementation]]\nname = \"glibc\"\nlibs = [\"m\"]\n";
    desk.write("matrix.toml", &format!("{matrix}\n{glibc}"));
    let names = ["expf", "log1pf", "tanf", "fabsf"];
    let mut args = vec!["run", "-q", "--json", "--budget", "paper", "--no-confirm"];
    args.extend(names.iter().flat_map(|name| ["--function", name]));
    let run = desk.expect(0, &args).json();
    let bits = |name: &str| comparison(&run, name, "glibc:clang-16/O0/native")["max_bits"].as_f64().unwrap();
    assert_eq!(bits("fabsf"), 0.0);
    assert!((1.0..8.0).contains(&bits("tanf")), "{}", bits("tanf"));
    assert!(bits("log1pf") < 8.0, "{}", bits("log1pf"));
}
