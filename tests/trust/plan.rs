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
    // It may not write, and ends.
    desk.script("evil", "touch \"$(dirname \"$0\")/marker\" || exit 1");
    desk.expect(0, &["plan", "--ask"]).out_has("did not tell who it is");
}

#[test]
fn a_plan_says_what_the_matrix_opens_outside_its_project() {
    let desk = Desk::small();
    let matrix = desk.read("matrix.toml");
    desk.write("project/matrix.toml", &matrix).write("project/small.c", &desk.read("small.c"));
    desk.write("tables/a.txt", "").write("project/tables/b.txt", "").write("code/src/more.c", "int more;\n");
    let plan = |read: &str, files: &str, flags: &[&str]| {
        let text = matrix.replace("files = [\"small.c\"]", files);
        desk.write("project/matrix.toml", &format!("{read}\n{text}"));
        let said = desk.bitrift(&[&["plan", "project/matrix.toml"], flags].concat());
        let notes = said.out.lines().filter(|line| line.contains("may read") || line.contains("confines"));
        notes.map(|note| note.replace(&desk.path("").display().to_string(), "DESK/")).collect::<Vec<_>>()
    };
    let own = "files = [\"small.c\"]";
    assert!(plan("", own, &[]).is_empty());
    assert!(plan("[sandbox]\nread = [\"tables\"]", own, &[]).is_empty(), "it is in the project");
    let both =
        "note: compilers and code under test may read, outside the project, as the matrix says: DESK/tables";
    assert_eq!(plan("[sandbox]\nread = [\"../tables\"]", own, &[]), [both]);
    let files = "files = [\"small.c\", \"../code/src/more.c\"]";
    let seen = "note: compilers may read, outside the project, as the matrix says: DESK/code";
    assert_eq!(plan("", files, &[]), [seen]);
    assert_eq!(plan("[sandbox]\nread = [\"../code\"]", files, &[]), [both.replace("tables", "code")]);
    // The doctor lists the same.
    desk.bitrift(&["doctor", "project/matrix.toml"])
        .out_has("code under test may read, outside the project")
        .out_has("/code");
    let open = "note: nothing confines compilers and code under test (--no-sandbox)";
    assert_eq!(plan("", files, &["--no-sandbox"]), [open]);
}
