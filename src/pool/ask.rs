//! Asking builds for what they make of inputs, outside any search: the one way there is.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::coordinator::Pool;
use super::job::{Limits, PoolError};
use crate::eval::{Call, EvalError, Helpers, LoadPlan};
use crate::model::Outcomes;
use crate::sandbox::Sandbox;

/// How the inputs of a question are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One process for all inputs; a new one behind each fault.
    Together,
    /// A fresh process for every input.
    Alone,
}

/// Inputs of one function, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Which of the functions each object lists.
    pub function: usize,
    /// Words of an input.
    pub arity: usize,
    /// Values that a call gives.
    pub width: usize,
    pub inputs: Vec<u64>,
    pub mode: Mode,
}

/// What was made of each input, or why the object cannot be asked. `EvalError::Stopped` is never in one: an
/// interrupt ends the asking as a whole.
pub type Response = Result<Outcomes, EvalError>;

impl Pool {
    /// Asks one of the objects, in one helper with a fresh process for each question.
    pub fn ask(&self, object: usize, questions: &[Question]) -> Result<Vec<Response>, PoolError> {
        let mut helpers = self.helpers();
        questions.iter().map(|question| self.ask_with(&mut helpers, object, question)).collect()
    }

    /// The same with helpers that may be running already.
    pub(super) fn ask_with(
        &self,
        helpers: &mut Helpers,
        object: usize,
        question: &Question,
    ) -> Result<Response, PoolError> {
        let call = Call {
            function: question.function,
            arity: question.arity,
            width: question.width,
            alone: question.mode == Mode::Alone,
            fresh: true,
            timeout: self.limits.timeout,
        };
        let mut out = Outcomes::new(question.width);
        let plan = (object, &self.objects[object]);
        match helpers.run(plan, call, &question.inputs, &mut out, &mut || !self.is_cancelled()) {
            Ok(_) => Ok(Ok(out)),
            Err(EvalError::Stopped) => Err(PoolError::Interrupted),
            Err(error) => Ok(Err(error)),
        }
    }

    pub(super) fn helpers(&self) -> Helpers {
        Helpers::new(self.quarters.clone())
    }
}

/// Asks an object that is in no pool.
pub fn ask_once(
    plan: LoadPlan,
    question: Question,
    limits: Limits,
    sandbox: Sandbox,
    cancel: Arc<AtomicBool>,
) -> Result<Response, PoolError> {
    let pool = Pool::new(vec![plan], Limits { jobs: 1, ..limits }, cancel).in_sandbox(sandbox);
    pool.ask_with(&mut pool.helpers(), 0, &question)
}
