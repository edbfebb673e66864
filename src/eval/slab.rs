//! The memory a process that runs code under test shares with the process that watches it: a page
//! that says what it is doing, then the inputs and outcomes of one batch.
//!
//! Code under test can write anywhere, so a reader trusts nothing in here.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};

use super::CallLimits;
use super::states::{End, Phase, decode_fault, encode_fault};
use crate::model::{FaultKind, MAX_COORDINATES, MAX_RESULTS, Outcome, Outcomes, Returned};
use crate::sandbox::Refused;

/// Inputs a slab holds; a longer batch is cut.
pub(crate) const CAPACITY: usize = 4096;

/// Refusals that are remembered: nobody needs more to know what a code is up to.
const REFUSALS: usize = 64;

const PAGE: usize = 4096;
const INPUTS: usize = PAGE;
const OUTPUTS: usize = INPUTS + CAPACITY * MAX_COORDINATES * 8;
const STATUS: usize = OUTPUTS + CAPACITY * MAX_RESULTS * 8;
const SIZE: usize = STATUS + CAPACITY * 8;

/// The first words are `struct bitrift_page` of harness-c/guard.h.
#[repr(C)]
struct Page {
    sequence: AtomicU64,
    phase: AtomicU64,
    first: AtomicU64,
    arity: AtomicU64,
    near: AtomicU64,
    end: AtomicU64,
    timeout_us: AtomicU64,
    near_us: AtomicU64,
    memory_mb: AtomicU64,
    spent_ns: AtomicU64,
    /// The object that is asked, wherever its code runs.
    asked: AtomicU64,
    /// What was refused: so many, each a call's place and an object.
    refusals: AtomicU64,
    refused: [AtomicU64; REFUSALS],
}

/// Shared memory, backed by a file of fixed size that has no name.
pub(crate) struct Slab {
    map: MmapRaw,
    /// For the other side to open. That side keeps none: whoever has it could cut the file short, which kills its readers.
    fd: Option<OwnedFd>,
}

impl Slab {
    /// A slab in memory, or in a folder where memory of that kind is not to be had.
    pub(crate) fn create(limits: CallLimits, folder: Option<&Path>) -> io::Result<Slab> {
        let fd: OwnedFd = match folder {
            Some(folder) => tempfile::tempfile_in(folder)?.into(),
            None => memfd_create("bitrift-slab", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?,
        };
        ftruncate(&fd, SIZE as u64)?;
        if folder.is_none() {
            // Code under test that finds a way to the file and truncates it would otherwise kill the reader with SIGBUS.
            fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        }
        let slab = Slab { fd: Some(fd.try_clone()?), ..Slab::open(fd)? };
        slab.set_timeout(limits.timeout);
        slab.page().near_us.store(micros(limits.timeout / 2), Relaxed);
        slab.page().memory_mb.store(limits.memory_mb, Relaxed);
        Ok(slab)
    }

    /// Maps the slab behind a descriptor.
    pub(crate) fn open(fd: OwnedFd) -> io::Result<Slab> {
        if rustix::fs::fstat(&fd)?.st_size < SIZE as i64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the shared memory is too small"));
        }
        let map = MmapOptions::new().len(SIZE).map_raw(&fd)?;
        Ok(Slab { map, fd: None })
    }

