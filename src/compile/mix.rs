//! Builds put together from parts: each source compiled as its own build, text and arguments say, all linked
//! as one of the builds would be. What is tried once is not compiled again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::bench::{Bench, Failure, Object};
use super::cache::Cache;
use super::command::{CommandLine, Lines, ShimLine, SourceLine};
use super::compiled::Settings;
use super::folders::include_folders;
use super::key::{Hash, KeyBuilder};
use super::link::LinkRequest;
use super::object::{ObjectRequest, Origin, make_object};
use super::shim::Shim;
use crate::model::{Build, Cost, Experiment, FunctionStatus};
use crate::toolchain::{Compiler, Missing, find};

/// How one source goes into a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whose compiler and flags.
    pub build: Arc<Build>,
    /// In place of the file's own.
    pub text: Option<Arc<str>>,
    /// Arguments behind the build's own.
    pub more: Vec<String>,
    /// Keep the last line of what the compiler says that starts so.
    pub echo: Option<&'static str>,
}

impl Part {
    /// A source as a build has it.
    pub fn of(build: &Arc<Build>) -> Part {
        Part { build: build.clone(), text: None, more: Vec::new(), echo: None }
    }
}

/// What to put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Links it, as it links its own objects.
    pub frame: Arc<Build>,
    /// One for each source of the experiment, in its order.
    pub sources: Vec<Part>,
    /// For each function the build whose flags the matrix's own C is compiled with.
    pub shims: Vec<Arc<Build>>,
}

/// A mix after linking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    pub path: PathBuf,
    /// One entry per function of the experiment.
    pub functions: Vec<FunctionStatus>,
    /// The line that a part asked for, of the first that did.
    pub echo: Option<String>,
}

/// Why there is no mix.
#[derive(Debug, thiserror::Error)]
pub enum MixError {
    /// In the tool's own words.
    #[error("{0}")]
    Tool(String),
    #[error("interrupted")]
    Cancelled,
    #[error("failed to write the cache: {0}")]
    Cache(std::io::Error),
}

impl From<Failure> for MixError {
    fn from(failure: Failure) -> MixError {
        match failure {
            Failure::Tool(message) => MixError::Tool(message),
            Failure::Cancelled => MixError::Cancelled,
            Failure::Cache(error) => MixError::Cache(error),
        }
    }
}

/// An object and the line its compiler was asked to keep.
type Piece = (Object, Option<String>);

/// Makes mixes of one experiment.
pub struct Mixer<'a> {
    experiment: &'a Experiment,
    bench: Bench<'a>,
    threads: rayon::ThreadPool,
    compilers: Mutex<BTreeMap<String, Result<Compiler, Missing>>>,
    pieces: Mutex<HashMap<Hash, Piece>>,
    mixes: Mutex<HashMap<Hash, Mixed>>,
    compiles: AtomicU64,
    links: AtomicU64,
}

/// A build of a mix whose compiler is there.
struct Ready<'a> {
    compiler: Compiler,
    lines: Lines<'a>,
    folders: Vec<PathBuf>,
}

/// One object to make: where it comes from and how.
enum Slot<'m> {
    Source(&'m SourceLine, &'m Part),
    Shim(&'m ShimLine),
}

