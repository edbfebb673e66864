//! What is kept in the cache answers the request it was made for and no other: a recipe in a wrong place, something else
//! in the place of a file, and a file that a tool read and nobody named must not give another build's bits.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::{Desk, SMALL_AXES, SMALL_C, contents, eventually};

/// The small lab with one function, and a cache of its own.
fn small() -> Desk {
    let desk = Desk::private();
    let function = "[[function]]\nsignature = \"double planted(double x)\"\n";
    desk.write("small.c", SMALL_C).write("matrix.toml", &format!("{SMALL_AXES}{function}"));
    desk
}

/// What every build makes of 3: the plain build leaves it, the optimised one gives 9.
fn bits(desk: &Desk) -> String {
    desk.expect(0, &["eval", "-q", "planted", "3"]).out
}

#[test]
fn recipes_that_are_swapped_pairwise_give_no_wrong_bit() {
    let desk = small();
    let right = bits(&desk);
    let recipes = contents(&desk.path("cache/recipes"));
    assert!(recipes.len() >= 8, "{}", recipes.len());
    let restore = || recipes.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    for (one, (first, first_bytes)) in recipes.iter().enumerate() {
        for (second, second_bytes) in &recipes[one + 1..] {
            fs::write(first, second_bytes).unwrap();
            fs::write(second, first_bytes).unwrap();
            assert_eq!(bits(&desk), right, "{} <-> {}", first.display(), second.display());
            restore();
        }
    }
    // Each of them still answers its own request.
    desk.expect(0, &["run", "-q", "--no-confirm", "--function", "planted", "--out", "out"]);
    assert_eq!(desk.json("out/timing.json")["compiled"], 0);
}

