//! The lines that a plan prints are the lines that run.

use std::fs;

use bitrift::compile::command_lines;
use bitrift::toolchain::Family;

use crate::lab::{Lab, build, object, unary};

/// A compiler that knows few flags, writes down what it is asked, and lets gcc do the work.
fn strict_compiler(lab: &Lab) -> String {
    let log = lab.path("asked.log");
    let script = format!(
        "#!/bin/sh\n\
         if [ \"$1\" = --version ]; then echo 'strictcc 1.0, Free Software Foundation'; exit 0; fi\n\
         for a; do printf '%s\\n' \"$a\" >> '{log}'; done; echo -- >> '{log}'\n\
         for a; do case \"$a\" in\n\
           -O[0-3]|-I*|-D*|-c|-fPIC|-fno-semantic-interposition|-MD|-MF|-o|-shared|-lm) ;;\n\
           -Wl,-Bsymbolic|-Wl,-z,defs|*.c|*.o|*.d|bitrift.so|bitrift_probe) ;;\n\
           *) echo \"strictcc: error: unknown option $a\" >&2; exit 1;;\n\
         esac; done\n\
         exec gcc \"$@\"\n",
        log = log.display()
    );
    lab.script("strictcc", &script)
}

#[test]
fn what_a_plan_prints_is_what_runs() {
    let sources = [
        ("src/a.c", "double one(double x) { return x + N; }"),
        ("src/b c.c", "double two(double x) { return x; }"),
    ];
    let mut lab = Lab::new(&sources, vec![unary("one"), unary("two")]);
    (lab.jobs, lab.no_sandbox) = (1, true);
    lab.experiment.implementations[0].sources.defines = vec!["N=1".into(), "TEXT=\"a b\"".into()];
    lab.experiment.implementations[0].setup = Some("(void)0;".into());
    let build = build(&strict_compiler(&lab), &["-O2"]);
    let compiled = lab.compile(std::slice::from_ref(&build));
    object(&compiled.artifacts[0]);

    let log = fs::read_to_string(lab.path("asked.log")).unwrap();
    let ran: Vec<Vec<&str>> =
        log.split_terminator("--\n").map(|record| record.lines().collect::<Vec<_>>()).collect();
    let printed = command_lines(&lab.experiment, &build, Family::Gcc);
    let printed: Vec<Vec<&str>> =
        printed.iter().map(|l| l.argv[1..].iter().map(String::as_str).collect()).collect();
    assert_eq!(ran, printed);
    assert_eq!(ran.len(), compiled.compiled);

    // A compiler that is a script may read anything, so that nothing of it is taken from the cache.
    assert_eq!(lab.compile(std::slice::from_ref(&build)).compiled, ran.len());
    assert_eq!(fs::read_to_string(lab.path("asked.log")).unwrap(), log.repeat(2), "the same lines again");
}

#[test]
fn a_compiler_that_rejects_a_flag_is_quoted() {
    let mut lab = Lab::new(&[("a.c", "double one(double x) { return x; }")], vec![unary("one")]);
    lab.no_sandbox = true;
    let build = build(&strict_compiler(&lab), &["-O2", "-fancy"]);
    let compiled = lab.compile(&[build]);
    assert_eq!(crate::lab::failure(&compiled.artifacts[0]), "strictcc: error: unknown option -fancy");
}
