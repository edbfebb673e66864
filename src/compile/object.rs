//! One source or shim to one object, through the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::bench::{Bench, Failure, Job, Object};
use super::cache::Recipe;
use super::command::CommandLine;
use super::deps::{headers, parse_make_rule, parse_tcc_trace};
use super::key::{Hash, has_directive, touched_since};
use crate::toolchain::{Compiler, Family, Finished};

/// Where the C comes from.
pub enum Origin {
    File(PathBuf),
    /// Generated; written as `name` into the job's folder.
    Text {
        name: String,
        text: String,
    },
}

/// One object to make.
pub struct ObjectRequest {
    pub compiler: Arc<Compiler>,
    pub line: CommandLine,
    pub origin: Origin,
    /// The object's name in the line.
    pub object: String,
    /// Where headers are looked for.
    pub folders: Vec<PathBuf>,
    /// Keep the last line of what the compiler says that starts so.
    pub echo: Option<&'static str>,
}

/// A made object.
#[derive(Clone)]
pub struct Made {
    pub object: Object,
    /// No compiler had to run for it.
    pub cached: bool,
    /// The headers that the compiler says it read; none when it does not say.
    pub headers: Vec<PathBuf>,
    /// The line that was asked for.
    pub echo: Option<String>,
}

/// The name of that line among a recipe's notes.
const ECHO: &str = "echo";

pub fn make_object(bench: &Bench, request: &ObjectRequest) -> Result<Made, Failure> {
    bench.stop_if_cancelled()?;
    // A source that cannot be read has no key: the compiler says what is wrong with it.
    let key = source_hash(bench, request)
        .and_then(|hash| Some(bench.key("object", &request.compiler, &request.line)?.add(hash).finish()));
    let _turn = key.map(|key| bench.in_flight.enter(key));
    if let Some((recipe, object)) = bench.look_up(key.as_ref(), &request.folders) {
        let headers = recipe.headers.into_iter().map(|(path, _)| path).collect();
        let echo = recipe.notes.into_iter().find(|(name, _)| name == ECHO).map(|(_, line)| line);
        return Ok(Made { object, cached: true, headers, echo });
    }
    let job = Job::new(bench)?;
    if let Origin::Text { name, text } = &request.origin {
        fs::write(job.path().join(name), text)?;
    }
    let start = SystemTime::now();
    let done = job.run(&request.compiler.path, &request.line)?;
    let content = job.output(&request.object, &request.line)?;
    let (output, path) = bench.cache.put_object(&content)?;
    let headers = headers_read(bench, request, &job, &done);
    let echo = request.echo.and_then(|start| done.stderr.lines().rev().find(|line| line.starts_with(start)));
    let echo = echo.map(String::from);
    if let (Some(key), Some(headers)) = (key, &headers) {
        let notes = echo.iter().map(|line| (ECHO.to_string(), line.clone())).collect();
        remember(bench, request, (&key, headers.clone()), (output, notes), start)?;
    }
    let headers = headers.unwrap_or_default();
    Ok(Made { object: Object { hash: output, path }, cached: false, headers, echo })
}

fn source_hash(bench: &Bench, request: &ObjectRequest) -> Option<Hash> {
    match &request.origin {
        Origin::File(path) => bench.files.hash(path),
        Origin::Text { text, .. } => Some(*blake3::hash(text.as_bytes()).as_bytes()),
    }
}

/// What a compiler says of the headers that it read: a few hundred bytes for each. More is nothing that a compiler says.
const LONGEST_RULE: u64 = 4 << 20;

/// The headers the compiler says it read; None when it does not say.
fn headers_read(bench: &Bench, request: &ObjectRequest, job: &Job, done: &Finished) -> Option<Vec<PathBuf>> {
    let files = match request.compiler.family {
        Family::Tcc => parse_tcc_trace(&done.stdout),
        Family::Gcc | Family::Clang | Family::Other => {
            let rule = Path::new(&request.object).with_extension("d");
            let rule = job.left_within(rule.to_str()?, LONGEST_RULE).ok()?;
            parse_make_rule(&String::from_utf8(rule).ok()?)
        }
    };
    let source = match &request.origin {
        Origin::File(path) => path.as_path(),
        Origin::Text { name, .. } => Path::new(name),
    };
    let told = (!files.is_empty()).then(|| headers(&files, source, job.path()))?;
    // What a tool cannot have read is not what it read, whatever it says.
    let is_read = |path: &PathBuf| bench.was_read(path, &request.compiler.path, &request.line.argv);
    Some(told.into_iter().filter(is_read).collect())
}

/// Writes the recipe, unless a file changed while the compiler ran, or makes the assembler read another: nobody knows
/// what was read then.
fn remember(
    bench: &Bench,
    request: &ObjectRequest,
    (key, headers): (&Hash, Vec<PathBuf>),
    (output, notes): (Hash, Vec<(String, String)>),
    start: SystemTime,
) -> Result<(), Failure> {
    let source = match &request.origin {
        Origin::File(path) => Some(path.as_path()),
        Origin::Text { .. } => None,
    };
    let mut read = source.into_iter().chain(headers.iter().map(PathBuf::as_path));
    let text_has_directive = match &request.origin {
        Origin::Text { text, .. } => has_directive(text.as_bytes()),
        Origin::File(_) => false,
    };
    if text_has_directive || read.any(|p| touched_since(p, start) || bench.files.has_directive(p)) {
        return Ok(());
    }
    let rivals = bench.folders.rivals(&request.folders, &headers);
    let hashed = headers.into_iter().map(|p| bench.files.hash(&p).map(|h| (p, h))).collect();
    let Some(headers) = hashed else { return Ok(()) };
    bench.cache.add_recipe(key, Recipe { headers, rivals, output, notes })?;
    Ok(())
}
