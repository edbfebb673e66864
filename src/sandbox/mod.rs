//! Confining code that nobody vouches for. What code under test and compilers may do is decided here and nowhere else; SECURITY.md
//! says it for users.
//!
//! * `files` is which files a process reaches (Landlock), `filter` which system calls it may make (seccomp), with the list in `calls`;
//! * `apart` is a world of its own, in namespaces: its own processes, System V objects and /proc, all files read-only, a bounded scratch
//!   folder; `launch` starts a program there, or in a cage, as an `image`;
//! * `listener` hears what a filter refuses, so that it can be told; `privileges` are taken away, with the means to get them back;
//! * `cage` puts all of them around a program that is not ours; `walls` around a process of ours that runs code under test;
//! * `folder` is one that others fill, and how it is removed; `project` says which paths of a matrix lead out of its project; `held` is what this machine's kernel has of all that. Each means holds without the others: an old kernel loses some, and
//!   bitrift says which.

mod apart;
mod cage;
mod calls;
mod files;
mod filter;
mod folder;
mod held;
mod image;
mod launch;
mod listener;
mod privileges;
mod project;
mod walls;

pub use cage::{Cage, MAX_OUTPUT};
pub use files::is_of_system;
pub use folder::{Folder, remove_folder};
pub use held::{Held, Promise};
pub(crate) use launch::{Launch, Launched, Place};
pub(crate) use listener::{Listener, Refused};
pub(crate) use privileges::{expect_limits, hide};
pub use project::{Project, is_stored, is_too_wide, real};
pub use walls::Sandbox;
