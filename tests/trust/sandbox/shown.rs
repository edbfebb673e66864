//! Ways around what a stranger's project may have read or shown: files it names, runs it brings, libraries, the repository's own
//! folder, links in circles.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::Desk;

const HEAD: &str = "[lab]\nname = \"shown\"\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n";
const F: &str = "[[function]]\nsignature = \"double f(double x)\"\ndomain = { x = 1 }\n";
const KEY: &str = "aws_key_id = AKIASECRET\n";

/// A project, and a folder of the user's with a key.
fn desk() -> (Desk, TempDir) {
    let (desk, outside) = (Desk::private(), tempfile::tempdir().unwrap());
    desk.write("code.c", "double f(double x) { return x * 0.5; }\n")
        .write("matrix.toml", &format!("{HEAD}{F}"));
    fs::write(outside.path().join("key"), KEY).unwrap();
    (desk, outside)
}

fn gcc(args: &[&str]) {
    assert!(Command::new("gcc").args(args).status().unwrap().success(), "{args:?}");
}

#[test]
fn a_file_outside_the_project_that_is_no_file_of_functions_is_told_without_a_word_of_it() {
    let (desk, outside) = desk();
    let key = outside.path().join("key").display().to_string();
    for name in [key.as_str(), "/etc/passwd"] {
        desk.write("matrix.toml", &format!("functions = [\"{name}\"]\n{HEAD}"));
        for command in [&["plan"][..], &["eval", "f", "1"]] {
            let said = desk.expect(1, command);
            assert!(
                !said.err.contains("AKIA") && !said.err.contains("aws_") && !said.err.contains("root:"),
                "{}",
                said.shown()
            );
            said.err_has(name).err_has("line 1").err_has("outside the project");
        }
    }
    // One that is as it should be is taken, and of one in the project all is told.
    fs::write(&key, F).unwrap();
    desk.write("matrix.toml", &format!("functions = [\"{key}\"]\n{HEAD}")).expect(0, &["eval", "f", "1"]);
    desk.write("more.toml", KEY).write("matrix.toml", &format!("functions = [\"more.toml\"]\n{HEAD}"));
    desk.expect(1, &["plan"]).err_has("AKIASECRET");
    fs::write(&key, KEY).unwrap();
    fs::remove_file(desk.path("matrix.toml")).unwrap();
    symlink(&key, desk.path("matrix.toml")).unwrap();
    let said = desk.expect(1, &["plan"]);
    assert!(!said.err.contains("AKIA"), "{}", said.shown());
}

#[test]
fn a_run_that_names_a_file_of_the_user_as_its_matrix_shows_none_of_it() {
    let (desk, outside) = desk();
    desk.expect(3, &["run", "-q", "--out", "results/0001-shown"]);
    let key = outside.path().join("key").display().to_string();
    let origin = desk.read("results/0001-shown/origin.json");
    let mut origin: serde_json::Value = serde_json::from_str(&origin).unwrap();
    (origin["matrix"], origin["matrix_absolute"]) = (key.clone().into(), key.clone().into());
    desk.write("results/0001-shown/origin.json", &origin.to_string());
    for command in [
        &["replay", "results/0001-shown"][..],
        &["speed", "results/0001-shown"],
        &["confirm", "results/0001-shown"],
    ] {
        let said = desk.bitrift(command);
        assert!(
            said.code != 0 && !said.err.contains("AKIA") && !said.err.contains("aws_"),
            "{}",
            said.shown()
        );
        said.err_has(&key).err_has("--matrix");
    }
    desk.expect(0, &["replay", "results/0001-shown", "--matrix", "matrix.toml"]);
}

#[test]
fn code_reads_the_libraries_of_its_matrix_and_not_what_lies_beside_them() {
    let (desk, _outside) = desk();
    fs::create_dir(desk.path(".git")).unwrap();
    desk.write(".git/token", KEY).write("w.c", "double w(void) { return 7; }\n");
    gcc(&[
        "-shared",
        "-fPIC",
        "-o",
        desk.path("libw.so").to_str().unwrap(),
        desk.path("w.c").to_str().unwrap(),
    ]);
    let at = desk.path("").display().to_string();
    let code = format!(
        "#include <stdio.h>\ndouble w(void);\nstatic int reads(const char *p) {{ FILE *f = fopen(p, \"r\"); return f && fgetc(f) >= 0; }}\n\
         double f(double x) {{ return w() + 10 * reads(\"{at}/code.c\") + 100 * reads(\"{at}/.git/token\"); }}\n"
    );
    let matrix = format!("{}{F}", HEAD.replace("\"code.c\"]", "\"code.c\"]\nlibs = [\"./libw.so\"]"));
    desk.write("code.c", &code).write("matrix.toml", &matrix);
    desk.expect(0, &["eval", "f", "1"]).out_has(" 7");
    // A project that is let in has no `.git` either.
    desk.write("matrix.toml", &matrix.replace("[sources]", "[sandbox]\nread = [\".\"]\n[sources]"));
    desk.expect(0, &["eval", "f", "1"]).out_has(" 17");
    desk.expect(0, &["eval", "f", "1", "--no-sandbox"]).out_has(" 117");
}

