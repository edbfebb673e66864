//! A project whose author is not trusted, with a matrix that is: links in it must not lead to files of the user.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::Desk;

const HEAD: &str = "[lab]\nname = \"links\"\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n";
const F: &str = "[[function]]\nsignature = \"double f(double x)\"\n";

/// A project, and beside it a folder with a key.
fn desk() -> (Desk, String) {
    let desk = Desk::private();
    desk.write("code.c", "double f(double x) { return x * 0.5; }\n")
        .write("matrix.toml", &format!("{HEAD}{F}"));
    let outside = tempfile::tempdir().unwrap().keep();
    fs::write(outside.join("key"), "SECRETKEY\n").unwrap();
    (desk, outside.display().to_string())
}

#[test]
fn a_link_that_leads_out_of_the_project_is_refused_wherever_the_matrix_names_it() {
    let (desk, outside) = desk();
    desk.expect(0, &["eval", "f", "1"]);
    fs::create_dir(desk.path("lib")).unwrap();
    for (link, to) in
        [("data", ""), ("lib/libm.so", "/key"), ("more.c", "/key"), ("inc", ""), ("more.toml", "/key")]
    {
        symlink(format!("{outside}{to}"), desk.path(link)).unwrap();
    }
    let with = |text: &str| {
        desk.write("matrix.toml", text);
        let said = desk.expect(1, &["eval", "f", "1"]);
        assert!(!said.err.contains("SECRETKEY"), "{}", said.shown());
        // So does a plan, which runs nothing.
        assert_eq!(desk.bitrift(&["plan"]).code, 1);
        said.err_has("out of the project").err_has("any file of yours");
    };
    with(&format!("{HEAD}[sandbox]\nread = [\"data\"]\n{F}"));
    with(&format!("{HEAD}[[environment]]\nname = \"other\"\nlibm = \"lib/libm.so\"\n{F}"));
    with(&format!("{}{F}", HEAD.replace("\"code.c\"", "\"*.c\"")));
    with(&format!("{}{F}", HEAD.replace("[[compiler]]", "include = [\"inc\"]\n[[compiler]]")));
    with(&format!("functions = [\"more.toml\"]\n{HEAD}{F}"));
    // Its own place may be named, by whoever writes the matrix.
    desk.write("matrix.toml", &format!("{HEAD}[sandbox]\nread = [\"{outside}\"]\n{F}"));
    desk.expect(0, &["eval", "f", "1"]);
    desk.write("matrix.toml", &format!("{HEAD}[sandbox]\nread = [\"data\"]\n{F}"));
    desk.expect(0, &["eval", "f", "1", "--no-sandbox"]);
    fs::remove_dir_all(outside).unwrap();
}

#[test]
fn what_the_kernel_writes_cannot_be_let_in() {
    let (desk, outside) = desk();
    fs::remove_dir_all(outside).unwrap();
    for place in ["/proc", "/proc/driver", "/sys/kernel"] {
        desk.write("matrix.toml", &format!("{HEAD}[sandbox]\nread = [\"{place}\"]\n{F}"));
        desk.expect(1, &["eval", "f", "1"]).err_has("the kernel");
    }
}
