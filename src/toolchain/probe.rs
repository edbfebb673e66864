//! The program that shows which floating-point environment a build's executables start in, and how
//! to read its answer. Building and running it is the compile stage's, through its cache.

use crate::model::ControlWords;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_read_without_the_sticky_flags() {
        assert_eq!(read_probe("mxcsr 1fa0 x87 37f\n"), Some(ControlWords::IEEE));
        assert_eq!(read_probe("mxcsr 9fc0 x87 37f\n"), Some(ControlWords::FTZ));
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in ["", "1f80 37f", "mxcsr 1f80", "mxcsr xyz x87 37f", "mxcsr 1f80 x87 37f more"] {
            assert_eq!(read_probe(text), None, "{text}");
        }
    }
}
