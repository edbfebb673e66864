//! A plan of somebody else's matrix is safe to look at: it executes nothing that the matrix names, or says so.

use crate::common::Desk;

const EVIL: &str = "touch \"$(dirname \"$0\")/marker\"\necho 'gcc (Evil) 1.0, Free Software Foundation'";

/// A matrix whose compiler is a script beside it that leaves a file behind when it runs.
fn evil() -> Desk {
    let desk = Desk::small();
    desk.script("evil", EVIL);
    let matrix = desk.read("matrix.toml");
    desk.write("matrix.toml", &matrix.replace("name = \"gcc\"", "name = \"gcc\"\ncommand = \"./evil\""));
    desk
}

#[test]
fn a_plan_executes_no_command_of_the_matrix() {
    let desk = evil();
    let said = desk.expect(0, &["plan"]);
    assert!(!desk.exists("marker"), "{}", said.shown());
    said.out_has("evil -O2 ").out_has("not asked: ").out_has("`bitrift plan --ask`");
}

#[test]
fn a_plan_that_asks_says_whom_and_why_and_lets_nobody_write() {
    let desk = evil();
    let said = desk.expect(0, &["plan", "--ask"]);
    assert!(!desk.exists("marker"), "{}", said.shown());
    let line = said.out.lines().find(|line| line.starts_with("note: asked ")).unwrap();
    assert!(line.contains("evil`") && line.contains("--version"), "{line}");
}
