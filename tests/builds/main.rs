//! Builds with the real compilers: what loads, what is kept, what fails and how it says so; other machines and
//! surroundings, other implementations, presets, and the campaigns on code of others.

#[path = "../common/mod.rs"]
mod common;

mod audit;
mod caching;
mod caged;
mod campaigns;
mod emulated;
mod environments;
mod failing;
mod groups;
mod implementations;
mod lab;
mod libraries;
mod lines;
mod loading;
mod presets;
mod wide;
