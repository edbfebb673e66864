//! Which files the dynamic loader takes for the libraries of an object, by the loader's own word.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use object::elf;
use object::read::ReadRef;
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object, ObjectSymbol, ReadCache};

use super::compiler::question;
use super::reach::ToolReach;

/// How long the loader may take to look for libraries.
const TIMEOUT: Duration = Duration::from_secs(20);

/// By the name that an object asks for, which is a library's SONAME, the file that answers to it.
pub type Libraries = BTreeMap<String, PathBuf>;

/// The libraries of this program: an object that is loaded into it gets them by their names, whatever its own
/// folders hold. Asked once.
pub fn own_libraries() -> &'static Libraries {
    static OWN: OnceLock<Libraries> = OnceLock::new();
    // Nobody else's file, and no business of a cage, whose inmates do not see this process.
    OWN.get_or_init(|| listed(&this_program(), &ToolReach::off()))
}

/// This program as a file, even when the one it came from has been replaced. Not /proc/self: the loader is asked,
/// and would find itself there.
fn this_program() -> PathBuf {
    PathBuf::from(format!("/proc/{}/exe", std::process::id()))
}

/// The libraries of an object; none when it asks for no others than this program has, wherever those are.
pub fn libraries_of(object: &Path, reach: &ToolReach) -> Libraries {
    match read(object, |file| wishes(file)) {
        Some(wishes) if wishes.are_plain() => Libraries::new(),
        _ => listed(object, reach),
    }
}

/// The libraries that a program starts with.
pub fn libraries_of_program(program: &Path, reach: &ToolReach) -> Libraries {
    as_ours(program).unwrap_or_else(|| listed(program, reach))
}

/// The same without asking the loader: whoever wants no others than this program has, and is loaded by the same loader, gets the
/// same.
fn as_ours(program: &Path) -> Option<Libraries> {
    let same = read(program, |file| interpreter(file)) == loader() && !Path::new(PRELOADED).exists();
    let own = own_libraries();
    let mut open = same.then(|| read(program, |file| wishes(file)))?.filter(Wishes::are_plain)?.names;
    // Whoever starts a program is one of its libraries.
    open.extend(loader().and_then(|path| Some(path.file_name()?.to_str()?.to_string())));
    let mut found = Libraries::new();
    while let Some(name) = open.pop() {
        let file = own.get(&name)?;
        if found.insert(name, file.clone()).is_none() {
            open.extend(read(file, |file| wishes(file)).filter(Wishes::are_plain)?.names);
        }
    }
    Some(found)
}

/// What the machine's owner has the loader put before everything.
const PRELOADED: &str = "/etc/ld.so.preload";

/// Parts of the C library, and what a compiler brings along: they keep no state that one caller sets for another.
const SYSTEM: [&str; 16] = [
    "libc.",
    "libm.",
    "libmvec.",
    "libpthread.",
    "libdl.",
    "librt.",
    "libutil.",
    "libanl.",
    "libresolv.",
    "ld-",
    "libgcc_s.",
    "libatomic.",
    "libstdc++.",
    "libgomp.",
    "libgfortran.",
    "libquadmath.",
];

/// Whether a library is the machine's own C library or compiler's, by its name and the file that answers to it.
pub fn is_system(name: &str, file: &Path) -> bool {
    let kept = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].iter().any(|folder| file.starts_with(folder));
    kept && SYSTEM.iter().any(|start| name.starts_with(start))
}

/// The name by which the loader knows a library file; None when that file gives itself none.
pub fn soname(library: &Path) -> Option<String> {
    read(library, |file| wishes(file))?.soname
}

/// What a library takes from outside, or lets others take its place of: each of these can become the code of whoever
/// is searched before it.
pub fn open_symbols(library: &Path) -> BTreeSet<String> {
    dynamic_symbols(library, |_| true)
}

/// What an object lets others take.
pub fn exported_symbols(object: &Path) -> BTreeSet<String> {
    dynamic_symbols(object, |is_undefined| !is_undefined)
}

/// What a linker puts into every object.
const EVERYWHERE: [&str; 7] = ["_init", "_fini", "_start", "_etext", "_edata", "_end", "__bss_start"];

fn dynamic_symbols(path: &Path, wanted: impl Fn(bool) -> bool) -> BTreeSet<String> {
    let names = read(path, |content| {
        let file = object::File::parse(content).ok()?;
        let symbols = file.dynamic_symbols().filter(|s| s.is_global() || s.is_weak() || s.is_undefined());
        let names = symbols.filter(|s| wanted(s.is_undefined()));
        let names = names.filter_map(|s| Some(s.name().ok()?.to_string()));
        Some(names.filter(|name| !name.is_empty() && !EVERYWHERE.contains(&name.as_str())).collect())
    });
    names.unwrap_or_default()
}

/// Looks at parts of a file: a program is mostly what nobody asks for.
fn read<T>(path: &Path, look: impl FnOnce(&ReadCache<File>) -> Option<T>) -> Option<T> {
    look(&ReadCache::new(File::open(path).ok()?))
}

