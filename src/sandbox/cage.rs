//! The confinement of a program that is not ours: a compiler, a linker, an emulator that is asked who it is; and that of a
//! program with code under test that is only asked who it is. Made before the program is started, entered between fork and exec.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::apart::{FLAGS, Scratch, View, kernel, scratch_beside};
use super::files::{Reach, Rules};
use super::filter::{Filter, Wishes};
use super::held::Held;
use super::privileges;

/// The largest file that a tool may leave.
pub const MAX_OUTPUT: u64 = 1 << 30;

/// Processes of a tool at a time.
const TOOL_PROCESSES: u64 = 1024;

/// What a program with code under test may have when it is only asked who it is: files, memory, processes, a scratch folder.
const ASKED_FILE: u64 = 1 << 20;
const ASKED_DATA: u64 = 2 << 30;
const ASKED_PROCESSES: u64 = 512;
const ASKED_SCRATCH: u64 = 64 << 20;

/// What a program may reach.
pub struct Cage {
    view: Option<View>,
    rules: Rules,
    filter: Option<Filter>,
    limits: Vec<(Resource, u64)>,
}

impl Cage {
    /// A tool that reads these, and the system's own files, and writes its own folder; it has no sockets, and sees, signals and
    /// traces nobody outside, and all that it started ends with it. What this kernel cannot hold is left out: see [`Held`].
    pub fn tool(held: Held, read: Vec<PathBuf>, own: &Path) -> io::Result<Cage> {
        let view = held.namespaces.then(|| View::of(own)).transpose()?;
        let reach = Reach { read, write: vec![own.to_path_buf()] };
        let mut limits = vec![(Resource::Fsize, MAX_OUTPUT), (Resource::Core, 0)];
        if view.is_some() && kernel() >= (5, 14) {
            limits.push((Resource::Nproc, TOOL_PROCESSES));
        }
        Cage::new(held, view, &reach, true, limits)
    }

    /// A program with code under test, which reads these and the system's own files and writes nothing but a scratch folder, or
    /// its own folder where there can be none.
    pub fn code(held: Held, mut read: Vec<PathBuf>, own: &Path) -> io::Result<Cage> {
        read.push(own.to_path_buf());
        let needed: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
        let place = scratch_beside(&needed).filter(|_| held.namespaces);
        let view = place.map(|place| View::Scratch(Scratch::new(place, ASKED_SCRATCH, false)));
        let write = place.map_or(own, Path::new).to_path_buf();
        let mut limits =
            vec![(Resource::Fsize, ASKED_FILE), (Resource::Core, 0), (Resource::Data, ASKED_DATA)];
        if view.is_some() && kernel() >= (5, 14) {
            limits.push((Resource::Nproc, ASKED_PROCESSES));
        }
        Cage::new(held, view, &Reach { read, write: vec![write] }, false, limits)
    }

    fn new(
        held: Held,
        view: Option<View>,
        reach: &Reach,
        tool: bool,
        limits: Vec<(Resource, u64)>,
    ) -> io::Result<Cage> {
        let (protected, apart) = (held.protected().filter(|_| view.is_none()), view.is_some());
        let wishes = Wishes { protected, apart, tool, ..Wishes::default() };
        let filter = held.filters.then(|| Filter::new(wishes)).transpose()?;
        Ok(Cage { view, rules: Rules::new(reach)?, filter, limits })
    }

    /// What the process that enters it is to be separated by.
    pub(super) fn flags(&self) -> i32 {
        if self.view.is_some() { FLAGS } else { 0 }
    }

    /// Puts this process into it, for good. Makes system calls and nothing else, so that it may be called between fork and exec.
    pub(super) fn enter(&self) -> io::Result<()> {
        for (resource, wanted) in &self.limits {
            let maximum = getrlimit(*resource).maximum;
            let value = Some(maximum.map_or(*wanted, |most| (*wanted).min(most)));
            setrlimit(*resource, Rlimit { current: value, maximum: value })?;
        }
        self.view.as_ref().map_or(Ok(()), View::take)?;
        self.rules.obey()?;
        // Root's would go around the rest: with them, the memory of any process can be read.
        privileges::give_up()?;
        self.filter.as_ref().map_or(Ok(()), Filter::install)
    }
}
