//! An evaluator that counts what another one is asked.

use super::{EvalError, Evaluator};
use crate::model::Outcomes;

/// Passes everything on to `inner` and counts the inputs each build was given.
pub struct Counting<E> {
    inner: E,
    counts: Vec<u64>,
}

impl<E: Evaluator> Counting<E> {
    pub fn new(inner: E) -> Counting<E> {
        let counts = vec![0; inner.builds()];
        Counting { inner, counts }
    }

    /// Inputs evaluated so far, per build.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl<E: Evaluator> Evaluator for Counting<E> {
    fn arity(&self) -> usize {
        self.inner.arity()
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    fn builds(&self) -> usize {
        self.inner.builds()
    }

    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError> {
        self.counts[build] += (inputs.len() / self.inner.arity().max(1)) as u64;
        self.inner.evaluate(build, inputs, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Fake;
    use crate::model::{FaultKind, Outcome};

    #[test]
    fn inputs_are_counted_for_the_build_that_ran_them() {
        let sum = |x: &[u64]| Outcome::Value(x[0] + x[1]);
        let broken = |_: &[u64]| Outcome::Fault(FaultKind::Timeout);
        let mut counting = Counting::new(Fake::new(2, vec![Box::new(sum), Box::new(broken)]));
        let mut out = Outcomes::new(1);
        counting.evaluate(0, &[1, 2, 3, 4], &mut out).unwrap();
        counting.evaluate(1, &[1, 2], &mut out).unwrap();
        assert_eq!(out.firsts(), [Outcome::Value(3), Outcome::Value(7), Outcome::Fault(FaultKind::Timeout)]);
        assert_eq!(counting.counts(), [2, 1]);
    }
}
