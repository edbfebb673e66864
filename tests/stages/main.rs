//! Stages as a library, without a process: the matrix, C sources taken apart, run folders.

mod dissect;
mod matrix;
mod results;
