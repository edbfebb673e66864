//! What a process with code under test is doing, how it ended and what became of its calls, as words of the memory that it
//! shares with the process that watches it.

use std::io;

use crate::model::FaultKind;

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting for a request, or done.
    Idle,
    /// In code of its own.
    Busy,
    /// In a call of this build.
    Call(usize),
    /// Loading this build.
    Load(usize),
}

impl Phase {
    pub(crate) fn word(self) -> u64 {
        match self {
            Phase::Idle => 0,
            Phase::Busy => 1 << 32,
            Phase::Call(build) => 2 << 32 | build as u64,
            Phase::Load(build) => 3 << 32 | build as u64,
        }
    }

    pub(super) fn from_word(word: u64) -> Phase {
        let build = (word & 0xffff_ffff) as usize;
        match word >> 32 {
            0 => Phase::Idle,
            2 => Phase::Call(build),
            3 => Phase::Load(build),
            _ => Phase::Busy,
        }
    }
}

/// How the watched process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    Signal(i32),
    /// Killed: it made no progress.
    Timeout,
    /// Killed: whoever wanted its work let go of it.
    Released,
    /// Killed: somebody had stopped the process that watched over it.
    Stopped,
    /// It never began: it could not be confined, for the system's reason.
    Unconfined(i32),
}

impl End {
    pub(crate) fn fault(self) -> FaultKind {
        match self {
            End::Exit(code) => FaultKind::Exit(code),
            End::Signal(number) => FaultKind::Signal(number),
            End::Timeout | End::Released => FaultKind::Timeout,
            End::Stopped => FaultKind::Signal(libc::SIGSTOP),
            End::Unconfined(_) => FaultKind::Exit(1),
        }
    }

    pub(super) fn word(self) -> u64 {
        match self {
            End::Exit(code) => 1 << 32 | u64::from(code.cast_unsigned()),
            End::Signal(number) => 2 << 32 | u64::from(number.cast_unsigned()),
            End::Timeout => 3 << 32,
            End::Released => 4 << 32,
            End::Stopped => 5 << 32,
            End::Unconfined(number) => 6 << 32 | u64::from(number.cast_unsigned()),
        }
    }

    pub(super) fn from_word(word: u64) -> Option<End> {
        let low = ((word & 0xffff_ffff) as u32).cast_signed();
        match word >> 32 {
            1 => Some(End::Exit(low)),
            2 => Some(End::Signal(low)),
            3 => Some(End::Timeout),
            4 => Some(End::Released),
            5 => Some(End::Stopped),
            6 => Some(End::Unconfined(low)),
            _ => None,
        }
    }
}

/// Why code under test did not run, by the system's reason.
pub(crate) fn unconfined(number: i32) -> String {
    let reason = match number {
        0 => "for a reason that the system does not number".into(),
        number => io::Error::from_raw_os_error(number).to_string(),
    };
    format!("its process could not be confined ({reason}); see `bitrift doctor`, or use --no-sandbox")
}

/// Status words: 0 and 1 are `BITRIFT_OK` and `BITRIFT_FPENV` of guard.h.
pub(super) fn encode_fault(kind: Option<FaultKind>) -> u64 {
    match kind {
        None => 0,
        Some(FaultKind::Fpenv) => 1,
        Some(FaultKind::Signal(number)) => 2 << 32 | u64::from(number.cast_unsigned()),
        Some(FaultKind::Exit(code)) => 3 << 32 | u64::from(code.cast_unsigned()),
        Some(FaultKind::Timeout | FaultKind::Nondeterministic | FaultKind::StateDependent) => 4 << 32,
        Some(FaultKind::Garbled) => 5 << 32,
    }
}

pub(super) fn decode_fault(word: u64) -> Option<FaultKind> {
    let low = ((word & 0xffff_ffff) as u32).cast_signed();
    match word >> 32 {
        0 if word == 0 => None,
        0 => Some(FaultKind::Fpenv),
        2 => Some(FaultKind::Signal(low)),
        3 => Some(FaultKind::Exit(low)),
        5 => Some(FaultKind::Garbled),
        _ => Some(FaultKind::Timeout),
    }
}