impl<'a> Mixer<'a> {
    pub fn new(
        experiment: &'a Experiment,
        cache: &'a Cache,
        settings: &Settings<'a>,
    ) -> Result<Mixer<'a>, MixError> {
        let bench = Bench::new(cache, settings);
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.jobs.max(1))
            .build()
            .map_err(|e| MixError::Tool(format!("failed to start {} threads: {e}", settings.jobs)))?;
        Ok(Mixer {
            experiment,
            bench,
            threads,
            compilers: Mutex::default(),
            pieces: Mutex::default(),
            mixes: Mutex::default(),
            compiles: AtomicU64::new(0),
            links: AtomicU64::new(0),
        })
    }

    /// Compiles and links since the mixer was made; answers from the cache do not count.
    pub fn cost(&self) -> Cost {
        Cost {
            compiles: self.compiles.load(Ordering::Relaxed),
            links: self.links.load(Ordering::Relaxed),
            evaluations: 0,
        }
    }

    /// Compiles and links a mix.
    pub fn make(&self, mix: &Mix) -> Result<Mixed, MixError> {
        let key = mix_key(mix);
        if let Some(known) = lock(&self.mixes).get(&key) {
            return Ok(known.clone());
        }
        let mixed = self.threads.install(|| self.build(mix))?;
        lock(&self.mixes).insert(key, mixed.clone());
        Ok(mixed)
    }

    fn build(&self, mix: &Mix) -> Result<Mixed, MixError> {
        let mut ready: BTreeMap<Hash, Ready<'_>> = BTreeMap::new();
        let parts = mix.sources.iter().map(|part| &part.build).chain(&mix.shims);
        for build in std::iter::once(&mix.frame).chain(parts) {
            if let Entry::Vacant(place) = ready.entry(build_key(build)) {
                place.insert(self.ready(build)?);
            }
        }
        let of = |build: &Build| &ready[&build_key(build)];
        let frame = of(&mix.frame);
        let mut slots: Vec<(&Ready<'_>, Slot<'_>)> =
            frame.lines.harness.iter().map(|line| (frame, Slot::Shim(line))).collect();
        slots.extend(mix.sources.iter().enumerate().map(|(n, part)| {
            let ready = of(&part.build);
            (ready, Slot::Source(&ready.lines.sources[n], part))
        }));
        slots.extend(frame.lines.setup.iter().map(|line| (frame, Slot::Shim(line))));
        let fixed_count = slots.len();
        slots.extend(mix.shims.iter().enumerate().map(|(n, build)| {
            let ready = of(build);
            (ready, Slot::Shim(&ready.lines.shims[n]))
        }));
        let made: Vec<Result<Piece, Failure>> =
            slots.par_iter().with_max_len(1).map(|(ready, slot)| self.piece(ready, slot)).collect();
        let mut made = made.into_iter();
        let fixed: Vec<Piece> = made.by_ref().take(fixed_count).collect::<Result<_, _>>()?;
        let mut shims: Vec<Result<Object, String>> = Vec::new();
        for shim in made {
            shims.push(match shim {
                Ok((object, _)) => Ok(object),
                Err(Failure::Tool(message)) => Err(message),
                Err(other) => return Err(other.into()),
            });
        }
        self.link(frame, &fixed, &shims)
    }

    fn link(
        &self,
        frame: &Ready<'_>,
        fixed: &[Piece],
        shims: &[Result<Object, String>],
    ) -> Result<Mixed, MixError> {
        let lines = &frame.lines;
        let names = lines.objects().into_iter().take(fixed.len());
        let compiled = shims.iter().enumerate().filter_map(|(n, shim)| shim.as_ref().ok().map(|o| (n, o)));
        let linked = LinkRequest {
            bench: &self.bench,
            compiler: &frame.compiler,
            lines,
            fixed: names.zip(fixed.iter().map(|(object, _)| object)).collect(),
            shims: compiled.map(|(n, object)| (n, lines.shims[n].object.as_str(), object)).collect(),
        }
        .link()?;
        if !linked.cached {
            self.links.fetch_add(1, Ordering::Relaxed);
        }
        let status = |(n, line): (usize, &ShimLine)| match (&shims[n], linked.missing.get(&n)) {
            (Err(message), _) | (Ok(_), Some(message)) => {
                FunctionStatus::Missing { message: message.clone() }
            }
            (Ok(_), None) => FunctionStatus::Ready { symbol: line.shim.symbol.clone() },
        };
        Ok(Mixed {
            functions: lines.shims.iter().enumerate().map(status).collect(),
            path: linked.object.path,
            echo: fixed.iter().find_map(|(_, echo)| echo.clone()),
        })
    }

    fn ready<'b>(&self, build: &'b Build) -> Result<Ready<'b>, MixError> {
        let mut compilers = lock(&self.compilers);
        let found = compilers.entry(build.command.clone()).or_insert_with(|| find(&build.command));
        let compiler = found.clone().map_err(|missing| MixError::Tool(missing.to_string()))?;
        let mut folders = self.experiment.implementation(build).sources.include.clone();
        folders.extend(include_folders(&build.args));
        Ok(Ready { lines: Lines::new(self.experiment, build, compiler.family), compiler, folders })
    }

    fn piece(&self, ready: &Ready<'_>, slot: &Slot<'_>) -> Result<Piece, Failure> {
        let mut folders = ready.folders.clone();
        let (name, line, object, text);
        let mut echo = None;
        let origin = match slot {
            Slot::Source(source, part) => {
                folders.extend(source.path.parent().map(PathBuf::from));
                name = format!("{}.c", source.object.trim_end_matches(".o"));
                line = source_line(source, part, &name);
                object = source.object.as_str();
                echo = part.echo;
                match &part.text {
                    Some(new) => {
                        text = named(&source.path.display().to_string(), new);
                        Origin::Text { name: &name, text: &text }
                    }
                    None => Origin::File(&source.path),
                }
            }
            Slot::Shim(ShimLine { shim: Shim { lacking: Some(why), .. }, .. }) => {
                return Err(Failure::Tool(why.clone()));
            }
            Slot::Shim(ShimLine { shim, object: file, line: own }) => {
                name = format!("{}.c", shim.stem);
                line = own.clone();
                object = file;
                Origin::Text { name: &name, text: &shim.text }
            }
        };
        let key = piece_key(&ready.compiler, &line, origin, echo);
        if let Some(known) = lock(&self.pieces).get(&key) {
            return Ok(known.clone());
        }
        let request =
            ObjectRequest { compiler: &ready.compiler, line: &line, origin, object, folders: &folders, echo };
        let made = make_object(&self.bench, &request)?;
        if !made.cached {
            self.compiles.fetch_add(1, Ordering::Relaxed);
        }
        let piece = (made.object, made.echo);
        lock(&self.pieces).insert(key, piece.clone());
        Ok(piece)
    }
}

