//! Exit codes: one for every situation that a script must tell apart.

use std::process::ExitCode;

/// How bitrift ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The work is done. Inconsistencies found are not an error.
    Done,
    /// The command line, the matrix, a stored run or the cache's folder is wrong; nothing was run.
    Usage,
    /// A gate found results that moved more than its policy allows.
    GateFailed,
    /// Something that should have been evaluated was not: a tool that is not optional is absent, nothing was left to
    /// compare or nothing was searched, a witness of a replay gave nothing to judge, a build or function does not work for
    /// the doctor, a gate did not search all that its lock is about; under `--strict`, anything at all.
    Unevaluated,
    /// The baseline could not be built, or has none of the functions.
    BaselineUnusable,
    /// A defect of bitrift itself.
    Internal,
    /// Stopped by the user; a run can be resumed.
    Interrupted,
}

impl Exit {
    pub const ALL: [Exit; 7] = [
        Exit::Done,
        Exit::Usage,
        Exit::GateFailed,
        Exit::Unevaluated,
        Exit::BaselineUnusable,
        Exit::Internal,
        Exit::Interrupted,
    ];

    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Usage => 1,
            Exit::GateFailed => 2,
            Exit::Unevaluated => 3,
            Exit::BaselineUnusable => 4,
            // As EX_SOFTWARE of sysexits.h.
            Exit::Internal => 70,
            // As a shell reports SIGINT.
            Exit::Interrupted => 130,
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "done (inconsistencies found are not an error)",
            Exit::Usage => "bad usage, matrix, lock file, cache folder or stored run",
            Exit::GateFailed => "a gate failed",
            Exit::Unevaluated => {
                "not all was evaluated: absent or broken builds, lost witnesses, incomplete gates, --strict"
            }
            Exit::BaselineUnusable => "the baseline could not be built or used",
            Exit::Internal => "internal error",
            Exit::Interrupted => "interrupted; finish the run with --resume",
        }
    }

    /// The exit code of what clap has to say: help and version are no errors, and a usage error is
    /// 1 here where clap would take 2.
    pub fn of_clap(error: &clap::Error) -> Exit {
        if error.use_stderr() { Exit::Usage } else { Exit::Done }
    }

    /// The list in `bitrift --help`.
    pub(super) fn help() -> String {
        let line = |exit: &Exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning());
        format!("Exit codes:\n{}", Exit::ALL.iter().map(line).collect::<String>())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
