//! The confinement of a process that runs code under test: what it is told at its start, and what it does before it lets that
//! code in.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::apart::{Scratch, hides_nothing, kernel, scratch_beside};
use super::files::{Reach, Rules};
use super::filter::{Filter, Wishes};
use super::held::Held;
use super::listener::Listener;
use super::privileges;

/// What code under test may write in all, beside copies of its objects.
const SCRATCH: u64 = 256 << 20;

/// How a process is confined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    walls: Walls,
    /// What may be read beside the system's files and the objects of the run.
    read: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Walls {
    None,
    /// With these means, and a scratch folder of so many bytes at a place, if it gets a world of its own.
    Full {
        held: Held,
        scratch: Option<(String, u64)>,
    },
    /// It is started in a sandbox, which it cannot leave.
    Inner {
        has_scratch: bool,
    },
}

impl Default for Sandbox {
    fn default() -> Sandbox {
        Sandbox::new(Held::here(), Vec::new())
    }
}

impl Sandbox {
    /// All that holds here; these may be read.
    pub fn new(held: Held, read: Vec<PathBuf>) -> Sandbox {
        Sandbox { walls: Walls::Full { held, scratch: None }, read }
    }

    /// None at all.
    pub fn off() -> Sandbox {
        Sandbox { walls: Walls::None, read: Vec::new() }
    }

    pub fn is_off(&self) -> bool {
        self.walls == Walls::None
    }

    /// The same for a process that is to read these files too, and to copy them.
    pub(crate) fn around<'p>(mut self, objects: impl Iterator<Item = &'p Path>) -> Sandbox {
        let objects: Vec<&Path> = objects.collect();
        let sizes = objects.iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len());
        // Room for two copies: a unit may be repeated beside the process that it was begun in.
        let bytes = SCRATCH + 2 * sizes.sum::<u64>();
        self.read.extend(objects.iter().map(|path| path.to_path_buf()));
        if let Walls::Full { held, scratch } = &mut self.walls {
            let needed: Vec<&Path> = self.read.iter().map(PathBuf::as_path).collect();
            let place = scratch_beside(&needed).filter(|_| held.namespaces);
            *scratch = place.map(|place| (place.to_string(), bytes));
        }
        self
    }

    /// The same for a process that a confined one starts.
    pub(crate) fn inner(&self) -> Sandbox {
        if self.is_off() {
            return Sandbox::off();
        }
        Sandbox { walls: Walls::Inner { has_scratch: self.has_scratch() }, read: Vec::new() }
    }

    /// Whether the process gets a world of its own.
    pub(crate) fn is_apart(&self) -> bool {
        self.place().is_some()
    }

    fn place(&self) -> Option<&(String, u64)> {
        match &self.walls {
            Walls::Full { scratch, .. } => scratch.as_ref(),
            Walls::None | Walls::Inner { .. } => None,
        }
    }

    /// Whether there is a scratch folder with a bound.
    pub(crate) fn has_scratch(&self) -> bool {
        self.is_apart() || self.is_inside_scratch()
    }

    /// Whether whoever starts the process has such a folder already.
    pub(crate) fn is_inside_scratch(&self) -> bool {
        matches!(self.walls, Walls::Inner { has_scratch: true })
    }

    /// Where the folder of the process is made, if not where temporary files go.
    pub(crate) fn scratch(&self) -> Option<&Path> {
        self.place().map(|(place, _)| Path::new(place))
    }

    /// Where code under test may leave something: the folder of its process, and the scratch folder around that if it is this world's
    /// alone.
    pub(crate) fn rooms(&self, room: &Path) -> Vec<PathBuf> {
        [Some(room), self.scratch()].into_iter().flatten().map(PathBuf::from).collect()
    }

    /// The first step, in the process that will watch the one with code under test. What holds from here on holds for both; the
    /// listener hears what the other is refused.
    pub(crate) fn enter(&self) -> io::Result<Option<Listener>> {
        let Walls::Full { held, scratch } = &self.walls else { return Ok(None) };
        if let Some((place, bytes)) = scratch {
            let needed: Vec<&Path> = self.read.iter().map(PathBuf::as_path).collect();
            Scratch::new(place, *bytes, hides_nothing("/tmp", &needed)).furnish()?;
        }
        privileges::hide();
        privileges::give_up()?;
        if !held.filters {
            return Ok(None);
        }
        let apart = scratch.is_some();
        let protected = held.protected().filter(|_| !apart);
        let filter = |heard| Filter::new(Wishes { apart, protected, heard, tool: false });
        if held.heard {
            // Where this process's own calls are heard by somebody, as in some containers, nobody else can listen.
            match filter(true)?.install_heard() {
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => {}
                listener => return listener.map(Listener).map(Some),
            }
        }
        filter(false)?.install().map(|()| None)
    }

    /// That a process can be started so. Where it should have a world of its own and cannot, it has none at all.
    pub(crate) fn check(&self) -> io::Result<()> {
        match &self.walls {
            Walls::Full { held, scratch: None } if held.namespaces => Err(io::Error::other(
                "its sandbox needs a folder for scratch files, and all that would do have files of the matrix in them",
            )),
            _ => Ok(()),
        }
    }

    /// The last step, in the process that lets code under test in: it reaches no files but those that it was given and its own
    /// folder.
    pub(crate) fn close(&self, room: &Path) -> io::Result<()> {
        match &self.walls {
            Walls::None => return Ok(()),
            Walls::Inner { .. } => Rules::about_processes()?.obey()?,
            Walls::Full { scratch, .. } => {
                let mut write = vec![room.to_path_buf()];
                // Nothing else is there: shared memory by name works, within the same bound.
                write.extend(scratch.iter().map(|(place, _)| PathBuf::from(place)));
                // This program is started again for builds that are asked in processes of their own.
                let own = PathBuf::from("/proc/self/exe");
                let read = self.read.iter().cloned().chain([own]).collect();
                Rules::new(&Reach { read, write })?.obey()?;
            }
        }
        privileges::show();
        Ok(())
    }

    /// The same once more, for a fork that must not reach the process it comes from.
    pub(crate) fn part(&self) -> io::Result<()> {
        if self.is_off() { Ok(()) } else { Rules::about_processes()?.obey() }
    }

    /// The most processes that code under test may have at a time, where the kernel counts those of its world alone.
    pub(crate) fn most_processes(&self) -> Option<u64> {
        (self.is_apart() && kernel() >= (5, 14)).then_some(512)
    }
}
