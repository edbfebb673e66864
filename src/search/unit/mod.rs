//! The pieces of work a search is cut into: what each is told. What comes back from each is in `answer`, and `fits` says whether it can be
//! that.

mod answer;
mod fits;

use serde::{Deserialize, Serialize};

pub use answer::{Answer, Harvest, PlotSample, Seen};

use super::Task;
use super::rivals::{self, WalkUnit};
use super::streams::StreamKey;
use super::sweep::{self, SweepUnit};
use super::{evolve, sample, seams, tighten};
use crate::eval::{EvalError, Evaluator};
use crate::ranges::{Cuboid, Sides, Span};

/// An independent piece of a search phase. Deterministic: the same unit on the same builds gives
/// the same answer in any process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Unit {
    /// Given inputs on several variants.
    Inputs(InputsUnit),
    /// Inputs spread evenly over the domain, on several variants.
    Strata(StrataUnit),
    /// Uniform samples of one box on one variant.
    Dense(DenseUnit),
    /// Uniform samples of one box that may reach over zero, on one variant.
    Wide(WideUnit),
    /// The edges and gaps of one box on one variant.
    Tighten(TightenUnit),
    /// Differential evolution in one box on one variant.
    Evolve(EvolveUnit),
    /// Ever smaller cells of one box on one variant.
    Zoom(ZoomUnit),
    /// Places where results change their sign or class, on one variant.
    Seams(SeamUnit),
    /// A sequential algorithm on one variant.
    Walk(WalkUnit),
    /// Every value of a stretch of the domain, on several variants.
    Sweep(SweepUnit),
}

impl Unit {
    /// Whether it costs so much that its answer should outlive the process that asked for it.
    pub fn is_long(&self) -> bool {
        matches!(self, Unit::Sweep(_))
    }
}

/// The builds that share a unit's inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crowd {
    /// Indices in the task's builds.
    pub variants: Vec<usize>,
    /// Faults each build of the task may still have.
    pub allow: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputsUnit {
    pub crowd: Crowd,
    pub inputs: Vec<u64>,
    /// The first unit of a search: it evaluates some inputs twice whatever they give.
    pub first: bool,
    /// Every how many inputs one is kept for plots, and how many inconsistent ones of each variant.
    pub plot_every: u64,
    pub plot_hits: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrataUnit {
    pub crowd: Crowd,
    /// Later rounds take other places of the domain.
    pub round: u64,
    /// Inputs that came before all strata, for an even sequence that goes on.
    pub base: u64,
    /// Strata from..to of `count`.
    pub from: u64,
    pub to: u64,
    pub count: u64,
    /// The strata are of the magnitudes that people use, not of the whole domain.
    pub usual: bool,
    /// Every how many consistent samples one is returned.
    pub keep_every: u64,
    /// Most inconsistent samples that are returned, about.
    pub keep_hits: u64,
}

/// One variant and one orthant: what units after the clustering look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    pub variant: usize,
    /// Faults the baseline and the variant may still have.
    pub allow: [u32; 2],
    pub sides: Sides,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DenseUnit {
    pub spot: Spot,
    pub stream: StreamKey,
    pub cuboid: Cuboid,
    pub samples: u64,
    /// Most inconsistent samples that are returned, about; 0: no samples but the best.
    pub keep: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WideUnit {
    pub variant: usize,
    /// Faults the baseline and the variant may still have.
    pub allow: [u32; 2],
    pub stream: StreamKey,
    pub span: Span,
    pub samples: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TightenUnit {
    pub spot: Spot,
    pub stream: StreamKey,
    /// Inconsistent points known so far.
    pub hits: Vec<Vec<u64>>,
    /// Share of the samples in the loose box that are inconsistent.
    pub density: f64,
    pub budget: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolveUnit {
    pub spot: Spot,
    /// The number of the range, which names the random streams of its islands.
    pub range: u64,
    pub cuboid: Cuboid,
    /// The best point known.
    pub best: Option<Vec<u64>>,
    /// Islands from..to, each a population of its own. The first of a unit looks at the whole box,
    /// and starts with the best point if it is an even one; the others close in on the best so far.
    pub islands: (u64, u64),
    /// Even the first stays close to the best point.
    pub close: bool,
    pub generations: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZoomUnit {
    pub spot: Spot,
    pub stream: StreamKey,
    pub cuboid: Cuboid,
    pub budget: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeamUnit {
    pub variant: usize,
    /// Faults the baseline and the variant may still have.
    pub allow: [u32; 2],
    pub stream: StreamKey,
    pub lines: Vec<Line>,
    pub budget: u64,
    /// Most inconsistent samples that are returned.
    pub keep: u64,
}

/// A part of a line along one axis through a point of an orthant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub sides: Sides,
    pub point: Vec<u64>,
    pub axis: usize,
    /// The places of the axis that belong to it.
    pub lo: u64,
    pub hi: u64,
    /// It is walked from its low end, in steps short enough to tell one seam from the next, as far as
    /// the budget reaches.
    pub walked: bool,
}

/// Runs a unit next to the loaded code.
pub fn run_unit(task: &Task, unit: &Unit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    match unit {
        Unit::Inputs(unit) => sample::run_inputs(task, unit, evaluator),
        Unit::Strata(unit) => sample::run_strata(task, unit, evaluator),
        Unit::Dense(unit) => sample::run_dense(task, unit, evaluator),
        Unit::Wide(unit) => sample::run_wide(task, unit, evaluator),
        Unit::Tighten(unit) => tighten::run(task, unit, evaluator),
        Unit::Evolve(unit) => evolve::run(task, unit, evaluator),
        Unit::Zoom(unit) => evolve::run_zoom(task, unit, evaluator),
        Unit::Seams(unit) => seams::run(task, unit, evaluator),
        Unit::Walk(unit) => rivals::run_walk(task, unit, evaluator),
        Unit::Sweep(unit) => sweep::run_sweep(task, unit, evaluator),
    }
}

impl Spot {
    /// Faults allowed to every build of the task: none to those the unit does not touch.
    pub fn allowances(&self, task: &Task) -> Vec<u32> {
        task.allowances(self.variant, self.allow)
    }
}
