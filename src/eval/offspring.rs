//! A fork of a helper that has never made a call: it runs stretches of batches until one costs it.
//!
//! Forking takes longer than most batches, so a fork that has come through one unharmed runs the
//! next. Whoever asks decides where a history begins: with the same requests since then every fork
//! has the same past, whatever else its helper did before.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use rustix::process::{Pid, WaitOptions, wait};

use super::guard::{Batch, Shim};
use super::process::{cpu_time, end_descendants, raise_fd};
use super::settle::{Forked, Settled, fork, leave};
use super::states::{End, Phase};
use super::token::Token;
use super::watch::{Rules, attend, kill};
use crate::model::ControlWords;

/// Some inputs of the batch in the slab.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub shim: Shim,
    pub arity: usize,
    pub width: usize,
    pub begin: usize,
    pub end: usize,
}

/// How a stretch went.
pub(super) enum Ran {
    /// And the process lives on, when it is given back.
    ToItsEnd(Option<Offspring>),
    /// The process ended in this way, in the call of an input or, with false, outside all calls.
    Broke { end: End, in_call: bool },
    /// Nobody waits for the answer any more.
    Released,
}

/// A living fork, asked through a socket whose other end it holds.
pub(super) struct Offspring {
    pid: Pid,
    line: OwnedFd,
    /// It has run something before.
    pub used: bool,
    /// Goes with the last request, and is its answer too.
    ticket: Token,
}

impl Offspring {
    /// The helper must have one thread, as all of them do.
    pub(super) fn fork(settled: &Settled, control: ControlWords) -> io::Result<Offspring> {
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // Out of the way of code that closes or writes to the first numbers it can think of.
        let (line, far) = (raise_fd(&near)?, raise_fd(&far)?);
        drop(near);
        // SAFETY: a helper starts no threads.
        match unsafe { fork() }? {
            Forked::Parent(pid) => Ok(Offspring { pid, line, used: false, ticket: Token::default() }),
            Forked::Child => {
                // Code under test that writes to whatever is open must not reach the helper's ends.
                let Settled { requests, replies, leash, .. } = settled;
                for fd in [requests.as_raw_fd(), replies.as_raw_fd(), leash.as_raw_fd(), line.as_raw_fd()] {
                    // SAFETY: this fork uses none of them, and leaves without closing anything.
                    unsafe { libc::close(fd) };
                }
                // The helper, which watches this fork, is out of its reach.
                if settled.sandbox.part().is_err() {
                    leave(0);
                }
                serve(settled, control, &far)
            }
        }
    }

    /// Runs a stretch. A fork that is not given back is gone, with all that it left behind.
    pub(super) fn run(mut self, settled: &Settled, stretch: Stretch, rules: Rules) -> Ran {
        settled.slab.set_phase(Phase::Busy);
        self.ticket = Token::draw();
        // To a dead fork this fails, which is then seen below.
        let _ = send(&self.line, &stretch.to_bytes(self.ticket.word()), SendFlags::NOSIGNAL);
        let slab = &settled.slab;
        // Code under test may write to the line too.
        let mut is_answer = || self.has_answered();
        let line = Some((self.line.as_fd(), &mut is_answer as &mut dyn FnMut() -> bool));
        let rules = rules.of_calls(stretch.end - stretch.begin);
        let end = attend(self.pid, slab, settled.leash.as_fd(), line, rules);
        self.used = true;
        let phase = slab.phase();
        slab.set_phase(Phase::Idle);
        let Some(end) = end else { return Ran::ToItsEnd(Some(self)) };
        end_descendants();
        if end == End::Released {
            return Ran::Released;
        }
        if phase == Phase::Idle {
            Ran::ToItsEnd(None)
        } else {
            Ran::Broke { end, in_call: phase != Phase::Busy }
        }
    }

    /// Reads what came; whether it is the answer to the last request.
    fn has_answered(&self) -> bool {
        let mut answer = [0; 8];
        let read = recv(&self.line, &mut answer, RecvFlags::DONTWAIT);
        matches!(read, Ok((8, 8))) && u64::from_ne_bytes(answer) == self.ticket.word()
    }

    /// Ends it, and all that it left behind.
    pub(super) fn end(self) {
        kill(self.pid, End::Released);
        end_descendants();
    }
}

const WORDS: usize = 6;

impl Stretch {
    /// A fork has its parent's addresses, so that a shim is a number to both.
    fn to_bytes(self, ticket: u64) -> [u8; WORDS * 8] {
        let mut bytes = [0; WORDS * 8];
        let sizes =
            [self.shim as usize, self.arity, self.width, self.begin, self.end].map(|size| size as u64);
        let words = [ticket].into_iter().chain(sizes);
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// # Safety
    /// The bytes must be those of a stretch from the process that this one is a fork of.
    unsafe fn from_bytes(bytes: &[u8; WORDS * 8]) -> (u64, Stretch) {
        let word = |k: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[k * 8..k * 8 + 8]);
            u64::from_ne_bytes(word)
        };
        let size = |k: usize| word(k) as usize;
        // SAFETY: the address of a shim, by the caller's promise.
        let shim = unsafe { std::mem::transmute::<usize, Shim>(size(1)) };
        (word(0), Stretch { shim, arity: size(2), width: size(3), begin: size(4), end: size(5) })
    }
}

/// The fork's side: runs what it is sent until there is nobody to send it anything.
fn serve(settled: &Settled, control: ControlWords, line: &OwnedFd) -> ! {
    loop {
        let mut bytes = [0; WORDS * 8];
        let Ok((read, _)) = recv(line, &mut bytes, RecvFlags::empty()) else { leave(0) };
        if read != bytes.len() {
            leave(0);
        }
        // SAFETY: sent by the parent, for this socket has no other end.
        let (ticket, Stretch { shim, arity, width, begin, end }) = unsafe { Stretch::from_bytes(&bytes) };
        let batch = Batch { shim, phase: Phase::Call(0), control, arity, width, begin, end };
        let begun = cpu_time();
        // SAFETY: the shim takes and gives these words by the request, and this fork is there to be ruined.
        unsafe { batch.run(&settled.slab) };
        settled.slab.add_spent(cpu_time().saturating_sub(begun));
        settled.slab.set_phase(Phase::Idle);
        // With processes of its own it must end, so that the helper can end those.
        let childless = matches!(wait(WaitOptions::NOHANG), Err(rustix::io::Errno::CHILD));
        if !childless || send(line, &ticket.to_ne_bytes(), SendFlags::NOSIGNAL).is_err() {
            leave(0);
        }
    }
}
