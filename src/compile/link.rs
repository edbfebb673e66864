//! The objects of a build to one shared object or program. A shim that cannot be linked is left out, with the
//! linker's words, so that one missing function does not cost the others.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::bench::{Bench, Failure, Job, Object};
use super::command::{CommandLine, Linkage};
use super::key::Hash;
use super::message::{guilty_shims, shorten};
use super::pipeline::Pipeline;
use super::ready::Ready;
use super::shim_object::{ShimObject, make_shims};
use crate::toolchain::{PROBE_FILE, PROBE_SOURCE, locate};

/// A build's objects.
pub struct LinkRequest<'a> {
    pub pipeline: &'a Pipeline<'a>,
    /// Links them as it links its own.
    pub frame: &'a Ready<'a>,
    /// The objects of harness, sources and setup: without them there is no build.
    pub fixed: Vec<(&'a str, &'a Object)>,
    pub shims: &'a [ShimObject<'a>],
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

impl<'a> LinkRequest<'a> {
    pub fn link(&self) -> Result<Linked, Failure> {
        let bench = self.bench();
        bench.stop_if_cancelled()?;
        let shims = &self.frame.lines.material.shims;
        let key = self.key(&self.line(self.shims, self.frame.lines.linkages()[0]));
        let _turn = key.map(|key| bench.in_flight.enter(key));
        if let Some((recipe, object)) = bench.look_up(key.as_ref(), &[]) {
            let notes = recipe.notes.into_iter();
            let missing = notes.filter_map(|(tag, words)| Some((shims.tagged(&tag)?, words))).collect();
            return Ok(Linked { object, missing, cached: true });
        }
        let (content, missing) = self.best()?;
        let notes =
            missing.iter().map(|(number, words)| (shims.tag(*number).into(), words.clone())).collect();
        let object = bench.keep(key.as_ref(), &content, notes)?;
        Ok(Linked { object, missing, cached: false })
    }

    fn bench(&self) -> &'a Bench<'a> {
        &self.pipeline.bench
    }

    fn key(&self, line: &CommandLine) -> Option<Hash> {
        let mut key = self.bench().key("link", &self.frame.compiler, line)?;
        let shims = self.shims.iter().map(|shim| shim.object.hash);
        let objects = self.fixed.iter().map(|(_, object)| object.hash).chain(shims);
        key.add_all(&objects.collect::<Vec<_>>());
        self.bench().add_link_inputs(&mut key, line);
        Some(key.finish())
    }

