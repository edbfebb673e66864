//! What one program or loadable object is put together from, and putting it together: the objects of one build or
//! of several, linked as one of the builds would be.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::bench::{Failure, Object};
use super::link::LinkRequest;
use super::mix::Mix;
use super::object::{Made, ObjectRequest};
use super::pipeline::{Pipeline, Step};
use super::ready::Ready;
use crate::model::{Build, FunctionStatus};

/// One object to make, and the build it belongs to.
type Slot<'a> = (&'a Build, ObjectRequest);

/// The objects to make, in link order.
pub struct Assembly<'a> {
    /// Links it, as it links its own objects.
    pub frame: &'a Ready<'a>,
    /// Those of harness, sources and setup: without them there is nothing.
    fixed: Vec<Slot<'a>>,
    /// One for each function.
    shims: Vec<Slot<'a>>,
}

/// The objects of an assembly.
pub struct Objects {
    pub fixed: Vec<Object>,
    /// One for each function, or the compiler's words.
    pub shims: Vec<Result<Object, String>>,
    /// Every header that was read for them.
    pub headers: BTreeSet<PathBuf>,
    /// The line that a part asked for, of the first that did.
    pub echo: Option<String>,
}

/// An assembly after linking.
pub struct Assembled {
    pub linked: Object,
    /// One for each function.
    pub functions: Vec<FunctionStatus>,
}

impl<'a> Assembly<'a> {
    /// All of one build.
    pub fn whole(ready: &'a Ready<'a>) -> Assembly<'a> {
        Assembly::new(&Mix::of(ready), |_| ready)
    }

    /// `of` gives each build of the mix.
    pub fn new(mix: &Mix, of: impl Fn(&Build) -> &'a Ready<'a>) -> Assembly<'a> {
        let frame = of(&mix.frame);
        let generated = |file| (frame.build, frame.generated(file));
        let mut fixed: Vec<Slot> = frame.lines.harness.iter().map(generated).collect();
        fixed.extend(mix.sources.iter().enumerate().map(|(number, part)| {
            let ready = of(&part.build);
            (ready.build, ready.source(number, part))
        }));
        fixed.extend(frame.lines.setup.iter().map(generated));
        let shim = |(number, build): (usize, &Arc<Build>)| {
            let ready = of(build);
            (ready.build, ready.generated(&ready.lines.shims[number]))
        };
        Assembly { frame, fixed, shims: mix.shims.iter().enumerate().map(shim).collect() }
    }

    /// How many objects there are to make.
    pub fn len(&self) -> usize {
        self.fixed.len() + self.shims.len()
    }

    fn slots(&self) -> impl Iterator<Item = &Slot<'a>> {
        self.fixed.iter().chain(&self.shims)
    }

    /// Without sources or setup there is nothing; a shim that does not compile is missing, and the others are there.
    fn collect(&self, made: Vec<Result<Made, Failure>>) -> Result<Objects, Failure> {
        let (mut headers, mut echo) = (BTreeSet::new(), None);
        let mut keep = |made: Made| {
            headers.extend(made.headers);
            echo = echo.take().or(made.echo);
            made.object
        };
        let mut made = made.into_iter();
        let (mut fixed, mut shims) = (Vec::new(), Vec::new());
        for made in made.by_ref().take(self.fixed.len()) {
            fixed.push(keep(made?));
        }
        for made in made {
            shims.push(match made {
                Ok(made) => Ok(keep(made)),
                Err(Failure::Tool(message)) => Err(message),
                Err(other) => return Err(other),
            });
        }
        Ok(Objects { fixed, shims, headers, echo })
    }

    pub fn link(&self, pipeline: &Pipeline<'_>, objects: &Objects) -> Result<Assembled, Failure> {
        let Ready { build, compiler, lines, .. } = self.frame;
        let compiled = objects.shims.iter().enumerate().filter_map(|(n, s)| s.as_ref().ok().map(|o| (n, o)));
        let request = LinkRequest {
            bench: &pipeline.bench,
            compiler,
            lines,
            fixed: self
                .fixed
                .iter()
                .map(|(_, request)| request.object.as_str())
                .zip(&objects.fixed)
                .collect(),
            shims: compiled.map(|(n, object)| (n, self.shims[n].1.object.as_str(), object)).collect(),
        };
        let linked = request.link();
        pipeline.step(build, Step::Link, "link", linked.as_ref().ok().map(|linked| linked.cached));
        let linked = linked?;
        let status = |n: usize| match (&objects.shims[n], linked.missing.get(&n)) {
            (Err(message), _) | (Ok(_), Some(message)) => {
                FunctionStatus::Missing { message: message.clone() }
            }
            (Ok(_), None) => FunctionStatus::Ready { symbol: lines.shims[n].shim.symbol.clone() },
        };
        Ok(Assembled { functions: (0..self.shims.len()).map(status).collect(), linked: linked.object })
    }
}

/// The objects of all assemblies, in parallel.
pub fn make_objects(pipeline: &Pipeline<'_>, assemblies: &[Assembly<'_>]) -> Vec<Result<Objects, Failure>> {
    let slots: Vec<&Slot> = assemblies.iter().flat_map(|assembly| assembly.slots()).collect();
    let made: Vec<Result<Made, Failure>> = slots
        .into_par_iter()
        .with_max_len(1)
        .map(|(build, request)| pipeline.object(build, request))
        .collect();
    let mut made = made.into_iter();
    assemblies.iter().map(|assembly| assembly.collect(made.by_ref().take(assembly.len()).collect())).collect()
}
