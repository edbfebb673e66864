//! Worker processes with real faults. Each test looks at every process of the program, so this theme
//! has a test program of its own.

mod evaluating;
mod objects;
mod processes;
mod searching;