#[test]
fn a_folder_or_a_pipe_in_the_place_of_a_cached_file_is_mended() {
    let desk = small();
    let right = bits(&desk);
    let files = || -> Vec<PathBuf> {
        let kinds = ["cache/recipes", "cache/objects"];
        kinds.iter().flat_map(|kind| contents(&desk.path(kind))).map(|(path, _)| path).collect()
    };
    let folder = |path: &PathBuf| fs::create_dir_all(path.join("something")).unwrap();
    let pipe = |path: &PathBuf| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    for spoil in [&folder as &dyn Fn(&PathBuf), &pipe] {
        let paths = files();
        for path in &paths {
            fs::remove_file(path).unwrap();
            spoil(path);
        }
        let mut command = desk.command(&["eval", "-q", "planted", "3"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        eventually("nobody waits for the other end of a pipe", || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), right, "{:?}", output.stderr);
        assert!(paths.iter().all(|path| path.is_file()), "every place holds a file again");
    }
}

/// A lab of one build of `x * FACTOR`, with these arguments and sources in place of them where they are given.
fn factor(command: &str, args: &str, source: &str) -> Desk {
    let desk = Desk::private();
    desk.write("f.c", source).write(
        "matrix.toml",
        &format!(
            "[lab]\nname = \"factor\"\nbaseline = \"c/flags\"\n[sources]\nfiles = [\"f.c\"]\n[[compiler]]\nname = \"c\"\n\
             command = \"{command}\"\n[[flags]]\nname = \"flags\"\nargs = [{args}]\n[[function]]\n\
             signature = \"double f(double x)\"\n"
        ),
    );
    desk
}

const PRODUCT: &str = "double f(double x) { return x * FACTOR; }\n";

/// Says whether the only build gives this product of 1.
#[track_caller]
fn gives(desk: &Desk, product: u32) {
    desk.expect(0, &["eval", "-q", "f", "1"]).out_has(&format!(" {product} "));
}

#[test]
fn a_file_of_arguments_that_another_one_names_is_in_the_key() {
    for command in ["gcc", "clang-16"] {
        let desk = factor(command, "\"@outer.txt\"", PRODUCT);
        let inner = desk.path("inner.txt");
        desk.write("outer.txt", &format!("@{}", inner.display())).write("inner.txt", "-DFACTOR=3");
        gives(&desk, 3);
        desk.write("inner.txt", "-DFACTOR=5");
        gives(&desk, 5);
    }
}

#[test]
fn a_configuration_file_that_clang_finds_by_itself_is_in_the_key() {
    let desk = factor("clang-16", "\"-O1\"", PRODUCT);
    let folder = desk.path("config").display().to_string();
    let matrix =
        desk.read("matrix.toml").replace("\"-O1\"", &format!("\"-O1\", \"--config-user-dir={folder}\""));
    desk.write("matrix.toml", &matrix).write("config/clang.cfg", "-DFACTOR=3\n");
    gives(&desk, 3);
    desk.write("config/clang.cfg", "-DFACTOR=5\n");
    gives(&desk, 5);
}

#[test]
fn the_tools_in_a_folder_of_b_are_in_the_key() {
    // The assembler decides.
    let source = "static int k(void) { int r; __asm__(\".ifdef BIG\\n\\tmovl $5, %0\\n\\t.else\\n\\tmovl $3, %0\\n\\t.endif\" : \"=r\"(r)); return r; }\n\
                  double f(double x) { return x * k(); }\n";
    let desk = factor("gcc", "\"-O1\", \"-Btools/\"", source);
    desk.script("tools/as", "exec /usr/bin/as \"$@\"");
    gives(&desk, 3);
    desk.script("tools/as", "exec /usr/bin/as --defsym BIG=1 \"$@\"");
    gives(&desk, 5);
}

#[test]
fn data_that_the_assembler_takes_in_is_not_forgotten() {
    let source = "__asm__(\".section .rodata\\nk: .incbin \\\"DATA\\\"\\n.text\");\n\
                  extern const unsigned char k[] __asm__(\"k\") __attribute__((visibility(\"hidden\")));\n\
                  double f(double x) { return x * k[0]; }\n";
    for command in ["gcc", "clang-16"] {
        let desk = factor(command, "\"-O1\"", "");
        desk.write("f.c", &source.replace("DATA", &desk.path("data").display().to_string()))
            .write("data", "\u{3}");
        gives(&desk, 3);
        desk.write("data", "\u{5}");
        gives(&desk, 5);
    }
}

#[test]
fn what_a_wrapper_reads_is_not_forgotten() {
    let desk = Desk::private();
    let conf = desk.path("conf");
    let wrapper = desk.script("mycc", &format!(". {}\nexec gcc $MORE \"$@\"", conf.display()));
    let lab = factor(&wrapper, "\"-O1\"", PRODUCT);
    desk.write("conf", "MORE=-DFACTOR=3");
    let matrix = lab.read("matrix.toml");
    lab.write("matrix.toml", &format!("{matrix}[sandbox]\nread = [\"{}\"]\n", conf.display()));
    gives(&lab, 3);
    desk.write("conf", "MORE=-DFACTOR=5");
    gives(&lab, 5);
    // The same size and the same time: the text itself counts.
    let own = |factor: u32| {
        let path = desk.script("plain", &format!("exec gcc -DFACTOR={factor} \"$@\""));
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        path
    };
    let lab = factor(&own(3), "\"-O1\"", PRODUCT);
    gives(&lab, 3);
    own(5);
    gives(&lab, 5);
}

#[test]
fn profiles_in_a_folder_are_in_the_key() {
    let desk = factor(
        "gcc",
        "\"-O2\", \"-fprofile-use=profiles\", \"-Wno-missing-profile\"",
        "double f(double x) { return x; }\n",
    );
    desk.write("profiles/f.gcda", "one");
    let compiled = |out: &str| {
        // One build has nothing to be compared with.
        desk.expect(3, &["run", "-q", "--no-confirm", "--budget", "100", "--out", out]);
        desk.json(&format!("{out}/timing.json"))["compiled"].as_u64().unwrap()
    };
    assert!(compiled("first") > 0);
    assert_eq!(compiled("again"), 0);
    desk.write("profiles/f.gcda", "two");
    assert!(compiled("changed") > 0);
}
