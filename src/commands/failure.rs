//! How a command ends badly: an exit code and the words for it. The one place that knows which error is which code.

use crate::cli::Exit;
use crate::gate::AcceptError;
use crate::lab::{LabError, Progress};
use crate::model::{UnknownStrategy, printable};
use crate::store::StoreError;

/// A message is complete: it opens with `error:` where it is one.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Failure {
        Failure { exit, message: format!("error: {message}") }
    }

    pub fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    pub fn interrupted(advice: &str) -> Failure {
        Failure { exit: Exit::Interrupted, message: format!("interrupted{advice}") }
    }

    /// Other advice for a command that was interrupted.
    pub fn advising(self, advice: impl FnOnce() -> String) -> Failure {
        if self.exit == Exit::Interrupted { Failure::interrupted(&advice()) } else { self }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        let exit = match &error {
            // Its text is a whole report that already opens with `error:`.
            LabError::Matrix(error) => return Failure { exit: Exit::Usage, message: error.to_string() },
            LabError::Declared(report) => return Failure { exit: Exit::Usage, message: report.clone() },
            LabError::Interrupted(progress) => return Failure::interrupted(&advice(progress)),
            LabError::BaselineUnusable { .. } | LabError::BaselineEmpty { .. } => Exit::BaselineUnusable,
            LabError::Unanswered { .. } | LabError::LockUnmet { .. } | LabError::NoProgram { .. } => {
                Exit::Unevaluated
            }
            LabError::Pool(_) | LabError::Threads { .. } => Exit::Internal,
            _ => Exit::Usage,
        };
        Failure::new(exit, error)
    }
}

/// How to go on after an interrupt.
fn advice(progress: &Progress) -> String {
    match progress {
        Progress::Begun => String::new(),
        Progress::Compiling => " while compiling; what was compiled is in the cache".into(),
        Progress::Searching { folder: None, .. } => " before a function was done; nothing is stored".into(),
        Progress::Searching { done, of, folder: Some(folder) } => format!(
            " with {done} of {of} functions done; go on with the same command and --resume --out {}",
            printable(&folder.display().to_string())
        ),
        Progress::Benching { .. } => " before a search was done; nothing is stored".into(),
        Progress::Explaining => "; what is explained so far is stored".into(),
    }
}

impl From<UnknownStrategy> for Failure {
    fn from(error: UnknownStrategy) -> Failure {
        LabError::from(error).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::usage(error)
    }
}

impl From<AcceptError> for Failure {
    fn from(error: AcceptError) -> Failure {
        Failure::usage(error)
    }
}
