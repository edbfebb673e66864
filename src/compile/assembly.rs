//! What one program or loadable object is put together from, and putting it together: the objects of one build or
//! of several, linked as one of the builds would be.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::bench::{Failure, Object};
use super::link::LinkRequest;
use super::mix::Mix;
use super::object::{Made, ObjectRequest};
use super::pipeline::{Pipeline, Step};
use super::ready::Ready;
use super::shim_object::{ShimObjects, make_shims};
use super::within::{WithinSource, make_fixed};
use crate::model::{Build, FunctionStatus};

/// The objects to make, in link order.
pub struct Assembly<'a> {
    /// Links it, as it links its own objects.
    pub frame: &'a Ready<'a>,
    /// Those of harness, sources and setup: without them there is nothing.
    fixed: Vec<Fixed<'a>>,
    /// The members of each file of shims.
    shims: Vec<(&'a Ready<'a>, Vec<usize>)>,
}

/// An object without which there is nothing.
pub struct Fixed<'a> {
    pub ready: &'a Ready<'a>,
    pub request: ObjectRequest,
    /// The source that it is of, when shims are compiled at its end.
    pub within: Option<WithinSource>,
}

/// The objects of an assembly.
pub struct Objects<'a> {
    pub fixed: Vec<Object>,
    /// Their headers are those of all objects.
    pub shims: ShimObjects<'a>,
    /// The line that a part asked for, of the first that did.
    pub echo: Option<String>,
}

/// An assembly after linking.
pub struct Assembled {
    pub linked: Object,
    /// One for each function.
    pub functions: Vec<FunctionStatus>,
}

/// One step on the way from an assembly to its objects.
enum Slot<'s, 'a> {
    Fixed(&'s Fixed<'a>),
    Shims(&'a Ready<'a>, &'s [usize]),
}

/// What came of a slot.
enum Filled<'a> {
    /// With the shims that are missing from it.
    Fixed(Made, BTreeMap<usize, String>),
    Shims(ShimObjects<'a>),
}

impl<'a> Assembly<'a> {
    /// All of one build.
    pub fn whole(ready: &'a Ready<'a>) -> Assembly<'a> {
        Assembly::new(&Mix::of(ready.build, ready.lines.material), |_| ready)
    }

    /// `of` gives each build of the mix.
    pub fn new(mix: &Mix, of: impl Fn(&Build) -> &'a Ready<'a>) -> Assembly<'a> {
        let frame = of(&mix.frame);
        let own = |request| Fixed { ready: frame, request, within: None };
        let generated = |file| own(frame.generated(file));
        let mut fixed: Vec<Fixed> = frame.lines.harness.iter().map(generated).collect();
        fixed.extend((0..frame.lines.support.len()).map(|number| own(frame.support(number))));
        fixed.extend(mix.sources.iter().enumerate().map(|(number, part)| {
            let ready = of(&part.build);
            let members = ready.lines.material.shims.within(number);
            let request = ready.source(number, part, &members);
            let within = (!members.is_empty()).then(|| WithinSource { number, part: part.clone(), members });
            Fixed { ready, request, within }
        }));
        fixed.extend(frame.lines.setup.iter().map(generated));
        Assembly { frame, fixed, shims: shim_files(mix, of) }
    }

    fn slots(&self) -> impl Iterator<Item = Slot<'_, 'a>> {
        let fixed = self.fixed.iter().map(Slot::Fixed);
        fixed.chain(self.shims.iter().map(|(ready, members)| Slot::Shims(ready, members)))
    }

    /// Without sources or setup there is nothing; a shim that does not compile is missing, and the others are there.
    fn collect(&self, filled: Vec<Result<Filled<'a>, Failure>>) -> Result<Objects<'a>, Failure> {
        let mut objects = Objects { fixed: Vec::new(), shims: ShimObjects::default(), echo: None };
        for filled in filled {
            match filled? {
                Filled::Fixed(made, missing) => {
                    objects.shims.missing.extend(missing);
                    objects.fixed.push(made.object);
                    objects.shims.headers.extend(made.headers);
                    objects.echo = objects.echo.or(made.echo);
                }
                Filled::Shims(shims) => objects.shims.append(shims),
            }
        }
        Ok(objects)
    }

    pub fn link(&self, pipeline: &Pipeline<'_>, objects: &Objects<'a>) -> Result<Assembled, Failure> {
        let fixed = self.fixed.iter().map(|fixed| fixed.request.object.as_str());
        let request = LinkRequest {
            pipeline,
            frame: self.frame,
            fixed: fixed.zip(&objects.fixed).collect(),
            shims: &objects.shims.objects,
        };
        // An object from the cache needs them as a new one does.
        self.frame.lines.material.shelf.make()?;
        let linked = request.link();
        pipeline.step(self.frame.build, Step::Link, "link", linked.as_ref().ok().map(|linked| linked.cached));
        let linked = linked?;
        let shims = &self.frame.lines.material.shims;
        let missing = [shims.missing(), &objects.shims.missing, &linked.missing];
        let status = |number: &usize| match missing.iter().find_map(|missing| missing.get(number)) {
            Some(message) => FunctionStatus::Missing { message: message.clone() },
            None => FunctionStatus::Ready { symbol: shims.symbol(*number) },
        };
        Ok(Assembled { functions: shims.asked().iter().map(status).collect(), linked: linked.object })
    }
}

/// The files of shims of each build of a mix. Where the functions of a file are called by several builds, each of
/// these has a file with its own.
fn shim_files<'a>(mix: &Mix, of: impl Fn(&Build) -> &'a Ready<'a>) -> Vec<(&'a Ready<'a>, Vec<usize>)> {
    let mut builds: Vec<&Arc<Build>> = Vec::new();
    for build in &mix.shims {
        if !builds.contains(&build) {
            builds.push(build);
        }
    }
    let mut files = Vec::new();
    for build in builds {
        let ready = of(build);
        let place = |number: &usize| ready.lines.material.shims.place(*number);
        let is_own = |number: &usize| place(number).is_some_and(|place| mix.shims[place] == *build);
        let is_others = |number: &usize| place(number).is_some() && !is_own(number);
        for mut members in ready.lines.groups() {
            let Some(first) = members.iter().filter(|number| is_own(number)).filter_map(place).min() else {
                continue;
            };
            if members.iter().any(is_others) {
                members.retain(is_own);
            }
            files.push((first, (ready, members)));
        }
    }
    files.sort_by_key(|(first, _)| *first);
    files.into_iter().map(|(_, file)| file).collect()
}

/// The objects of all assemblies, in parallel.
pub fn make_objects<'a>(
    pipeline: &Pipeline<'_>,
    assemblies: &[Assembly<'a>],
) -> Vec<Result<Objects<'a>, Failure>> {
    let slots: Vec<Slot> = assemblies.iter().flat_map(Assembly::slots).collect();
    let fill = |slot| match slot {
        Slot::Fixed(fixed) => make_fixed(pipeline, fixed).map(|(made, missing)| Filled::Fixed(made, missing)),
        Slot::Shims(ready, members) => make_shims(pipeline, ready, members).map(Filled::Shims),
    };
    let filled: Vec<Result<Filled, Failure>> = slots.into_par_iter().with_max_len(1).map(fill).collect();
    let mut filled = filled.into_iter();
    let mut next = |count| filled.by_ref().take(count).collect();
    assemblies.iter().map(|assembly| assembly.collect(next(assembly.slots().count()))).collect()
}
