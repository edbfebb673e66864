//! An evaluator of closures: what a test or a benchmark searches instead of compiled code.

use super::{EvalError, Evaluator};
use crate::model::Outcome;

/// What stands for one build's code.
pub type FakeBuild = Box<dyn Fn(&[u64]) -> Outcome>;

/// One closure per build, the baseline first.
pub struct Fake {
    arity: usize,
    builds: Vec<FakeBuild>,
}

impl Fake {
    pub fn new(arity: usize, builds: Vec<FakeBuild>) -> Fake {
        Fake { arity, builds }
    }
}

impl Evaluator for Fake {
    fn arity(&self) -> usize {
        self.arity
    }

    fn builds(&self) -> usize {
        self.builds.len()
    }

    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Vec<Outcome>) -> Result<(), EvalError> {
        let run = &self.builds[build];
        out.extend(inputs.chunks_exact(self.arity).map(run));
        Ok(())
    }
}
