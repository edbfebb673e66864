//! The recipe of SECURITY.md for pull requests of strangers, typed as the page has it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Desk, Said};

/// A command of a shell in a folder of the desk, with bitrift in its PATH.
fn sh(desk: &Desk, folder: &str, line: &str) -> Said {
    let bin = Path::new(crate::common::BITRIFT).parent().unwrap().display().to_string();
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", line]).current_dir(desk.path(folder));
    command.envs(desk.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap())).env("HOME", desk.path("home"));
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), role).env(format!("GIT_{role}_EMAIL"), "nobody@example.org");
    }
    Said::of(command.output().unwrap_or_else(|e| panic!("bash: {e}")), &[line])
}

fn done(desk: &Desk, folder: &str, line: &str) -> Said {
    let said = sh(desk, folder, line);
    assert_eq!(said.code, 0, "{line}: {}", said.shown());
    said
}

/// The lines of the block of commands in the part on strangers.
fn recipe() -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md")).unwrap();
    let part = page.split("## Pull requests of strangers").nth(1).unwrap();
    let block = part.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let lines: Vec<&str> = block.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 2 && lines.last().unwrap().starts_with("bitrift gate"), "{lines:?}");
    lines.join("\n")
}

#[test]
fn a_pull_request_that_loosens_its_own_gate_is_judged_by_the_branch_it_is_merged_into() {
    let desk = Desk::small();
    fs::create_dir_all(desk.path("home")).unwrap();
    fs::create_dir_all(desk.path("project")).unwrap();
    for name in ["small.c", "matrix.toml"] {
        fs::rename(desk.path(name), desk.path(&format!("project/{name}"))).unwrap();
    }
    let accepted = "bitrift run -q && bitrift accept && git add small.c matrix.toml bitrift.lock* && git commit -qm accepted";
    done(&desk, "project", &format!("git init -qb main && {accepted}"));
    done(&desk, "", "git clone -q project stranger");

    // The stranger's code differs more, his matrix reads more, and his lock accepts it all.
    let code = desk.read("stranger/small.c").replace("? x * 3", "? x * 300");
    desk.write("stranger/small.c", &code);
    let matrix = desk.read("stranger/matrix.toml");
    desk.write(
        "stranger/matrix.toml",
        &matrix.replacen("[sources]", "[sandbox]\nread = [\"/var\"]\n\n[sources]", 1),
    );
    done(
        &desk,
        "stranger",
        "git checkout -qb change && bitrift run -q && bitrift accept --loosen && git commit -qam change",
    );
    assert_eq!(done(&desk, "stranger", "bitrift gate -q").code, 0, "by his own lock it is green");
    done(&desk, "stranger", "bitrift plan").out_has("/var");

    let judged = sh(&desk, "stranger", &recipe());
    assert_eq!(judged.code, 2, "{}", judged.shown());
    let plan = done(&desk, "stranger", "bitrift plan");
    assert!(!plan.out.contains("/var"), "{}", plan.shown());
}
