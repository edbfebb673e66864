//! Compilers are confined: they read the project and what the matrix names, and write nothing but their own output.

use std::fs;
use std::path::Path;
use std::process::Command;

use bitrift::model::Build;
use tempfile::TempDir;

use crate::common::Desk;
use crate::lab::{Lab, build, every_compiler, failure, load, object, unary};

const ONE: (&str, &str) = ("src/a.c", "double one(double x) { return x + 1; }\n");
const HINT: &str = "(the sandbox lets compilers read the project, the system and what `[sandbox] read` names";

fn lab(text: &str) -> Lab {
    Lab::new(&[("src/a.c", text)], vec![unary("one")])
}

/// A folder outside the project, with a file.
fn outside(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

/// A build that would write the victim leaves it whole, and writes it without a sandbox.
fn spares_the_victim(mut lab: Lab, build: Build, victim: &Path) {
    let before = fs::read(victim).ok();
    lab.compile(std::slice::from_ref(&build));
    assert_eq!(fs::read(victim).ok(), before, "{}", build.id);
    lab.no_sandbox = true;
    fs::remove_dir_all(lab.cache_folder()).unwrap();
    lab.compile(std::slice::from_ref(&build));
    assert_ne!(fs::read(victim).ok(), before, "{}: it would have been written", build.id);
}

#[test]
fn a_plug_in_of_a_compiler_writes_nothing_elsewhere() {
    let lab = Lab::new(&[ONE], vec![unary("one")]);
    let elsewhere = outside("victim", "whole");
    let victim = elsewhere.path().join("victim");
    let text = format!(
        "#include <fcntl.h>\n#include <unistd.h>\n__attribute__((constructor)) static void go(void) {{\n\
         int fd = open(\"{}\", O_WRONLY | O_TRUNC); if (fd >= 0) {{ (void)!write(fd, \"broken\", 6); }} }}\n",
        victim.display()
    );
    let (source, plugin) = (lab.write("plugin.txt", &text), lab.path("plugin.so"));
    let made =
        Command::new("gcc").args(["-shared", "-fPIC", "-x", "c", "-o"]).arg(&plugin).arg(source).status();
    assert!(made.unwrap().success());
    let build = build("gcc", &["-O1", &format!("-fplugin={}", plugin.display())]);
    spares_the_victim(lab, build, &victim);
}

#[test]
fn a_wrapper_around_a_compiler_writes_nothing_elsewhere() {
    let lab = Lab::new(&[ONE], vec![unary("one")]);
    let elsewhere = outside("victim", "whole");
    let victim = elsewhere.path().join("victim");
    let wrapper =
        lab.script("wrapcc", &format!("#!/bin/sh\necho x >> {}\nexec gcc \"$@\"\n", victim.display()));
    let build = build(&wrapper, &["-O1"]);
    object(&lab.compile(std::slice::from_ref(&build)).artifacts[0]);
    spares_the_victim(lab, build, &victim);
}

#[test]
fn a_compiler_cannot_put_its_work_in_the_place_of_another_in_the_cache() {
    let lab = Lab::new(&[ONE], vec![unary("one")]);
    let honest = build("gcc", &["-O2"]);
    lab.compile(std::slice::from_ref(&honest));
    let (cache, names) = (lab.cache_folder(), lab.path("seen"));
    // The folder of its own job it may empty: that spoils nobody's work but its own.
    let script = format!(
        "#!/bin/sh\nfor f in $(find {0}/objects {0}/recipes -type f 2>/dev/null); do echo broken > $f; rm -f $f; done 2>/dev/null\n\
         echo > {1} 2>/dev/null\nexec gcc \"$@\"\n",
        cache.display(),
        names.display()
    );
    let hostile = build(&lab.script("hostilecc", &script), &["-O1"]);
    object(&lab.compile(&[hostile]).artifacts[0]);
    let again = lab.compile(&[honest]);
    assert_eq!((again.compiled, load(&again.artifacts[0]).call_f64(0, &[1.0])), (0, 2.0));
    assert!(!names.exists());
}

#[test]
fn an_output_that_is_a_link_is_no_output() {
    let elsewhere = outside("secret.o", "content");
    let lab = Lab::new(&[ONE], vec![unary("one")]);
    let script = format!(
        "#!/bin/sh\nout=; while [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n\
         [ -n \"$out\" ] && ln -sf {} \"$out\"\nexit 0\n",
        elsewhere.path().join("secret.o").display()
    );
    let words = lab.compile(&[build(&lab.script("linkcc", &script), &["-O1"])]);
    let words = failure(&words.artifacts[0]);
    assert!(words.contains("reported success but left no readable"), "{words}");
}

#[test]
fn arguments_that_name_files_elsewhere_write_none() {
    for (head, file) in
        [("-Wl,-Map=", "map"), ("-MF", "deps"), ("-fdump-tree-all=", "dump"), ("-save-temps -dumpdir ", "x")]
    {
        let lab = Lab::new(&[ONE], vec![unary("one")]);
        let elsewhere = outside("kept", "whole");
        let path = elsewhere.path().join(file);
        let argument = format!("{head}{}", path.display());
        let args: Vec<&str> = ["-O1"].into_iter().chain(argument.split(' ')).collect();
        lab.compile(&[build("gcc", &args)]);
        let left: Vec<_> = fs::read_dir(elsewhere.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(left, ["kept"], "{argument}");
    }
}

#[test]
fn a_file_outside_the_project_is_not_compiled_in() {
    let elsewhere = outside("secret.h", "#define SECRET 41\n");
    let path = elsewhere.path().join("secret.h");
    let text = format!("#include \"{}\"\ndouble one(double x) {{ return x + SECRET; }}\n", path.display());
    let mut lab = lab(&text);
    for artifact in &lab.compile(&every_compiler()).artifacts {
        let words = failure(artifact);
        assert!(!words.contains("41"), "{words}");
        if artifact.build.as_str().starts_with("gcc") {
            assert!(words.contains("Permission denied") && words.contains(HINT), "{words}");
        }
    }
    // What assemblers read goes the same way.
    let asm =
        format!("__asm__(\".incbin \\\"{}\\\"\");\ndouble one(double x) {{ return x; }}\n", path.display());
    lab.write("src/a.c", &asm);
    failure(&lab.compile(&[build("gcc", &["-O1"])]).artifacts[0]);
    lab.write("src/a.c", &text);
    lab.experiment.sandbox.read = vec![elsewhere.path().into()];
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert_eq!(load(artifact).call_f64(0, &[1.0]), 42.0, "{}", artifact.build);
    }
    lab.experiment.sandbox.read.clear();
    lab.no_sandbox = true;
    fs::remove_dir_all(lab.cache_folder()).unwrap();
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert_eq!(load(artifact).call_f64(0, &[1.0]), 42.0, "{}", artifact.build);
    }
}