#[test]
fn compilers_do_not_read_what_the_repository_keeps_beside_its_files() {
    let (desk, _outside) = desk();
    fs::create_dir(desk.path(".git")).unwrap();
    desk.write(".git/token", KEY).write(".git/token.c", KEY);
    symlink(".git", desk.path("other")).unwrap();
    let token = desk.path(".git/token").display().to_string();
    let folder = desk.path("").display().to_string();
    for (what, with) in [
        ("files = [\"code.c\"]", "files = [\"code.c\"]\ninclude = [\".git\"]".to_owned()),
        ("files = [\"code.c\"]", "files = [\"code.c\"]\ninclude = [\"other\"]".to_owned()),
        ("files = [\"code.c\"]", "files = [\"code.c\", \".git/token.c\"]".to_owned()),
        ("[sources]", "[sandbox]\nread = [\".git\"]\n[sources]\ninclude = [\".git\"]".to_owned()),
        ("[sources]", "[sandbox]\nread = [\".\"]\n[sources]\ninclude = [\".git\"]".to_owned()),
        ("args = [\"-O0\"]", format!("args = [\"-O0\", \"-include\", \"{token}\"]")),
        ("args = [\"-O0\"]", format!("args = [\"-O0\", \"-I{folder}/.git\"]")),
        ("args = [\"-O0\"]", format!("args = [\"-O0\", \"-I{folder}\", \"-include\", \".git/token\"]")),
    ] {
        desk.write("matrix.toml", &format!("{}{F}", HEAD.replace(what, &with)));
        desk.write(
            "code.c",
            "#if __has_include(\"token\")\n#include \"token\"\n#endif\ndouble f(double x) { return x; }\n",
        );
        let said = desk.bitrift(&["eval", "f", "1"]);
        assert!(!said.err.contains("AKIA") && !said.out.contains("AKIA"), "{with}: {}", said.shown());
    }
    desk.expect(4, &["eval", "f", "1", "--no-sandbox"]).err_has("AKIA");
}

/// The loader runs what an object names for that, when it is asked which libraries the object would get.
#[test]
fn a_plan_runs_no_code_that_a_library_has_for_the_loader() {
    let (desk, _outside) = desk();
    desk.write("audit.c", "#include <unistd.h>\nunsigned la_version(unsigned v) { sleep(6); return v; }\n");
    desk.write("v.c", "double v(void) { return 7; }\n");
    let [audit, v, so, lib] =
        ["audit.c", "v.c", "libaudit.so", "libv.so"].map(|name| desk.path(name).display().to_string());
    gcc(&["-shared", "-fPIC", "-o", &so, &audit]);
    gcc(&["-shared", "-fPIC", &format!("-Wl,--audit={so}"), "-o", &lib, &v]);
    desk.write(
        "matrix.toml",
        &format!("{}{F}", HEAD.replace("\"code.c\"]", "\"code.c\"]\nlibs = [\"./libv.so\"]")),
    );
    let begun = Instant::now();
    desk.expect(0, &["plan"]);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    desk.expect(0, &["eval", "f", "1"]);
}

#[test]
fn links_in_circles_and_files_of_the_kernel_keep_nobody_waiting() {
    let (desk, _outside) = desk();
    for name in ["l", "m", "n"] {
        symlink(".", desk.path(name)).unwrap();
    }
    let deep = format!("{}*.nothing", "*/".repeat(18));
    let begun = Instant::now();
    desk.write("matrix.toml", &format!("{}{F}", HEAD.replace("code.c", &deep)));
    desk.expect(1, &["plan"]).err_has("matches no file");
    desk.write("matrix.toml", &format!("functions = [\"/proc/kmsg\"]\n{HEAD}"));
    desk.expect(1, &["plan"]).err_has("no file on a disk");
    desk.write("matrix.toml", &format!("{HEAD}{F}"));
    fs::create_dir_all(desk.path("results/0001-shown")).unwrap();
    symlink("/proc/kmsg", desk.path("results/0001-shown/run.json")).unwrap();
    symlink("/proc/kmsg", desk.path("bitrift.lock.json")).unwrap();
    desk.expect(1, &["show", "results/0001-shown"]);
    desk.expect(1, &["gate", "-q"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A wrapper says that it read more headers than there are words for.
#[test]
fn what_a_compiler_says_of_headers_fills_no_memory() {
    let (desk, _outside) = desk();
    let text = "gcc \"$@\" || exit\nfor f in *.d; do [ -f \"$f\" ] && { printf 'a.o: /a.c'; yes ' /x' | head -c 60000000 | tr '\\n' ' '; } > \"$f\"; done; exit 0";
    let wrapper = desk.script("wrapper", text);
    desk.write(
        "matrix.toml",
        &format!(
            "{}{F}",
            HEAD.replace("name = \"gcc\"", &format!("name = \"gcc\"\ncommand = \"{wrapper}\""))
        ),
    );
    let bitrift = desk.command(&["eval", "f", "1"]);
    let mut timed = Command::new("/bin/sh");
    timed
        .args(["-c", "ulimit -v 3000000; exec \"$@\"", "sh"])
        .arg(bitrift.get_program())
        .args(bitrift.get_args());
    timed
        .current_dir(desk.path(""))
        .envs(bitrift.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = timed.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_compiler_that_may_not_write_says_that_the_sandbox_is_why() {
    let (desk, outside) = desk();
    let log = outside.path().join("log").display().to_string();
    let wrapper = desk.script("wrapper", &format!("echo \"$@\" >> {log} || exit 1\nexec gcc \"$@\""));
    desk.write(
        "matrix.toml",
        &format!(
            "{}{F}",
            HEAD.replace("name = \"gcc\"", &format!("name = \"gcc\"\ncommand = \"{wrapper}\""))
        ),
    );
    desk.expect(4, &["eval", "f", "1"]).err_has("the sandbox lets compilers read").err_has("--no-sandbox");
}
