//! An evaluator made of closures that give one value, for tests of what stands on evaluation.

use super::{EvalError, Evaluator};
use crate::model::{Outcome, Outcomes};

/// What a fake build does with an input.
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

    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError> {
        out.extend_ones(inputs.chunks_exact(self.arity).map(&self.builds[build]));
        Ok(())
    }
}
