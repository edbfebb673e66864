//! Builds for other machines and surroundings, presets, and the campaigns on code of others.

#[path = "../common/mod.rs"]
mod common;

mod campaigns;
mod emulated;
mod environments;
mod presets;
mod wide;
