//! What people read of a run: the page in a browser, other formats, folders for bug reports.

#[path = "../common/mod.rs"]
mod common;

mod browser;
mod html;
mod html_causes;
mod reports;
mod repro;