    /// The file, on the side that has made it.
    pub(crate) fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        let none = || io::Error::other("the shared memory was made elsewhere");
        self.fd.as_ref().map(AsFd::as_fd).ok_or_else(none)
    }

    fn page(&self) -> &Page {
        // SAFETY: the map is page-aligned, larger than a Page and lives as long as self; all fields
        // are atomics, so that other processes may write to them.
        unsafe { &*self.map.as_ptr().cast::<Page>() }
    }

    pub(crate) fn page_ptr(&self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    pub(crate) fn inputs_ptr(&self) -> *const u64 {
        self.word_ptr(INPUTS)
    }

    pub(crate) fn outputs_ptr(&self) -> *mut u64 {
        self.word_ptr(OUTPUTS)
    }

    pub(crate) fn status_ptr(&self) -> *mut u64 {
        self.word_ptr(STATUS)
    }

    fn word_ptr(&self, offset: usize) -> *mut u64 {
        // SAFETY: every offset is a multiple of 8 below SIZE, the length of the map.
        unsafe { self.map.as_mut_ptr().add(offset).cast() }
    }

    /// Puts a batch's inputs in and clears nothing else. At most `CAPACITY` inputs of `MAX_COORDINATES`.
    pub(crate) fn put_inputs(&self, arity: usize, inputs: &[u64]) {
        assert!(inputs.len() <= CAPACITY * MAX_COORDINATES, "a batch larger than its slab");
        self.page().arity.store(arity as u64, Relaxed);
        // SAFETY: the area holds CAPACITY * MAX_COORDINATES words and does not overlap a Rust slice; the
        // process that reads it is waiting for a request.
        unsafe { std::ptr::copy_nonoverlapping(inputs.as_ptr(), self.word_ptr(INPUTS), inputs.len()) };
    }

    /// The first `count` words of inputs.
    pub(crate) fn inputs(&self, count: usize) -> Vec<u64> {
        assert!(count <= CAPACITY * MAX_COORDINATES, "more inputs than a slab holds");
        // SAFETY: in the area of inputs, just checked; nobody writes while it is read.
        (0..count).map(|k| unsafe { self.inputs_ptr().add(k).read_volatile() }).collect()
    }

    /// Puts in what was made of an input, for a reader of as many values.
    pub(crate) fn set_outcome(&self, index: usize, returned: Returned<'_>) {
        self.set_fault(index, returned.first.fault());
        let width = 1 + returned.rest.len();
        if let Some(first) = returned.first.value() {
            for (k, bits) in [first].iter().chain(returned.rest).enumerate() {
                let at = index * width + k;
                assert!(at < CAPACITY * MAX_RESULTS);
                // SAFETY: in the area of results, just checked; nobody reads while it is written.
                unsafe { self.outputs_ptr().add(at).write_volatile(*bits) }
            }
        }
    }

    /// A word of the results.
    pub(crate) fn value(&self, at: usize) -> u64 {
        assert!(at < CAPACITY * MAX_RESULTS);
        // SAFETY: in the area of results, just checked; nobody writes while it is read.
        unsafe { self.outputs_ptr().add(at).read_volatile() }
    }

    /// Appends what was made of the first `count` inputs.
    pub(crate) fn read_outcomes(&self, count: usize, out: &mut Outcomes) {
        let width = out.width();
        assert!(count <= CAPACITY && width <= MAX_RESULTS);
        for index in 0..count {
            // SAFETY: in the area of CAPACITY words, just checked; nobody writes while it is read.
            let status = unsafe { self.status_ptr().add(index).read_volatile() };
            match decode_fault(status) {
                None => out.push_values((0..width).map(|k| self.value(index * width + k))),
                Some(kind) => out.push_fault(kind),
            }
        }
    }

    /// As `read_outcomes`, when no call had a fault.
    pub(crate) fn read_values(&self, count: usize, out: &mut Outcomes) {
        let width = out.width();
        if width == 1 {
            out.extend_ones((0..count).map(|index| Outcome::Value(self.value(index))));
        } else {
            (0..count).for_each(|index| out.push_values((0..width).map(|k| self.value(index * width + k))));
        }
    }

    pub(crate) fn set_fault(&self, index: usize, kind: Option<FaultKind>) {
        assert!(index < CAPACITY);
        // SAFETY: as in `value`; the process that runs the batch is not running.
        unsafe { self.status_ptr().add(index).write_volatile(encode_fault(kind)) }
    }

    /// Moves with every call, and with every sign of life from outside a call.
    pub(crate) fn sequence(&self) -> u64 {
        self.page().sequence.load(Relaxed)
    }

    pub(crate) fn beat(&self) {
        self.page().sequence.fetch_add(1, Relaxed);
    }

    pub(crate) fn phase(&self) -> Phase {
        Phase::from_word(self.page().phase.load(Relaxed))
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.page().phase.store(phase.word(), Relaxed);
    }

    /// Index in the batch of the input whose call is under way.
    pub(crate) fn index(&self) -> usize {
        self.sequence().wrapping_sub(self.page().first.load(Relaxed)) as usize
    }

    /// The input whose call is under way; None when the page makes no sense.
    pub(crate) fn input(&self) -> Option<Vec<u64>> {
        let (index, arity) = (self.index(), self.page().arity.load(Relaxed) as usize);
        if index >= CAPACITY || arity > MAX_COORDINATES {
            return None;
        }
        // SAFETY: (index + 1) * arity words lie inside the area, just checked.
        Some(
            (0..arity).map(|k| unsafe { self.inputs_ptr().add(index * arity + k).read_volatile() }).collect(),
        )
    }

    pub(crate) fn near(&self) -> u64 {
        // Code under test may have written it; sums of it must not overflow.
        self.page().near.load(Relaxed).min(u64::from(u32::MAX))
    }

    /// Counts calls that came close to the timeout.
    pub(crate) fn add_near(&self, count: u64) {
        self.page().near.fetch_add(count, Relaxed);
    }

    /// CPU time of batches that ran to their end in a fork.
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_nanos(self.page().spent_ns.load(Relaxed).min(u64::MAX >> 8))
    }

    pub(crate) fn add_spent(&self, time: Duration) {
        self.page().spent_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Says which object is asked.
    pub(crate) fn set_asked(&self, object: usize) {
        self.page().asked.store(object as u64, Relaxed);
    }

    /// Remembers that the object that is asked was refused a call.
    pub(crate) fn refuse(&self, refused: Refused) {
        let page = self.page();
        let word = refused.word() << 32 | page.asked.load(Relaxed) & 0xffff_ffff;
        let count = (page.refusals.load(Relaxed) as usize).min(REFUSALS);
        let known = page.refused[..count].iter().any(|known| known.load(Relaxed) == word);
        if !known && count < REFUSALS {
            page.refused[count].store(word, Relaxed);
            page.refusals.store(count as u64 + 1, Relaxed);
        }
    }

    /// What was refused to whom.
    pub(crate) fn refused(&self) -> Vec<(usize, &'static str)> {
        let count = (self.page().refusals.load(Relaxed) as usize).min(REFUSALS);
        let words = self.page().refused[..count].iter().map(|word| word.load(Relaxed));
        words.filter_map(|word| Some(((word & 0xffff_ffff) as usize, Refused::name(word >> 32)?))).collect()
    }

    pub(crate) fn set_timeout(&self, timeout: Duration) {
        self.page().timeout_us.store(micros(timeout), Relaxed);
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_micros(self.page().timeout_us.load(Relaxed))
    }

    /// A call longer than this is counted as close to the timeout.
    pub(crate) fn near_limit(&self) -> Duration {
        Duration::from_micros(self.page().near_us.load(Relaxed))
    }

    pub(crate) fn memory_mb(&self) -> u64 {
        self.page().memory_mb.load(Relaxed)
    }

    pub(crate) fn set_end(&self, end: End) {
        self.page().end.store(end.word(), Relaxed);
    }

    /// Says why the process never began.
    pub(crate) fn set_unconfined(&self, error: &io::Error) {
        self.set_end(End::Unconfined(error.raw_os_error().unwrap_or(0)));
    }

    /// How the process ended; None when its watcher did not live to say.
    pub(crate) fn end(&self) -> Option<End> {
        End::from_word(self.page().end.load(Relaxed))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CallLimits = CallLimits { timeout: Duration::from_millis(50), memory_mb: 100 };

    #[test]
    fn both_ends_of_a_slab_see_the_same_words() {
        let here = Slab::create(LIMITS, None).unwrap();
        let there = Slab::open(here.fd().unwrap().try_clone_to_owned().unwrap()).unwrap();
        here.put_inputs(2, &[1, 2, 3, 4]);
        there.set_phase(Phase::Call(7));
        there.beat();
        assert_eq!((here.phase(), here.index(), here.input()), (Phase::Call(7), 1, Some(vec![3, 4])));
        assert_eq!((there.timeout(), there.memory_mb()), (LIMITS.timeout, 100));
        for end in
            [End::Exit(-1), End::Signal(9), End::Timeout, End::Released, End::Stopped, End::Unconfined(16)]
        {
            there.set_end(end);
            assert_eq!(here.end(), Some(end));
        }
    }

    #[test]
    fn every_fault_survives_its_status_word() {
        let slab = Slab::create(LIMITS, None).unwrap();
        let kinds = [FaultKind::Timeout, FaultKind::Signal(11), FaultKind::Exit(-3), FaultKind::Fpenv];
        for kind in kinds.into_iter().chain([FaultKind::Garbled]) {
            slab.set_fault(0, Some(kind));
            assert_eq!(outcomes(&slab, 1).firsts(), [Outcome::Fault(kind)]);
        }
        slab.set_fault(0, None);
        assert_eq!(outcomes(&slab, 1).firsts(), [Outcome::Value(0)]);
    }

    fn outcomes(slab: &Slab, width: usize) -> Outcomes {
        let mut out = Outcomes::new(width);
        slab.read_outcomes(1, &mut out);
        out
    }

    #[test]
    fn every_value_of_a_wide_outcome_comes_back() {
        let slab = Slab::create(LIMITS, None).unwrap();
        let rest: Vec<u64> = (1..MAX_RESULTS as u64).collect();
        let wide = Returned { first: Outcome::Value(9), rest: &rest };
        slab.set_outcome(0, wide);
        assert_eq!(outcomes(&slab, MAX_RESULTS).get(0), wide);
        slab.set_outcome(CAPACITY - 1, wide);
        assert_eq!(slab.value(CAPACITY * MAX_RESULTS - 1), 63);
    }

    #[test]
    fn a_page_that_was_overwritten_names_no_input() {
        let slab = Slab::create(LIMITS, None).unwrap();
        slab.put_inputs(1, &[5]);
        slab.page().sequence.store(u64::MAX, Relaxed);
        assert_eq!(slab.input(), None);
    }
}
