//! Hears what a filter of system calls refuses, answers EACCES, and says which call it was.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::calls::{name_at, place_of};

/// A call that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(usize);

impl Refused {
    /// As a number that another process of this program understands.
    pub(crate) fn word(self) -> u64 {
        self.0 as u64
    }

    /// What the call of a number is called. The number may come from anywhere.
    pub(crate) fn name(word: u64) -> Option<&'static str> {
        usize::try_from(word).ok().and_then(name_at)
    }
}

/// The end at which refusals are heard.
pub(crate) struct Listener(pub(super) OwnedFd);

/// `struct seccomp_notif` of the kernel.
#[repr(C)]
#[derive(Default)]
struct Notice {
    id: u64,
    pid: u32,
    flags: u32,
    number: i32,
    arch: u32,
    pointer: u64,
    args: [u64; 6],
}

#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

// _IOWR('!', 0, struct seccomp_notif) and _IOWR('!', 1, struct seccomp_notif_resp)
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const AUDIT_ARCH_I386: u32 = 0x4000_0003;

impl Listener {
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Says which call was refused, and answers it then: whoever made it may end, or tell others, as soon as it is answered.
    pub(crate) fn answer(&self, tell: &dyn Fn(Refused)) {
        let mut notice = Notice::default();
        // SAFETY: the kernel fills a structure of its own size, which has to be zero before.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), RECEIVE, &raw mut notice) } != 0 {
            // Whoever made the call is gone.
            return;
        }
        if let Some(place) = place_of(notice.number.into(), notice.arch == AUDIT_ARCH_I386) {
            tell(Refused(place));
        }
        let answer = Answer { id: notice.id, value: 0, error: -libc::EACCES, flags: 0 };
        // SAFETY: the kernel reads a structure of its own size. That nobody waits any more is no failure.
        unsafe { libc::ioctl(self.0.as_raw_fd(), SEND, &raw const answer) };
    }
}
