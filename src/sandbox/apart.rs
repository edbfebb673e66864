//! A world of its own: namespaces of users, processes, mounts and System V objects. The first process in it is its init, which
//! nothing inside can signal, and with whose end everything inside ends.
//!
//! What is said here runs in two places: between clone and exec, where only system calls may be made, and in the new program, which
//! sets up its mounts before it lets code under test in.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::path::Path;

/// What a new world is separated by.
pub(super) const FLAGS: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// Processes and threads in it at a time. The kernel takes no less than 301.
const PROCESSES: &CStr = c"512";
/// The same of tools, some of which are drivers of many.
const PROCESSES_OF_TOOLS: &CStr = c"1024";
const MOST_PROCESSES: &CStr = c"/proc/sys/kernel/pid_max";

/// Files in the scratch folder.
const INODES: u32 = 16_384;

/// `struct mount_attr` of the kernel.
#[repr(C)]
#[derive(Default)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user: u64,
}

const MOUNT_ATTR_RDONLY: u64 = 1;

/// MS_PRIVATE: what is mounted outside from now on does not appear inside, where it would not be read-only.
const PRIVATE: u64 = 1 << 18;

/// Who this process is to the world inside: the same as outside. Made before clone, because it allocates.
pub(super) struct Identity {
    users: CString,
    groups: CString,
}

impl Identity {
    pub(super) fn here() -> Identity {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        // Numbers and spaces have no NUL.
        let line = |id: u32| CString::new(format!("{id} {id} 1")).unwrap_or_default();
        Identity { users: line(user), groups: line(group) }
    }

    /// Takes the identity on, and keeps the right to mount over the coming exec. Makes system calls and nothing else.
    pub(super) fn take(&self) -> io::Result<()> {
        // SAFETY: sets a flag of this process, without which its own files in /proc belong to root.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
        write(c"/proc/self/uid_map", &self.users)?;
        write(c"/proc/self/setgroups", c"deny")?;
        write(c"/proc/self/gid_map", &self.groups)?;
        super::privileges::keep_admin()
    }
}

/// Writes to a file that is there. Makes system calls and nothing else.
fn write(path: &CStr, content: &CStr) -> io::Result<()> {
    let bytes = content.to_bytes();
    // SAFETY: both are whole strings; the descriptor is closed where it was opened.
    unsafe {
        let fd: RawFd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let written = libc::write(fd, bytes.as_ptr().cast(), bytes.len());
        let failed = io::Error::last_os_error();
        libc::close(fd);
        if written < 0 { Err(failed) } else { Ok(()) }
    }
}

/// The scratch folder of a world. Made before clone, because it allocates.
pub(super) struct Scratch {
    place: CString,
    options: CString,
    bounded: bool,
    /// It is at the usual place of temporary files too, where much code puts them whatever it is told.
    at_tmp: bool,
}

impl Scratch {
    pub(super) fn new(place: &str, bytes: u64, at_tmp: bool) -> Scratch {
        let text = |text: String| CString::new(text).unwrap_or_default();
        let options = text(format!("size={bytes},nr_inodes={INODES},mode=0700"));
        Scratch { place: text(place.into()), options, bounded: bounds_processes(), at_tmp }
    }

    /// Makes all files read-only, and gives this world a /proc and the scratch folder; whether the number of its processes is
    /// bounded. Makes system calls and nothing else.
    pub(super) fn furnish(&self) -> io::Result<bool> {
        set_read_only(c"/", libc::AT_RECURSIVE)?;
        mount_proc()?;
        let bounded = self.bounded && write(MOST_PROCESSES, PROCESSES).is_ok();
        go_first();
        set_read_only(c"/proc", 0)?;
        mount(c"bitrift", &self.place, c"tmpfs", libc::MS_NOSUID | libc::MS_NODEV, &self.options)?;
        if self.at_tmp {
            mount(&self.place, c"/tmp", c"", libc::MS_BIND, c"")?;
        }
        Ok(bounded)
    }
}

