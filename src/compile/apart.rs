//! Builds that cannot be loaded beside others: a process has one library of each name, so that of two builds with
//! different files of one name the first would answer for both. The second becomes a program of its own.

use super::cache::Cache;
use super::compiled::{Compiled, Settings, compile_grouped};
use super::error::CompileError;
use super::shims::MOST_TOGETHER;
use crate::model::{Artifact, Build, BuildId, Event, EventSink, Experiment};
use crate::toolchain::{Libraries, libraries_of, own_libraries};

/// Compiles every build that this machine can. Only a cache that cannot be written is an error.
pub fn compile_all(
    experiment: &Experiment,
    builds: &[Build],
    cache: &Cache,
    settings: &Settings,
    sink: &dyn EventSink,
) -> Result<Compiled, CompileError> {
    let compile =
        |builds: &[Build]| compile_grouped(experiment, builds, cache, settings, sink, MOST_TOGETHER);
    let mut compiled = compile(builds)?;
    let places = apart(&compiled.artifacts, sink);
    if places.is_empty() {
        return Ok(compiled);
    }
    let again: Vec<Build> =
        places.iter().map(|&place| Build { apart: true, ..builds[place].clone() }).collect();
    let programs = compile(&again)?;
    for (place, made) in places.into_iter().zip(programs.artifacts.into_iter().zip(programs.objects)) {
        (compiled.artifacts[place], compiled.objects[place]) = made;
    }
    compiled.compiled += programs.compiled;
    compiled.cached += programs.cached;
    compiled.interrupted |= programs.interrupted;
    Ok(compiled)
}

/// The builds that have to be programs of their own, by their places: those that need another file under a name
/// than this program, or than a build before them.
fn apart(artifacts: &[Artifact], sink: &dyn EventSink) -> Vec<usize> {
    let mut own: Option<Libraries> = None;
    let mut taken = Libraries::new();
    let mut owner: Vec<(String, &BuildId)> = Vec::new();
    let mut apart = Vec::new();
    for (place, artifact) in artifacts.iter().enumerate() {
        let Some(object) = artifact.object().filter(|object| object.runner.is_none()) else { continue };
        let own = own.get_or_insert_with(|| {
            taken = own_libraries();
            taken.clone()
        });
        let libraries = libraries_of(&object.path, own);
        let rival =
            libraries.iter().find(|(name, file)| taken.get(*name).is_some_and(|other| other != *file));
        if let Some((name, _)) = rival {
            let who = owner.iter().find(|(known, _)| known == name);
            let who = who.map_or_else(|| "bitrift".into(), |(_, build)| build.to_string());
            let text = format!("{} is a program of its own: its {name} is not that of {who}", artifact.build);
            sink.send(Event::Note { text });
            apart.push(place);
            continue;
        }
        let fresh = libraries.into_iter().filter(|(name, _)| !taken.contains_key(name));
        let fresh: Libraries = fresh.collect();
        owner.extend(fresh.keys().map(|name| (name.clone(), &artifact.build)));
        taken.extend(fresh);
    }
    apart
}
