//! Searches against planted, swept and exhaustive truth.

mod auto;
mod bit_rivals;
mod clustering;
mod exhaustive;
mod fakes;
mod forged;
mod phases;
mod planted;
mod planted_lab;
mod planted_real;
mod rivals;
mod truth;