/// What an object says of its libraries.
struct Wishes {
    /// Its own name.
    soname: Option<String>,
    names: Vec<String>,
    /// It names folders to look in first.
    folders: bool,
    /// It has the loader run code while it looks for libraries.
    audited: bool,
}

impl Wishes {
    /// Whether it gets what this program has.
    fn are_plain(&self) -> bool {
        !self.folders && !self.audited && self.names.iter().all(|name| own_libraries().contains_key(name))
    }
}

fn wishes<'d>(content: impl ReadRef<'d>) -> Option<Wishes> {
    if FileKind::parse(content).ok()? != FileKind::Elf64 {
        return None;
    }
    let file = ElfFile64::<Endianness, _>::parse(content).ok()?;
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let (entries, strings) = sections.dynamic(endian, content).ok()??;
    let strings = sections.strings(endian, content, strings).ok()?;
    let mut wishes = Wishes { soname: None, names: Vec::new(), folders: false, audited: false };
    for entry in entries {
        let place = || entry.val32(endian);
        let text = || Some(String::from_utf8_lossy(strings.get(place()?).ok()?).into_owned());
        match entry.tag32(endian) {
            Some(elf::DT_NEEDED) => wishes.names.push(text()?),
            Some(elf::DT_SONAME) => wishes.soname = Some(text()?),
            Some(elf::DT_RPATH | elf::DT_RUNPATH) => wishes.folders = true,
            Some(elf::DT_AUDIT | elf::DT_DEPAUDIT) => wishes.audited = true,
            _ => {}
        }
    }
    Some(wishes)
}

/// What the loader of this program says when it is asked for the libraries of a file; nothing of it is run. A file that would have
/// it run something is not asked about, and neither is one that this program cannot look into.
fn listed(object: &Path, reach: &ToolReach) -> Libraries {
    let is_quiet = read(object, |file| wishes(file)).is_some_and(|wishes| !wishes.audited);
    let Some(loader) = loader().filter(|_| is_quiet) else { return Libraries::new() };
    // Without the caller's environment, as the processes that load the object are.
    let argv = [loader.display().to_string(), "--list".into(), object.display().to_string()];
    let done = question(&loader, &argv, Path::new("/"), (reach, TIMEOUT));
    done.stdout.lines().filter_map(entry).collect()
}

/// `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)`, or the path of the loader alone; what is not found
/// has no file.
fn entry(line: &str) -> Option<(String, PathBuf)> {
    let (text, _) = line.trim().rsplit_once(" (0x")?;
    let (name, path) = match text.split_once(" => ") {
        Some(found) => found,
        None => (text.rsplit_once('/')?.1, text),
    };
    Some((name.into(), fs::canonicalize(path).unwrap_or_else(|_| path.into())))
}

/// The file that loads this program.
fn loader() -> Option<PathBuf> {
    static LOADER: OnceLock<Option<PathBuf>> = OnceLock::new();
    LOADER.get_or_init(|| read(&this_program(), |file| interpreter(file))).clone()
}

/// The file that loads a program, by its own word.
fn interpreter<'d>(content: impl ReadRef<'d>) -> Option<PathBuf> {
    let file = ElfFile64::<Endianness, _>::parse(content).ok()?;
    let endian = file.endian();
    let segments = file.elf_header().program_headers(endian, content).ok()?;
    let path = segments.iter().find_map(|segment| segment.interpreter(endian, content).ok()?)?;
    Some(PathBuf::from(String::from_utf8_lossy(path).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_a_libc_and_asks_for_nothing_that_is_not_known() {
        let own = own_libraries();
        assert!(own.get("libc.so.6").is_some_and(|path| path.is_absolute()), "{own:?}");
        assert_eq!(libraries_of(&this_program(), &ToolReach::off()), Libraries::new());
        assert_eq!(libraries_of(Path::new("/no/such.so"), &ToolReach::default()), Libraries::new());
    }

    #[test]
    fn the_libraries_of_a_plain_program_are_known_as_the_loader_knows_them() {
        for program in ["/bin/true", "/bin/bash", "/usr/bin/gcc"].map(Path::new) {
            let listed = listed(program, &ToolReach::default());
            assert_eq!(libraries_of_program(program, &ToolReach::default()), listed, "{program:?}");
        }
        assert!(as_ours(Path::new("/bin/true")).is_some_and(|libraries| libraries.len() >= 2));
    }

    #[test]
    fn a_line_of_the_loader_is_read_whatever_the_path_has() {
        let read = |line: &str| entry(line).map(|(name, path)| (name, path.display().to_string()));
        let wanted = Some(("libv.so.1".to_string(), "/no/a b (1)/libv.so.1".to_string()));
        assert_eq!(read("\tlibv.so.1 => /no/a b (1)/libv.so.1 (0x00007f0000000000)"), wanted);
        assert_eq!(read("\tlibv.so.1 => not found"), None);
        assert_eq!(read("\tlinux-vdso.so.1 (0x00007ffd3b5f2000)"), None);
        let wanted = Some(("ld.so.2".to_string(), "/no/ld.so.2".to_string()));
        assert_eq!(read("\t/no/ld.so.2 (0x00007fa5a7e15000)"), wanted);
    }
}
