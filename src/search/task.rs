//! What every unit of one function's search needs to know.

use serde::{Deserialize, Serialize};

use super::streams::StreamKey;
use crate::fp::{Equality, Stream, Tolerance};
use crate::model::{BuildId, Function, SearchSettings};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub function: Function,
    /// The builds that have the function; the baseline first.
    pub builds: Vec<BuildId>,
    pub settings: SearchSettings,
    /// Numbers of the sources that are worth trying in every parameter, the most promising first.
    pub literals: Vec<f64>,
    /// How far apart from the baseline each build may be, in the order of `builds`; none where nothing stands.
    pub tolerances: Vec<Tolerance>,
}

/// The place of a build of the task among the variants alone: the baseline, which comes first, is none.
pub fn column(variant: usize) -> usize {
    variant - 1
}

impl Task {
    /// What counts as equal between the baseline and a build.
    pub fn equality(&self, build: usize) -> Equality {
        self.settings.equality(self.tolerances.get(build).copied().unwrap_or_default())
    }

    /// Every build but the baseline, by index in `builds`.
    pub fn variants(&self) -> std::ops::Range<usize> {
        1..self.builds.len()
    }

    /// Faults allowed to every build, of which only the baseline and one variant may have any.
    pub fn allowances(&self, variant: usize, [baseline, other]: [u32; 2]) -> Vec<u32> {
        let mut allow = vec![0; self.builds.len()];
        (allow[0], allow[variant]) = (baseline, other);
        allow
    }

    /// A random stream that all variants share.
    pub fn stream(&self, key: StreamKey) -> Stream {
        self.stream_about("", key)
    }

    /// A random stream of one variant. Named by the build, so that another build beside it changes nothing.
    pub fn stream_of(&self, variant: usize, key: StreamKey) -> Stream {
        self.stream_about(self.builds[variant].as_str(), key)
    }

    /// A random stream of something that has a name.
    pub fn stream_about(&self, name: &str, key: StreamKey) -> Stream {
        Stream::new(self.settings.seed, &[&self.function.name, name, key.purpose()], key.number())
    }
}