/// The line of a source, with the part's own arguments and text.
fn source_line(source: &SourceLine, part: &Part, name: &str) -> CommandLine {
    let mut line = source.line.clone();
    if part.text.is_some() {
        line.argv.pop();
        // Quoted includes look beside the source first, and the new text lies elsewhere.
        let beside = source.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        line.argv.extend(["-iquote".to_string(), beside, name.to_string()]);
    }
    let behind = line.argv.iter().position(|arg| arg == "-c").unwrap_or(1);
    line.argv.splice(behind..behind, part.more.iter().cloned());
    line
}

/// A text that names the file it stands for in messages and `__FILE__`.
fn named(path: &str, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}", path.replace('\\', "\\\\").replace('"', "\\\""))
}

fn build_key(build: &Build) -> Hash {
    // Debug text of plain data: it holds every field.
    KeyBuilder::new("build of a mix").add(format!("{build:?}")).finish()
}

fn mix_key(mix: &Mix) -> Hash {
    let mut key = KeyBuilder::new("mix");
    key.add(build_key(&mix.frame));
    for Part { build, text, more, echo } in &mix.sources {
        key.add(build_key(build)).add(text.as_deref().unwrap_or_default()).add_all(more);
        key.add([u8::from(text.is_some())]).add(echo.unwrap_or_default());
    }
    for build in &mix.shims {
        key.add(build_key(build));
    }
    key.finish()
}

fn piece_key(compiler: &Compiler, line: &CommandLine, origin: Origin<'_>, echo: Option<&str>) -> Hash {
    let mut key = KeyBuilder::new("piece of a mix");
    key.add(&compiler.identity).add_all(&line.argv).add(echo.unwrap_or_default());
    if let Origin::Text { text, .. } = origin {
        key.add(text);
    }
    key.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What is kept is whole at every moment, whoever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