    /// The first linkage that has everything, else the one that has most.
    fn best(&self) -> Result<Content, Failure> {
        let mut best: Option<Result<Content, Failure>> = None;
        for &linkage in self.frame.lines.linkages() {
            let linked = self.without_guilty(linkage);
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
    fn without_guilty(&self, linkage: Linkage) -> Result<Content, Failure> {
        let mut kept = self.shims.to_vec();
        let mut missing = BTreeMap::new();
        loop {
            let words = match self.attempt(&kept, linkage) {
                Ok(content) => return Ok((content, missing)),
                Err(Failure::Tool(words)) => words,
                Err(other) => return Err(other),
            };
            let guilty = self.guilty(&words, &kept, linkage)?;
            if guilty.is_empty() {
                return Err(Failure::Tool(shorten(&words)));
            }
            missing.extend(guilty.into_iter().map(|(number, words)| (number, shorten(&words))));
            kept = self.without(kept, &mut missing)?;
            if kept.is_empty() && self.fixed.is_empty() {
                return Err(Failure::Tool(missing.into_values().next().unwrap_or(words)));
            }
        }
    }

    /// The files without the missing shims: one that has such a shim is compiled again without it.
    fn without(
        &self,
        files: Vec<ShimObject<'a>>,
        missing: &mut BTreeMap<usize, String>,
    ) -> Result<Vec<ShimObject<'a>>, Failure> {
        let mut left = Vec::new();
        for file in files {
            let is_innocent = |number: &usize| !missing.contains_key(number);
            let innocent: Vec<usize> = file.members.iter().copied().filter(is_innocent).collect();
            if innocent.len() == file.members.len() {
                left.push(file);
            } else if !innocent.is_empty() {
                let made = make_shims(self.pipeline, file.ready, &innocent)?;
                left.extend(made.objects);
                missing.extend(made.missing);
            }
        }
        Ok(left)
    }

    /// The shims to blame, by the linker's words or else by trying each alone.
    fn guilty(
        &self,
        words: &str,
        kept: &[ShimObject<'a>],
        linkage: Linkage,
    ) -> Result<BTreeMap<usize, String>, Failure> {
        let members: Vec<usize> = kept.iter().flat_map(|file| file.members.iter().copied()).collect();
        let shims = &self.frame.lines.material.shims;
        let tags: Vec<&str> = members.iter().map(|number| shims.tag(*number)).collect();
        let named = guilty_shims(words, &tags);
        if !named.is_empty() {
            return Ok(named.into_iter().map(|(i, words)| (members[i], words)).collect());
        }
        if !self.fixed.is_empty() {
            // Not a shim's fault when it fails without any, and these words are to the point.
            self.attempt(&[], linkage)?;
        }
        let mut guilty = BTreeMap::new();
        for file in kept {
            let Some(words) = self.complaint(std::slice::from_ref(file), linkage)? else { continue };
            if let [only] = file.members[..] {
                guilty.insert(only, words);
                continue;
            }
            for &number in &file.members {
                let alone = make_shims(self.pipeline, file.ready, &[number])?;
                guilty.extend(alone.missing);
                guilty.extend(self.complaint(&alone.objects, linkage)?.map(|words| (number, words)));
            }
        }
        Ok(guilty)
    }

    /// What the linker has against some files; None when it links them.
    fn complaint(&self, files: &[ShimObject<'a>], linkage: Linkage) -> Result<Option<String>, Failure> {
        match self.attempt(files, linkage) {
            Ok(_) => Ok(None),
            Err(Failure::Tool(words)) => Ok(Some(words)),
            Err(other) => Err(other),
        }
    }

    fn parts<'b>(&'b self, shims: &'b [ShimObject<'a>]) -> Vec<(&'b str, &'b Object)> {
        let shims = shims.iter().map(|shim| (shim.name.as_str(), &shim.object));
        self.fixed.iter().copied().chain(shims).collect()
    }

    fn line(&self, shims: &[ShimObject<'a>], linkage: Linkage) -> CommandLine {
        let names: Vec<&str> = self.parts(shims).into_iter().map(|(name, _)| name).collect();
        self.frame.lines.link(&names, linkage)
    }

    fn attempt(&self, shims: &[ShimObject<'a>], linkage: Linkage) -> Result<Vec<u8>, Failure> {
        let Ready { compiler, lines, .. } = self.frame;
        let job = Job::new(self.bench())?;
        let parts = self.parts(shims);
        for (name, object) in &parts {
            symlink(&object.path, job.path().join(name))?;
        }
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        let check = lines.check(&names).filter(|_| linkage == Linkage::Shared);
        if check.is_some() {
            job.put(PROBE_FILE, PROBE_SOURCE.as_bytes(), 0o600)?;
        }
        let line = self.line(shims, linkage);
        let linker = locate(&line.argv[0]).unwrap_or_else(|| compiler.path.clone());
        job.run_wordy(&linker, &line)?;
        if let Some(check) = check {
            match job.run_wordy(&compiler.path, &check) {
                // Any other complaint is about a program, which nobody asked for.
                Err(Failure::Tool(words)) if words.contains("undefined symbol") => {
                    return Err(Failure::Tool(words));
                }
                Err(Failure::Tool(_)) | Ok(_) => {}
                Err(other) => return Err(other),
            }
        }
        job.output(lines.product(), &line)
    }
}
