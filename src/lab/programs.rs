//! Builds as plain programs: compiled with their own flags and nothing that makes code loadable, so that they
//! answer as a user's executable would. Only what is asked for is compiled, and it is kept in the cache.

use std::collections::BTreeSet;

use super::error::LabError;
use super::open::Lab;
use super::panel::{Panel, Unanswered};
use crate::compile::{BuildObjects, Compiled};
use crate::findings::StoredWitness;
use crate::model::{Build, BuiltObject, EventSink, Experiment};

/// Programs of some builds with some functions.
pub struct Programs {
    /// With these functions and no others.
    pub experiment: Experiment,
    pub panel: Panel,
    /// One for each build of the panel.
    pub objects: Vec<BuildObjects>,
}

impl Lab {
    /// The programs that show these witnesses: their builds and their functions, no others.
    pub fn programs_of<'w>(
        &self,
        witnesses: impl Iterator<Item = &'w StoredWitness> + Clone,
        sink: &dyn EventSink,
    ) -> Result<Programs, LabError> {
        let functions: BTreeSet<&str> = witnesses.clone().map(|w| w.function.as_str()).collect();
        let names: BTreeSet<&str> = witnesses.flat_map(|w| [w.baseline.as_str(), w.build.as_str()]).collect();
        let mut experiment = self.experiment.clone();
        experiment.functions.retain(|f| functions.contains(f.name.as_str()));
        let builds = self.plan.builds.iter().filter(|build| names.contains(build.id.as_str()));
        let builds: Vec<Build> = builds.map(Build::plainly).collect();
        let Compiled { artifacts, objects, .. } = self.compile(&experiment, &builds, sink)?;
        let panel = Panel::new(&experiment, artifacts, self.limits(), self.sandbox(), &self.cancel);
        Ok(Programs { experiment, panel, objects })
    }
}

impl Programs {
    /// The places of a function and of a build that has it; or why there is no such program.
    pub fn places(&self, function: &str, build: &str) -> Result<(usize, usize), Unanswered> {
        let build = self.panel.build(build);
        let build = build.ok_or_else(|| Unanswered("not a build of the matrix any more".into()))?;
        let function = self.experiment.functions.iter().position(|f| f.name == function);
        let function = function.ok_or_else(|| Unanswered("not a function of the matrix any more".into()))?;
        self.panel.object(build, function)?;
        Ok((function, build))
    }

    /// The program of a build that has a function, and what it was linked from.
    pub fn program(&self, function: &str, build: &str) -> Result<(&BuiltObject, &BuildObjects), Unanswered> {
        let (function, build) = self.places(function, build)?;
        Ok((self.panel.object(build, function)?, &self.objects[build]))
    }
}
