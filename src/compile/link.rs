//! The objects of a build to one shared object. A shim that cannot be linked is left out, with the
//! linker's words, so that one missing function does not cost the others.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::bench::{Bench, Failure, Job, Object};
use super::command::{CommandLine, Lines, SHARED_OBJECT};
use super::key::Hash;
use super::message::guilty_shims;
use crate::toolchain::{Compiler, PROBE_FILE, PROBE_SOURCE};

/// A build's objects.
pub struct LinkRequest<'a> {
    pub bench: &'a Bench<'a>,
    pub compiler: &'a Compiler,
    pub lines: &'a Lines<'a>,
    /// The sources' objects and the setup shim's: without them there is no build.
    pub fixed: Vec<(&'a str, &'a Object)>,
    /// The shims that compiled: number, name in the line, object.
    pub shims: Vec<(usize, &'a str, &'a Object)>,
}

/// A linked build.
pub struct Linked {
    pub path: PathBuf,
    /// The shims left out, with the linker's words.
    pub missing: BTreeMap<usize, String>,
    pub cached: bool,
}

impl LinkRequest<'_> {
    pub fn link(&self) -> Result<Linked, Failure> {
        self.bench.stop_if_cancelled()?;
        let all: Vec<usize> = self.shims.iter().map(|(number, ..)| *number).collect();
        let key = self.key(&self.line(&all));
        let _turn = self.bench.in_flight.enter(key);
        if let Some((recipe, object)) = self.bench.look_up(&key, &[]) {
            let number = |tag: &str| self.lines.shims.iter().position(|s| s.shim.tag == tag);
            let missing = recipe.notes.into_iter().filter_map(|(tag, words)| Some((number(&tag)?, words)));
            return Ok(Linked { path: object.path, missing: missing.collect(), cached: true });
        }
        let (content, missing) = self.without_guilty(all)?;
        let tag = |number: usize| self.lines.shims[number].shim.tag.clone();
        let notes = missing.iter().map(|(number, words)| (tag(*number), words.clone())).collect();
        let object = self.bench.keep(&key, &content, notes)?;
        Ok(Linked { path: object.path, missing, cached: false })
    }

    fn key(&self, line: &CommandLine) -> Hash {
        let mut key = self.bench.key("link", self.compiler, line);
        let objects = self.fixed.iter().map(|(_, o)| o.hash).chain(self.shims.iter().map(|(.., o)| o.hash));
        key.add_all(&objects.collect::<Vec<_>>());
        self.bench.add_link_inputs(&mut key, line);
        key.finish()
    }

    /// Links, leaving out shims until the linker is content.
    fn without_guilty(&self, mut kept: Vec<usize>) -> Result<(Vec<u8>, BTreeMap<usize, String>), Failure> {
        let mut missing = BTreeMap::new();
        loop {
            let words = match self.attempt(&kept) {
                Ok(content) => return Ok((content, missing)),
                Err(Failure::Tool(words)) => words,
                Err(other) => return Err(other),
            };
            let guilty = self.guilty(&words, &kept)?;
            if guilty.is_empty() {
                return Err(Failure::Tool(words));
            }
            kept.retain(|number| !guilty.contains_key(number));
            missing.extend(guilty);
            if kept.is_empty() && self.fixed.is_empty() {
                return Err(Failure::Tool(missing.into_values().next().unwrap_or(words)));
            }
        }
    }

    /// The shims to blame, by the linker's words or else by trying each alone.
    fn guilty(&self, words: &str, kept: &[usize]) -> Result<BTreeMap<usize, String>, Failure> {
        let tags: Vec<&str> = kept.iter().map(|n| self.lines.shims[*n].shim.tag.as_str()).collect();
        let named = guilty_shims(words, &tags);
        if !named.is_empty() {
            return Ok(named.into_iter().map(|(i, words)| (kept[i], words)).collect());
        }
        if !self.fixed.is_empty() {
            // Not a shim's fault when it fails without any, and these words are to the point.
            self.attempt(&[])?;
        }
        let mut guilty = BTreeMap::new();
        for number in kept {
            match self.attempt(&[*number]) {
                Ok(_) => {}
                Err(Failure::Tool(words)) => drop(guilty.insert(*number, words)),
                Err(other) => return Err(other),
            }
        }
        Ok(guilty)
    }

    fn parts(&self, kept: &[usize]) -> Vec<(&str, &Object)> {
        let shims = self.shims.iter().filter(|(number, ..)| kept.contains(number));
        self.fixed.iter().copied().chain(shims.map(|(_, name, object)| (*name, *object))).collect()
    }

    fn line(&self, kept: &[usize]) -> CommandLine {
        self.lines.link(&self.parts(kept).iter().map(|(name, _)| *name).collect::<Vec<_>>())
    }

    fn attempt(&self, kept: &[usize]) -> Result<Vec<u8>, Failure> {
        let job = Job::new(self.bench)?;
        let parts = self.parts(kept);
        for (name, object) in &parts {
            symlink(&object.path, job.path().join(name))?;
        }
        let line = self.line(kept);
        job.run(&self.compiler.path, &line)?;
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        if let Some(check) = self.lines.check(&names) {
            fs::write(job.path().join(PROBE_FILE), PROBE_SOURCE)?;
            match job.run(&self.compiler.path, &check) {
                // Any other complaint is about a program, which nobody asked for.
                Err(Failure::Tool(words)) if words.contains("undefined symbol") => {
                    return Err(Failure::Tool(words));
                }
                Err(Failure::Tool(_)) | Ok(_) => {}
                Err(other) => return Err(other),
            }
        }
        job.output(SHARED_OBJECT, &line)
    }
}
