//! The program that shows which floating-point environment a build's executables start in, and how
//! to read its answer. Building and running it is the compile stage's, through its cache.

use crate::model::{Arithmetic, ControlWords};

/// The name of the probe's file in command lines.
pub const PROBE_FILE: &str = "bitrift_probe.c";

/// The probe's text, embedded so that an installed bitrift needs no source tree.
pub const PROBE_SOURCE: &str = include_str!("../../harness-c/probe.c");

/// The sticky exception flags of MXCSR: what the start-up code happened to raise, not a setting.
const MXCSR_FLAGS: u32 = 0x3f;

/// Reads the probe's output; None when it is not what the probe prints.
pub fn read_probe(output: &str) -> Option<ControlWords> {
    let words: Vec<&str> = output.split_whitespace().collect();
    let ["mxcsr", mxcsr, "x87", x87] = words.as_slice() else { return None };
    let mxcsr = u32::from_str_radix(mxcsr, 16).ok()? & !MXCSR_FLAGS;
    Some(ControlWords { mxcsr, x87: u16::from_str_radix(x87, 16).ok()? })
}

/// What a runner says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerWords {
    pub control: ControlWords,
    pub arithmetic: Arithmetic,
    /// The C library it is linked with, and its version.
    pub libc: String,
}

/// Reads it: the line of the probe, the C library, hard cases that came out wrong, the bits of two NaNs,
/// the number of cases.
pub fn read_runner(output: &str) -> Option<RunnerWords> {
    let (first, rest) = output.split_once('\n')?;
    let control = read_probe(first)?;
    let (mut arithmetic, mut libc) = (Arithmetic::default(), String::new());
    for line in rest.lines() {
        match line.split_once(' ')? {
            ("wrong", case) => arithmetic.wrong.push(case.into()),
            ("nan", bits) => {
                let (default, payload) = bits.split_once(' ')?;
                (arithmetic.default_nan, arithmetic.payload_nan) = (default.into(), payload.into());
            }
            ("libc", name) => libc = name.into(),
            ("cases", count) => arithmetic.cases = count.parse().ok()?,
            _ => return None,
        }
    }
    (arithmetic.cases > 0).then_some(RunnerWords { control, arithmetic, libc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_read_without_the_sticky_flags() {
        assert_eq!(read_probe("mxcsr 1fa0 x87 37f\n"), Some(ControlWords::IEEE));
        assert_eq!(read_probe("mxcsr 9fc0 x87 37f\n"), Some(ControlWords::FTZ));
    }

    #[test]
    fn a_runner_tells_its_registers_and_its_arithmetic() {
        let text =
            "mxcsr 1f80 x87 37f\nlibc musl 1.2.3\nwrong 1/3, up: 1 instead of 2\nnan 7ff8 fff8\ncases 56\n";
        let RunnerWords { control, arithmetic, libc } = read_runner(text).unwrap();
        assert_eq!((control, arithmetic.cases, libc.as_str()), (ControlWords::IEEE, 56, "musl 1.2.3"));
        assert_eq!(arithmetic.wrong, ["1/3, up: 1 instead of 2"]);
        assert_eq!((arithmetic.default_nan.as_str(), arithmetic.payload_nan.as_str()), ("7ff8", "fff8"));
        for broken in
            ["", "mxcsr 1f80 x87 37f\n", "mxcsr 1f80 x87 37f\nnoise\n", "mxcsr 1f80 x87 37f\ncases x\n"]
        {
            assert_eq!(read_runner(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in ["", "1f80 37f", "mxcsr 1f80", "mxcsr xyz x87 37f", "mxcsr 1f80 x87 37f more"] {
            assert_eq!(read_probe(text), None, "{text}");
        }
    }
}
