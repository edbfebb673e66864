//! Which files a confined process reaches: an allow-list that the kernel keeps (Landlock).

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
};

use super::project::real;

/// What programs need of the system to run at all: code, data that C libraries read, devices without a device behind them.
const SYSTEM: [&str; 24] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld-musl-x86_64.path",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
];

const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The newest rights this program knows; a kernel that knows fewer keeps those.
const NEWEST: ABI = ABI::V7;

/// Folders and files that a process reaches beside the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
}

/// Rules that a process can put itself under.
pub(super) struct Rules(Option<OwnedFd>);

impl Rules {
    /// Rules that let nothing but this be reached. On a kernel without Landlock they hold nothing.
    pub(super) fn new(reach: &Reach) -> io::Result<Rules> {
        let build = || -> Result<Option<OwnedFd>, RulesetError> {
            let mut rules = Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(NEWEST))?
                .handle_access(AccessNet::from_all(NEWEST))?
                .scope(Scope::from_all(NEWEST))?
                .create()?;
            let reading = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
            let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
            // No devices, whoever this process is.
            let writing = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
            let read = SYSTEM.iter().map(Path::new).chain(reach.read.iter().map(PathBuf::as_path));
            let named = read.map(|path| (path, reading));
            let devices = DEVICES.iter().map(|path| (Path::new(*path), device));
            let own = reach.write.iter().map(|path| (path.as_path(), writing));
            for (path, rights) in named.chain(devices).chain(own) {
                // What is not there cannot be read either.
                let Ok(place) = PathFd::new(path) else { continue };
                let rights = if path.is_dir() { rights } else { rights & of_files() };
                rules = rules.add_rule(PathBeneath::new(place, rights))?;
            }
            Ok(rules.into())
        };
        build().map(Rules).map_err(|e| io::Error::other(e.to_string()))
    }

    /// Rules that leave files alone: processes outside can no longer be signalled or traced.
    pub(super) fn about_processes() -> io::Result<Rules> {
        let build = || -> Result<Option<OwnedFd>, RulesetError> {
            let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
            Ok(rules.scope(Scope::from_all(NEWEST))?.create()?.into())
        };
        build().map(Rules).map_err(|e| io::Error::other(e.to_string()))
    }

    /// Puts this process under the rules, for good. Makes system calls and nothing else.
    pub(super) fn obey(&self) -> io::Result<()> {
        let Some(fd) = &self.0 else { return Ok(()) };
        // SAFETY: sets a flag of this process; without it, only a privileged one may restrict itself.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: takes two numbers.
        let failed = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, fd.as_raw_fd(), 0) };
        if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Rights that mean something for what is no folder.
fn of_files() -> BitFlags<AccessFs> {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
}

/// The version of Landlock that the kernel has; 0 for none.
pub(super) fn version() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asks for a number, and reads nothing.
    let known = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, VERSION)
    };
    u32::try_from(known).unwrap_or(0)
}

/// Whether a file, by its place without links, is one of the system's that everybody reads.
pub fn is_of_system(place: &Path) -> bool {
    let shown = |path: &&str| fs::canonicalize(path).is_ok_and(|shown| place.starts_with(shown));
    SYSTEM.iter().chain(&DEVICES).any(shown)
}

/// Whether a path, links in it followed, is in or below a folder.
pub(super) fn is_below(path: &Path, folder: &Path) -> bool {
    real(path).starts_with(real(folder))
}