#[test]
fn the_repository_around_a_matrix_and_its_include_folders_are_read() {
    let shared = outside("far.h", "#define FAR 2\n");
    let text =
        "#include \"../common/x.h\"\n#include <far.h>\ndouble one(double x) { return x + NEAR + FAR; }\n";
    let mut lab = lab(text);
    // The matrix is in a folder of the repository, the header in another.
    lab.write(".git/HEAD", "ref: refs/heads/main\n");
    lab.write("common/x.h", "#include \"../deep/y.h\"\n");
    lab.write("deep/y.h", "#define NEAR 4\n");
    lab.experiment.path = lab.path("src/matrix.toml");
    lab.experiment.implementations[0].sources.include.push(shared.path().into());
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert_eq!(load(artifact).call_f64(0, &[1.0]), 7.0, "{}", artifact.build);
    }
}

#[test]
fn results_are_the_same_with_and_without_a_sandbox_and_a_run_says_when_there_is_none() {
    let desk = Desk::private();
    let axes = crate::common::SMALL_AXES.replace("budget = \"paper\"", "budget = 1000");
    let matrix = format!(
        "{axes}[sandbox]\nread = [\"tables\"]\n[[function]]\nsignature = \"double same(double x)\"\n"
    );
    desk.write("small.c", crate::common::SMALL_C).write("tables/t", "").write("matrix.toml", &matrix);
    desk.expect(0, &["run", "-q", "--out", "with"]);
    let open = desk.expect(0, &["run", "--no-sandbox", "--out", "without", "--cache", "other"]);
    assert!(
        open.err.contains("nothing confines compilers and code under test (--no-sandbox)"),
        "{}",
        open.shown()
    );
    let run = desk.read("with/run.json");
    assert_eq!(run, desk.read("without/run.json"));
    assert!(!run.contains("sandbox") && !run.contains("tables"), "{run}");
}
