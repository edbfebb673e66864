//! Builds that cannot be loaded beside others become programs of their own. A process has one library of each name,
//! each library has one set of globals, and looks for its symbols where the build that brought it looked first: of
//! two builds that need more than that, the first would answer for both.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::compiled::{Compiled, Settings, compile_grouped};
use super::error::CompileError;
use super::shelf::Shelf;
use super::shims::MOST_TOGETHER;
use crate::model::{Artifact, Build, Event, EventSink, Experiment};
use crate::toolchain::{
    Libraries, ToolReach, exported_symbols, is_system, libraries_of, libraries_of_program, open_symbols,
    own_libraries,
};

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
    let tell = |build: &Build, why: &str| {
        sink.send(Event::Note { text: format!("{} is a program of its own: {why}", build.id) });
    };
    let mut builds = builds.to_vec();
    for (place, why) in foreseen(experiment, &builds, settings.compilers.reach()) {
        tell(&builds[place], &why);
        builds[place].apart = true;
    }
    let mut compiled = compile(&builds)?;
    let seen = seen(&builds, &compiled.artifacts, settings.compilers.reach());
    if seen.is_empty() {
        return Ok(compiled);
    }
    seen.iter().for_each(|(place, why)| tell(&builds[*place], why));
    let again: Vec<Build> =
        seen.iter().map(|&(place, _)| Build { apart: true, ..builds[place].clone() }).collect();
    let programs = compile(&again)?;
    for ((place, _), made) in seen.into_iter().zip(programs.artifacts.into_iter().zip(programs.objects)) {
        (compiled.artifacts[place], compiled.objects[place]) = made;
    }
    compiled.compiled += programs.compiled;
    compiled.cached += programs.cached;
    compiled.interrupted |= programs.interrupted;
    Ok(compiled)
}

/// The builds that have to be programs of their own, by their places, as far as the library files tell that the
/// matrix names; with the reasons. Nothing is compiled.
pub fn foreseen(experiment: &Experiment, builds: &[Build], reach: &ToolReach) -> Vec<(usize, String)> {
    let named = |build: &Build| -> Libraries {
        let shelf = Shelf::new(&experiment.implementation(build).sources, Path::new(""));
        let mut libraries = Libraries::new();
        for (name, file) in shelf.named() {
            libraries.extend(libraries_of_program(file, reach));
            libraries.insert(name.clone(), file.canonicalize().unwrap_or_else(|_| file.clone()));
        }
        libraries
    };
    let mut known: HashMap<&str, Libraries> = HashMap::new();
    let mut company: Option<Company<'_>> = None;
    let mut apart = Vec::new();
    for (place, build) in builds.iter().enumerate().filter(|(_, build)| build.is_loaded()) {
        let libraries = known.entry(&build.implementation).or_insert_with(|| named(build));
        if !libraries.is_empty() {
            let company = company.get_or_insert_with(|| Company::new(own_libraries()));
            apart.extend(company.admit(build, libraries.clone()).err().map(|why| (place, why)));
        }
    }
    apart
}

/// The same for builds that are linked: all that their objects ask for is known, and what these define.
fn seen(builds: &[Build], artifacts: &[Artifact], reach: &ToolReach) -> Vec<(usize, String)> {
    let mut company: Option<Company<'_>> = None;
    let mut apart = Vec::new();
    for (place, (build, artifact)) in builds.iter().zip(artifacts).enumerate() {
        let Some(object) = artifact.object().filter(|object| object.runner.is_none()) else { continue };
        let company = company.get_or_insert_with(|| Company::new(own_libraries()));
        let libraries = libraries_of(&object.path, reach);
        let admitted = match company.captured(&object.path, &libraries) {
            Some(why) => Err(why),
            None => company.admit(build, libraries),
        };
        apart.extend(admitted.err().map(|why| (place, why)));
    }
    apart
}

/// Builds that are loaded side by side.
struct Company<'b> {
    /// The libraries of this program.
    own: &'static Libraries,
    /// Builds with their libraries. One that has the code and the libraries of a member is as that member is.
    members: Vec<(&'b Build, Libraries)>,
    /// By library: the symbols that it may take from whoever brings it.
    open: HashMap<PathBuf, BTreeSet<String>>,
}

impl<'b> Company<'b> {
    fn new(own: &'static Libraries) -> Company<'b> {
        Company { own, members: Vec::new(), open: HashMap::new() }
    }

    /// Takes a build in, or says why it has to be apart.
    fn admit(&mut self, build: &'b Build, libraries: Libraries) -> Result<(), String> {
        for (name, file) in &libraries {
            let is_other = |libraries: &Libraries| libraries.get(name).is_some_and(|other| other != file);
            if is_other(self.own) {
                return Err(format!("its {name} is not that of bitrift"));
            }
            if let Some((other, _)) = self.members.iter().find(|(_, libraries)| is_other(libraries)) {
                return Err(format!("its {name} is not that of {}", other.id));
            }
        }
        let further = |libraries: &Libraries| -> BTreeSet<String> {
            let further =
                |(name, file): &(&String, &PathBuf)| !self.own.contains_key(*name) && !is_system(name, file);
            libraries.iter().filter(further).map(|(name, _)| name.clone()).collect()
        };
        let own = further(&libraries);
        for (other, theirs) in &mut self.members {
            let same_code = other.implementation == build.implementation;
            if same_code && further(theirs) == own {
                // Flags may bring more of the system's.
                theirs.extend(libraries);
                return Ok(());
            }
            if let Some(name) = own.iter().find(|name| theirs.contains_key(*name)) {
                let what = if same_code { "which has other libraries" } else { "another implementation" };
                return Err(format!(
                    "it would share {name}, and what is set in it, with {}, {what}",
                    other.id
                ));
            }
        }
        self.members.push((build, libraries));
        Ok(())
    }

    /// Whether a library would take symbols from the object that brings it, and keep them for all other builds.
    fn captured(&mut self, object: &Path, libraries: &Libraries) -> Option<String> {
        let brought = libraries.iter().filter(|(name, _)| !self.own.contains_key(*name));
        let mut brought = brought.peekable();
        brought.peek()?;
        let defined = exported_symbols(object);
        for (name, file) in brought {
            let open = self.open.entry(file.clone()).or_insert_with(|| open_symbols(file));
            if let Some(symbol) = defined.iter().find(|symbol| open.contains(*symbol)) {
                return Some(format!("it defines {symbol}, which its {name} takes from whoever loads it"));
            }
        }
        None
    }
}
