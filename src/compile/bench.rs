//! What all jobs of a run share: the cache, what is known of files, limits; and running one tool in
//! a folder of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::cache::{Cache, Recipe};
use super::command::CommandLine;
use super::compiled::Settings;
use super::folders::Folders;
use super::inflight::InFlight;
use super::key::{Files, Hash, KeyBuilder};
use super::message::{shorten, tidy};
use super::opened::{Opened, add_file};
use crate::model::byte_text;
use crate::sandbox::{Folder, MAX_OUTPUT, is_stored};
use crate::toolchain::{
    Compiler, End, Finished, Invocation, ToolReach, Wrapping, expansion, library_of, locate, run, run_code,
    vague_args,
};

/// What a driver makes of some arguments, by its path and these; None when it does not say.
type Expansions = BTreeMap<(PathBuf, Vec<String>), Option<String>>;

/// A compiled or linked file in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub hash: Hash,
    pub path: PathBuf,
}

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The tool's own words.
    #[error("{0}")]
    Tool(String),
    /// The user interrupted.
    #[error("interrupted")]
    Cancelled,
    #[error("failed to write the cache: {0}")]
    Cache(#[from] io::Error),
}

/// Shared by all threads.
pub struct Bench<'a> {
    pub cache: &'a Cache,
    pub files: Files,
    pub folders: Folders,
    pub in_flight: InFlight,
    opened: Opened,
    expansions: Mutex<Expansions>,
    pub timeout: Duration,
    pub cancel: &'a AtomicBool,
    /// What tools may read: this process's objects too, which jobs link.
    pub reach: ToolReach,
    /// Whether every tool may read a file.
    shown: Mutex<HashMap<PathBuf, bool>>,
}

impl<'a> Bench<'a> {
    pub fn new(cache: &'a Cache, settings: &Settings<'a>) -> Bench<'a> {
        Bench {
            cache,
            files: Files::default(),
            folders: Folders::default(),
            in_flight: InFlight::default(),
            opened: Opened::default(),
            expansions: Mutex::default(),
            timeout: settings.timeout,
            cancel: settings.cancel,
            reach: settings.compilers.reach().and(vec![cache.objects()]),
            shown: Mutex::default(),
        }
    }

    pub fn stop_if_cancelled(&self) -> Result<(), Failure> {
        if self.cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
    }

    /// The part of a request's key that every kind has: the compiler, its exact arguments, what they stand for, and
    /// what they make it open. None when that cannot be known: the answer is then not kept.
    pub fn key(&self, kind: &str, compiler: &Compiler, line: &CommandLine) -> Option<KeyBuilder> {
        if compiler.wrapping == Wrapping::Opaque {
            return None;
        }
        let mut key = KeyBuilder::new(kind);
        key.add(&compiler.identity).add_all(&line.argv);
        if let Some(vague) = vague_args(compiler, &line.argv[1..]) {
            key.add(self.expansion(compiler, vague)?);
        }
        self.opened.add(&self.files, &line.argv[1..], &mut key).then_some(key)
    }

    /// What a driver makes of arguments; asked once.
    fn expansion(&self, compiler: &Compiler, args: Vec<String>) -> Option<String> {
        let known = || self.expansions.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (compiler.path.clone(), args);
        if let Some(known) = known().get(&place) {
            return known.clone();
        }
        let told = expansion(compiler, &place.1);
        known().entry(place).or_insert(told).clone()
    }

    /// Adds what a link takes from outside: the program that links, the linker, and the libraries' files with those
    /// that a linker script among them names.
    pub fn add_link_inputs(&self, key: &mut KeyBuilder, line: &CommandLine) {
        let linker = line.argv.iter().rev().find_map(|a| a.strip_prefix("-fuse-ld="));
        let linker = linker.map_or("ld".to_string(), |name| format!("ld.{name}"));
        let libraries =
            library_files(&line.argv).into_iter().chain(static_libraries(&line.argv, &self.reach));
        let programs = [Some(linker.as_str()), line.argv.first().map(String::as_str)];
        let programs = programs.into_iter().flatten().filter_map(locate);
        for path in programs.chain(libraries).filter(|path| path.is_file()) {
            add_file(&self.files, &path, 1, key);
        }
    }

    /// Whether a tool may have read a file: what a hostile one says it read is read again for its digest.
    pub fn was_read(&self, path: &Path, program: &Path, argv: &[String]) -> bool {
        let known = |known: &HashMap<PathBuf, bool>| known.get(path).copied();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let everybodys = known(&shown).unwrap_or_else(|| {
            *shown.entry(path.into()).or_insert(is_stored(path) && self.reach.may_read(path))
        });
        drop(shown);
        everybodys || is_stored(path) && self.reach.lets_read(program, argv, path)
    }

    /// The first recipe of a request that still holds, with its object. A request that has no key has none.
    pub fn look_up(&self, request: Option<&Hash>, folders: &[PathBuf]) -> Option<(Recipe, Object)> {
        let request = request?;
        self.cache.recipes(request).into_iter().find_map(|recipe| {
            let unchanged = recipe.headers.iter().all(|(path, hash)| self.files.hash(path) == Some(*hash));
            let paths: Vec<PathBuf> = recipe.headers.iter().map(|(path, _)| path.clone()).collect();
            if !unchanged || self.folders.rivals(folders, &paths) != recipe.rivals {
                return None;
            }
            let path = self.cache.object(&recipe.output)?;
            self.cache.note_use(request, &recipe.output);
            let object = Object { hash: recipe.output, path };
            Some((recipe, object))
        })
    }

    /// Remembers the answer to a request that depends on nothing but its key, if it has one.
    pub fn keep(
        &self,
        request: Option<&Hash>,
        content: &[u8],
        notes: Vec<(String, String)>,
    ) -> io::Result<Object> {
        let (output, path) = self.cache.put_object(content)?;
        if let Some(request) = request {
            let rivals = self.folders.rivals(&[], &[]);
            self.cache.add_recipe(request, Recipe { headers: Vec::new(), rivals, output, notes })?;
        }
        Ok(Object { hash: output, path })
    }
}