/// What a tool sees of the files: all of them read-only, but for its own folder. Made before a fork, because it allocates.
pub(super) enum View {
    /// A folder that is there, and whether the number of processes can be bounded.
    Folder(CString, bool),
    /// A bounded one that is made.
    Scratch(Scratch),
}

impl View {
    pub(super) fn of(own: &Path) -> io::Result<View> {
        super::image::whole(own.as_os_str()).map(|own| View::Folder(own, bounds_processes()))
    }

    /// Makes this process see them so. Makes system calls and nothing else.
    pub(super) fn take(&self) -> io::Result<()> {
        let (own, bounded) = match self {
            View::Scratch(scratch) => return scratch.furnish().map(drop),
            View::Folder(own, bounded) => (own, *bounded),
        };
        go_first();
        mount(own, own, c"", libc::MS_BIND, c"")?;
        set_read_only(c"/", libc::AT_RECURSIVE)?;
        set(own, 0, MountAttr { clear: MOUNT_ATTR_RDONLY, ..MountAttr::default() })?;
        mount_proc()?;
        if bounded {
            // For root the limit of a user does not count.
            let _ = write(MOST_PROCESSES, PROCESSES_OF_TOOLS);
        }
        Ok(())
    }
}

/// When memory runs out, this process goes first, not the user's other ones.
fn go_first() {
    let _ = write(c"/proc/self/oom_score_adj", c"1000");
}

/// Whether the greatest number of a process is a world's own. An older kernel has one such number for the whole machine, and would take
/// it from root.
fn bounds_processes() -> bool {
    kernel() >= (6, 14)
}

/// The processes of this world alone.
fn mount_proc() -> io::Result<()> {
    mount(c"proc", c"/proc", c"proc", libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, c"")
}

/// The first two numbers of the kernel's version.
pub(super) fn kernel() -> (u32, u32) {
    let name = rustix::system::uname();
    let text = name.release().to_string_lossy();
    let mut numbers = text.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn mount(what: &CStr, place: &CStr, kind: &CStr, flags: libc::c_ulong, options: &CStr) -> io::Result<()> {
    // SAFETY: all are whole strings.
    let failed =
        unsafe { libc::mount(what.as_ptr(), place.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn set_read_only(place: &CStr, flags: i32) -> io::Result<()> {
    set(place, flags, MountAttr { set: MOUNT_ATTR_RDONLY, propagation: PRIVATE, ..MountAttr::default() })
}

fn set(place: &CStr, flags: i32, attr: MountAttr) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the structure has.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            place.as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Folders that are on every system and hold nothing that code under test needs. The last ones, of the kernel, cannot be
/// what a matrix names.
const SCRATCHES: [&str; 9] =
    ["/dev/shm", "/mnt", "/media", "/srv", "/var/tmp", "/proc/driver", "/proc/tty", "/proc/bus", "/proc/fs"];

/// A folder that a scratch folder can be mounted over without hiding one of these.
pub(super) fn scratch_beside(needed: &[&Path]) -> Option<&'static str> {
    SCRATCHES.into_iter().find(|place| hides_nothing(place, needed))
}

/// Whether a folder is there, and none of these in it.
pub(super) fn hides_nothing(place: &str, needed: &[&Path]) -> bool {
    let hides = || needed.iter().any(|path| super::files::is_below(path, Path::new(place)));
    fs::symlink_metadata(place).is_ok_and(|meta| meta.is_dir()) && !hides()
}

/// Whether a world can be made and furnished here, and whether the number of its processes can be bounded.
pub(super) fn try_out() -> (bool, bool) {
    let Some(place) = scratch_beside(&[]) else { return (false, false) };
    let (identity, scratch) = (Identity::here(), Scratch::new(place, 1 << 20, false));
    let code =
        super::launch::in_a_fork(FLAGS, &mut || match identity.take().and_then(|()| scratch.furnish()) {
            Ok(bounded) => 1 + i32::from(bounded),
            Err(_) => 0,
        });
    (matches!(code, Some(1 | 2)), code == Some(2))
}
