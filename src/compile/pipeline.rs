//! What whole builds and mixes share on their way from C to linked code: the tools, what they have made already,
//! and how often one of them ran.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bench::{Bench, Failure};
use super::cache::Cache;
use super::compiled::Settings;
use super::error::CompileError;
use super::key::{Hash, KeyBuilder};
use super::material::Material;
use super::object::{Made, ObjectRequest, Origin, make_object};
use super::ready::Ready;
use crate::model::{Build, Event, EventSink};
use crate::toolchain::{Compilers, Missing};

/// What a tool was run for.
#[derive(Clone, Copy)]
pub enum Step {
    Probe,
    Object,
    Link,
}

/// Steps so far, by how they ended.
#[derive(Default)]
pub struct Tally {
    pub probes: AtomicUsize,
    pub objects: AtomicUsize,
    pub links: AtomicUsize,
    pub failed: AtomicUsize,
    pub cached: AtomicUsize,
}

impl Tally {
    /// Steps for which a tool ran.
    pub fn ran(&self) -> usize {
        let counts = [&self.probes, &self.objects, &self.links, &self.failed];
        counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

pub struct Pipeline<'a> {
    pub bench: Bench<'a>,
    pub threads: rayon::ThreadPool,
    pub tally: Tally,
    sink: &'a dyn EventSink,
    pub compilers: &'a Compilers,
    /// Objects of this process: asking for one of them again reads no file.
    made: Mutex<HashMap<Hash, Made>>,
}

impl<'a> Pipeline<'a> {
    pub fn new(
        cache: &'a Cache,
        settings: &Settings<'a>,
        sink: &'a dyn EventSink,
    ) -> Result<Pipeline<'a>, CompileError> {
        let jobs = settings.jobs.max(1);
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .map_err(|e| CompileError::Threads { jobs, reason: e.to_string() })?;
        Ok(Pipeline {
            bench: Bench::new(cache, settings),
            threads,
            tally: Tally::default(),
            sink,
            compilers: settings.compilers,
            made: Mutex::default(),
        })
    }

    pub fn ready<'b>(&self, material: &'b Material<'b>, build: &'b Build) -> Result<Ready<'b>, Missing> {
        Ready::new(material, build, |command| self.compilers.find(command))
    }

    /// An object of a build.
    pub fn object(&self, build: &Build, request: &ObjectRequest) -> Result<Made, Failure> {
        let key = object_key(request);
        let known = lock(&self.made).get(&key).cloned();
        let made = known.map_or_else(|| make_object(&self.bench, request), Ok);
        self.step(build, Step::Object, &request.line.what, made.as_ref().ok().map(|made| made.cached));
        if let Ok(made) = &made {
            lock(&self.made).insert(key, Made { cached: true, ..made.clone() });
        }
        made
    }

    /// Counts a step. `cached` is None when it failed.
    pub fn step(&self, build: &Build, step: Step, what: &str, cached: Option<bool>) {
        let count = match (cached, step) {
            (None, _) => &self.tally.failed,
            (Some(true), _) => &self.tally.cached,
            (Some(false), Step::Probe) => &self.tally.probes,
            (Some(false), Step::Object) => &self.tally.objects,
            (Some(false), Step::Link) => &self.tally.links,
        };
        count.fetch_add(1, Ordering::Relaxed);
        let cached = cached == Some(true);
        self.sink.send(Event::CompileStep { build: build.id.clone(), what: what.into(), cached });
    }
}

/// Files are known by their names in the line: this process compiles one state of them.
fn object_key(request: &ObjectRequest) -> Hash {
    let mut key = KeyBuilder::new("object of this process");
    key.add(&request.compiler.identity).add_all(&request.line.argv).add(request.echo.unwrap_or_default());
    if let Origin::Text { text, .. } = &request.origin {
        key.add(text.as_bytes());
    }
    key.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept is whole at every moment, whoever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
