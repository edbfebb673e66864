//! The Rust side of harness-c/guard.c: one call per batch, and the control registers.

use super::slab::Slab;
use super::states::Phase;
use crate::model::ControlWords;

/// The C entry point of a function in a build.
pub(crate) type Shim = unsafe extern "C" fn(*const u64, *mut u64);

#[repr(C)]
#[derive(Clone, Copy)]
struct Control {
    mxcsr: u32,
    x87: u16,
}

#[repr(C)]
struct CBatch {
    shim: Shim,
    page: *mut u8,
    inputs: *const u64,
    outputs: *mut u64,
    status: *mut u64,
    arity: usize,
    width: usize,
    begin: usize,
    end: usize,
    phase: u64,
    control: Control,
}

unsafe extern "C" {
    fn bitrift_control_read() -> Control;
    fn bitrift_control_write(control: Control);
    fn bitrift_run(batch: *const CBatch) -> usize;
    fn bitrift_pace(batch: *const CBatch);
}

/// A stretch of the inputs in a slab, to be run on one build.
pub(crate) struct Batch {
    pub shim: Shim,
    /// What the page says while the calls run.
    pub phase: Phase,
    pub control: ControlWords,
    pub arity: usize,
    /// Words that a call gives.
    pub width: usize,
    /// First input, and one past the last.
    pub begin: usize,
    pub end: usize,
}

impl Batch {
    /// Runs the calls in this process. Returns how many came back with changed control registers;
    /// only their status words are written. Ends early in every way code under test can end.
    ///
    /// # Safety
    /// `shim` must be the entry point of a function of `arity` words in and `width` out in an object that stays
    /// loaded, and this process must be one that code under test may ruin.
    pub(crate) unsafe fn run(&self, slab: &Slab) -> usize {
        let batch = self.in_slab(slab);
        // SAFETY: all pointers are into the slab, whose areas hold CAPACITY inputs; the rest is the
        // caller's promise. The control registers are given back as they were.
        unsafe { bitrift_run(&batch) }
    }

    /// The same calls with nothing around them that would take as long as a small function.
    ///
    /// # Safety
    /// As for `run`.
    pub(crate) unsafe fn pace(&self, slab: &Slab) {
        let batch = self.in_slab(slab);
        // SAFETY: as in `run`.
        unsafe { bitrift_pace(&batch) }
    }

    fn in_slab(&self, slab: &Slab) -> CBatch {
        assert!(self.end <= super::slab::CAPACITY, "a batch larger than its slab");
        CBatch {
            shim: self.shim,
            page: slab.page_ptr(),
            inputs: slab.inputs_ptr(),
            outputs: slab.outputs_ptr(),
            status: slab.status_ptr(),
            arity: self.arity,
            width: self.width,
            begin: self.begin,
            end: self.end,
            phase: self.phase.word(),
            control: Control { mxcsr: self.control.mxcsr, x87: self.control.x87 },
        }
    }
}

/// Runs `work` and puts the control registers back after it: a constructor linked in with
/// `-ffast-math` sets FTZ and DAZ for the whole thread.
pub(crate) fn keeping_registers<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: reads two registers.
    let before = unsafe { bitrift_control_read() };
    let result = work();
    // SAFETY: writes back what was there.
    unsafe { bitrift_control_write(before) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::CallLimits;
    use crate::model::{FaultKind, Outcome, Outcomes};
    use std::time::Duration;

    /// Halves a double; flips FTZ on for an argument of 1.
    unsafe extern "C" fn halve(input: *const u64, output: *mut u64) {
        // SAFETY: called by the batch loop with one word each.
        unsafe {
            let x = f64::from_bits(*input);
            *output = std::hint::black_box(x * 0.5).to_bits();
            if x == 1.0 {
                bitrift_control_write(Control { mxcsr: 0x9fc0, x87: 0x037f });
            }
        }
    }

    fn run(control: ControlWords, inputs: &[f64]) -> Vec<Outcome> {
        let slab =
            Slab::create(CallLimits { timeout: Duration::from_secs(1), memory_mb: 100 }, None).unwrap();
        let bits: Vec<u64> = inputs.iter().map(|x| x.to_bits()).collect();
        slab.put_inputs(1, &bits);
        let batch = Batch {
            shim: halve,
            phase: Phase::Call(0),
            control,
            arity: 1,
            width: 1,
            begin: 0,
            end: bits.len(),
        };
        // SAFETY: `halve` takes one word and gives one.
        unsafe { batch.run(&slab) };
        assert_eq!(slab.phase(), Phase::Idle);
        let mut out = Outcomes::new(1);
        slab.read_outcomes(bits.len(), &mut out);
        out.firsts().to_vec()
    }

    #[test]
    fn each_build_computes_in_its_own_environment_and_the_caller_keeps_its_own() {
        let tiny = f64::from_bits(6);
        assert_eq!(run(ControlWords::IEEE, &[tiny]), [Outcome::Value(3)]);
        assert_eq!(run(ControlWords::FTZ, &[tiny]), [Outcome::Value(0)]);
        assert_eq!(std::hint::black_box(tiny) * 0.5, f64::from_bits(3));
    }

    #[test]
    fn a_changed_register_is_a_fault_of_that_input_alone() {
        let tiny = f64::from_bits(6);
        assert_eq!(
            run(ControlWords::IEEE, &[tiny, 1.0, tiny]),
            [Outcome::Value(3), Outcome::Fault(FaultKind::Fpenv), Outcome::Value(3)]
        );
    }
}
