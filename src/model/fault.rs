//! Why a call gave no usable value, and the one spelling that files, messages and users have for it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a call gave no usable value. Data, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum FaultKind {
    /// Used up its CPU time, or stopped without using any.
    Timeout,
    /// Died of a signal.
    Signal(i32),
    /// Left by `exit`, `_exit` or `exec`.
    Exit(i32),
    /// Returned with other rounding or flushing than it was called with.
    Fpenv,
    /// Answered differently for the same input.
    Nondeterministic,
    /// Failed after other calls, but not alone in a fresh process.
    StateDependent,
    /// Made the program it ran in answer noise.
    Garbled,
}

/// Kinds that are one word.
const WORDS: [(FaultKind, &str); 5] = [
    (FaultKind::Timeout, "timeout"),
    (FaultKind::Fpenv, "fpenv"),
    (FaultKind::Nondeterministic, "nondeterministic"),
    (FaultKind::StateDependent, "state-dependent"),
    (FaultKind::Garbled, "garbled"),
];

/// Linux names of the signals that code under test dies of.
const SIGNALS: [(i32, &str); 17] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (19, "SIGSTOP"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (31, "SIGSYS"),
];

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Signal(number) => match SIGNALS.iter().find(|(n, _)| n == number) {
                Some((_, name)) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            FaultKind::Exit(code) => write!(f, "exit {code}"),
            word => {
                let known = WORDS.iter().find(|(kind, _)| kind == word);
                f.write_str(known.map_or("", |(_, text)| text))
            }
        }
    }
}

/// Why a text is no kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no fault; expected timeout, a signal such as SIGSEGV, an exit such as `exit 3`, fpenv, nondeterministic, state-dependent or garbled"
)]
pub struct ParseFaultError(String);

impl FromStr for FaultKind {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<FaultKind, ParseFaultError> {
        let numbered = |start: &str| text.strip_prefix(start)?.parse::<i32>().ok();
        let word = WORDS.iter().find(|(_, word)| *word == text).map(|(kind, _)| *kind);
        let signal = SIGNALS.iter().find(|(_, name)| *name == text).map(|(number, _)| *number);
        word.or_else(|| signal.or_else(|| numbered("signal ")).map(FaultKind::Signal))
            .or_else(|| numbered("exit ").map(FaultKind::Exit))
            .ok_or_else(|| ParseFaultError(text.into()))
    }
}

impl From<FaultKind> for String {
    fn from(kind: FaultKind) -> String {
        kind.to_string()
    }
}

impl TryFrom<String> for FaultKind {
    type Error = ParseFaultError;

    fn try_from(text: String) -> Result<FaultKind, ParseFaultError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_back_from_its_spelling() {
        let numbered = (-1..=255).flat_map(|n| [FaultKind::Signal(n), FaultKind::Exit(n)]);
        for kind in numbered.chain(WORDS.map(|(kind, _)| kind)) {
            assert!(!kind.to_string().is_empty(), "{kind:?}");
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for odd in ["", "SIGFOO", "exit", "exit x", "Timeout", "0x1p+0"] {
            assert!(odd.parse::<FaultKind>().is_err(), "{odd}");
        }
    }
}
