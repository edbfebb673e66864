//! The objects of a build to one shared object or program. A shim that cannot be linked is left out, with the
//! linker's words, so that one missing function does not cost the others.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use super::bench::{Bench, Failure, Job, Object};
use super::command::{CommandLine, Lines, Linkage};
use super::key::Hash;
use super::message::guilty_shims;
use crate::toolchain::{Compiler, PROBE_FILE, PROBE_SOURCE, locate};

/// A build's objects.
pub struct LinkRequest<'a> {
    pub bench: &'a Bench<'a>,
    pub compiler: &'a Compiler,
    pub lines: &'a Lines<'a>,
    /// The objects of harness, sources and setup: without them there is no build.
    pub fixed: Vec<(&'a str, &'a Object)>,
    /// The shims that compiled: number, name in the line, object.
    pub shims: Vec<(usize, &'a str, &'a Object)>,
}

/// A linked build.
pub struct Linked {
    pub object: Object,
    /// The shims left out, with the linker's words.
    pub missing: BTreeMap<usize, String>,
    pub cached: bool,
}

/// What was linked, and the shims left out.
type Content = (Vec<u8>, BTreeMap<usize, String>);

impl LinkRequest<'_> {
    pub fn link(&self) -> Result<Linked, Failure> {
        self.bench.stop_if_cancelled()?;
        let all: Vec<usize> = self.shims.iter().map(|(number, ..)| *number).collect();
        let key = self.key(&self.line(&all, self.lines.linkages()[0]));
        let _turn = self.bench.in_flight.enter(key);
        if let Some((recipe, object)) = self.bench.look_up(&key, &[]) {
            let number = |tag: &str| self.lines.shims.iter().position(|s| s.shim.tag == tag);
            let missing = recipe.notes.into_iter().filter_map(|(tag, words)| Some((number(&tag)?, words)));
            return Ok(Linked { object, missing: missing.collect(), cached: true });
        }
        let (content, missing) = self.best(&all)?;
        let tag = |number: usize| self.lines.shims[number].shim.tag.clone();
        let notes = missing.iter().map(|(number, words)| (tag(*number), words.clone())).collect();
        let object = self.bench.keep(&key, &content, notes)?;
        Ok(Linked { object, missing, cached: false })
    }

    fn key(&self, line: &CommandLine) -> Hash {
        let mut key = self.bench.key("link", self.compiler, line);
        let objects = self.fixed.iter().map(|(_, o)| o.hash).chain(self.shims.iter().map(|(.., o)| o.hash));
        key.add_all(&objects.collect::<Vec<_>>());
        self.bench.add_link_inputs(&mut key, line);
        key.finish()
    }

    /// The first linkage that has everything, else the one that has most.
    fn best(&self, all: &[usize]) -> Result<Content, Failure> {
        let mut best: Option<Result<Content, Failure>> = None;
        for &linkage in self.lines.linkages() {
            let linked = self.without_guilty(all.to_vec(), linkage);
            let missing =
                |linked: &Result<Content, Failure>| linked.as_ref().map_or(usize::MAX, |l| l.1.len());
            if best.as_ref().is_none_or(|old| missing(&linked) < missing(old)) {
                best = Some(linked);
            }
            if best.as_ref().is_some_and(|linked| missing(linked) == 0) {
                break;
            }
        }
        best.unwrap_or_else(|| Err(Failure::Tool("no way to link".into())))
    }

    /// Links, leaving out shims until the linker is content.
    fn without_guilty(&self, mut kept: Vec<usize>, linkage: Linkage) -> Result<Content, Failure> {
        let mut missing = BTreeMap::new();
        loop {
            let words = match self.attempt(&kept, linkage) {
                Ok(content) => return Ok((content, missing)),
                Err(Failure::Tool(words)) => words,
                Err(other) => return Err(other),
            };
            let guilty = self.guilty(&words, &kept, linkage)?;
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
    fn guilty(
        &self,
        words: &str,
        kept: &[usize],
        linkage: Linkage,
    ) -> Result<BTreeMap<usize, String>, Failure> {
        let tags: Vec<&str> = kept.iter().map(|n| self.lines.shims[*n].shim.tag.as_str()).collect();
        let named = guilty_shims(words, &tags);
        if !named.is_empty() {
            return Ok(named.into_iter().map(|(i, words)| (kept[i], words)).collect());
        }
        if !self.fixed.is_empty() {
            // Not a shim's fault when it fails without any, and these words are to the point.
            self.attempt(&[], linkage)?;
        }
        let mut guilty = BTreeMap::new();
        for number in kept {
            match self.attempt(&[*number], linkage) {
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

    fn line(&self, kept: &[usize], linkage: Linkage) -> CommandLine {
        self.lines.link(&self.parts(kept).iter().map(|(name, _)| *name).collect::<Vec<_>>(), linkage)
    }

    fn attempt(&self, kept: &[usize], linkage: Linkage) -> Result<Vec<u8>, Failure> {
        let job = Job::new(self.bench)?;
        let parts = self.parts(kept);
        for (name, object) in &parts {
            symlink(&object.path, job.path().join(name))?;
        }
        let line = self.line(kept, linkage);
        let linker = locate(&line.argv[0]).unwrap_or_else(|| self.compiler.path.clone());
        job.run(&linker, &line)?;
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        if linkage == Linkage::Shared
            && let Some(check) = self.lines.check(&names)
        {
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
        job.output(self.lines.product(), &line)
    }
}
