//! Judging runs: what was accepted against what is found now, and two runs against each other. Pure: data
//! in, verdicts out.

pub mod compare;