/// A folder in which one job's tools run; removed when dropped.
pub struct Job<'a> {
    bench: &'a Bench<'a>,
    folder: Folder,
    scratch: PathBuf,
}

impl<'a> Job<'a> {
    pub fn new(bench: &'a Bench<'a>) -> Result<Job<'a>, Failure> {
        let folder = bench.cache.job_folder()?;
        let scratch = folder.path().join("tmp");
        fs::create_dir(&scratch)?;
        Ok(Job { bench, folder, scratch })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command line; a failure is in the tool's own words, the first of them when it has many.
    pub fn run(&self, program: &Path, line: &CommandLine) -> Result<Finished, Failure> {
        self.run_wordy(program, line).map_err(|failure| match failure {
            Failure::Tool(words) => Failure::Tool(shorten(&words)),
            other => other,
        })
    }

    /// The same with all of the tool's words.
    pub fn run_wordy(&self, program: &Path, line: &CommandLine) -> Result<Finished, Failure> {
        self.perform(program, line, run)
    }

    /// Runs a program that holds code under test, in a folder that it does not share with what made it: who it is.
    pub fn run_code(&self, line: &CommandLine) -> Result<Finished, Failure> {
        let program = self.path().join(&line.argv[0]);
        let first = if program.is_file() { &program } else { Path::new(&line.argv[0]) };
        self.perform(first, line, run_code).map_err(|failure| match failure {
            Failure::Tool(words) => Failure::Tool(shorten(&words)),
            other => other,
        })
    }

    fn perform(
        &self,
        program: &Path,
        line: &CommandLine,
        how: fn(&Invocation) -> Finished,
    ) -> Result<Finished, Failure> {
        self.bench.stop_if_cancelled()?;
        let done = how(&Invocation {
            program,
            argv: &line.argv,
            cwd: self.path(),
            own: self.path(),
            tmp: &self.scratch,
            reach: &self.bench.reach,
            timeout: self.bench.timeout,
            cancel: Some(self.bench.cancel),
        });
        match done.end {
            End::Exited(0) => Ok(done),
            End::Cancelled => Err(Failure::Cancelled),
            _ => {
                let words = done.complaint(&line.argv[0], self.bench.timeout);
                Err(Failure::Tool(tidy(&words, &self.bench.cache.jobs_folder())))
            }
        }
    }

    /// Writes a file that is not there yet: what a tool left in its place could be a link.
    pub fn put(&self, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
        let path = self.path().join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        file.write_all(content)
    }

    /// What a successful tool was to leave behind.
    pub fn output(&self, name: &str, line: &CommandLine) -> Result<Vec<u8>, Failure> {
        self.left(name).map_err(|e| {
            Failure::Tool(format!("{} reported success but left no readable {name}: {e}", line.argv[0]))
        })
    }

    /// The content of a file that a tool left. A link in its place would be followed with more rights than the tool has.
    pub fn left(&self, name: &str) -> io::Result<Vec<u8>> {
        self.left_within(name, MAX_OUTPUT)
    }

    /// The same of a file that is no longer than this.
    pub fn left_within(&self, name: &str, longest: u64) -> io::Result<Vec<u8>> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path().join(name))?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        if about.len() > longest {
            return Err(io::Error::other(format!("it is larger than {}", byte_text(longest))));
        }
        let mut content = Vec::new();
        file.take(longest).read_to_end(&mut content)?;
        Ok(content)
    }
}

/// The C library that becomes part of a program, as its compiler names it.
fn static_libraries(argv: &[String], reach: &ToolReach) -> Vec<PathBuf> {
    let Some(compiler) = argv.first().and_then(|command| locate(command)) else { return Vec::new() };
    if !argv.iter().any(|arg| arg == "-static") {
        return Vec::new();
    }
    let is_target = |arg: &&String| arg.starts_with("--target=") || arg.starts_with("--sysroot=");
    let target: Vec<String> = argv.iter().filter(is_target).cloned().collect();
    ["libc.a", "libm.a"].iter().filter_map(|file| library_of(&compiler, &target, file, reach)).collect()
}

/// Files that `-l` arguments may stand for.
fn library_files(argv: &[String]) -> Vec<PathBuf> {
    let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
    let joined = argv.iter().filter_map(|a| a.strip_prefix("-L")).filter(|folder| !folder.is_empty());
    let apart = argv.windows(2).filter(|pair| pair[0] == "-L").map(|pair| pair[1].as_str());
    let mut folders: Vec<PathBuf> = joined.chain(apart).map(PathBuf::from).collect();
    for system in ["/usr/local/lib", "/usr/lib", "/lib"] {
        folders.extend([Path::new(system).join(&multiarch), system.into()]);
    }
    let names: BTreeSet<&str> = argv.iter().filter_map(|a| a.strip_prefix("-l")).collect();
    let files = |name: &str| match name.strip_prefix(':') {
        Some(file) => vec![file.to_string()],
        None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
    };
    let all = names.into_iter().flat_map(files);
    all.flat_map(|file| folders.iter().map(move |f| f.join(&file)).collect::<Vec<_>>()).collect()
}
