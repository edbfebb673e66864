//! Compiled builds that answer questions: the one interface through which everything that is not a search asks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::error::LabError;
use crate::model::{Artifact, ArtifactStatus, BuiltObject, Experiment, FunctionStatus, Outcomes};
use crate::pool::{Limits, LoadPlan, Mode, Pool, Question, Response};
use crate::sandbox::Sandbox;

/// One outcome for each input, or why the build has none to give.
pub type Replies = Result<Outcomes, Unanswered>;

/// Why a build answers nothing: it is not there, the function is not in it, or it cannot be loaded. In words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);

/// Builds with what they were compiled to, in a pool.
pub struct Panel {
    /// Words of an input, for each function.
    shapes: Vec<(usize, usize)>,
    /// One for each build.
    pub artifacts: Vec<Artifact>,
    pub(super) pool: Pool,
    /// Which object of the pool each build is, if it has one.
    objects: Vec<Option<usize>>,
    /// For objects that flush subnormals the object of the same code that does not.
    unflushed: BTreeMap<usize, usize>,
}

impl Panel {
    /// A panel of what was compiled of an experiment.
    pub(super) fn new(
        experiment: &Experiment,
        artifacts: Vec<Artifact>,
        limits: Limits,
        sandbox: Sandbox,
        cancel: &Arc<AtomicBool>,
    ) -> Panel {
        let mut plans = Vec::new();
        let mut place = |artifact: &Artifact| {
            plans.push(LoadPlan { build: artifact.build.clone(), object: artifact.object()?.clone() });
            Some(plans.len() - 1)
        };
        let objects = artifacts.iter().map(&mut place).collect();
        let mut unflushed = BTreeMap::new();
        // Behind all others, and loaded only when asked.
        for object in 0..plans.len() {
            if let Some(calm) = plans[object].object.unflushed() {
                unflushed.insert(object, plans.len());
                plans.push(LoadPlan { build: plans[object].build.clone(), object: calm });
            }
        }
        let shapes = experiment.functions.iter().map(|f| (f.arity(), f.results.width())).collect();
        let pool = Pool::new(plans, limits, cancel.clone()).in_sandbox(sandbox);
        Panel { shapes, artifacts, pool, objects, unflushed }
    }

    /// What the sandbox refused the code of builds so far, a line for each.
    pub fn refusals(&self) -> Vec<String> {
        self.pool.refusals()
    }

    /// The place of a build by name.
    pub fn build(&self, name: &str) -> Option<usize> {
        self.artifacts.iter().position(|artifact| artifact.build.as_str() == name)
    }

    /// The object of a build that has a function; or why there is none, in the tool's words.
    pub fn object(&self, build: usize, function: usize) -> Result<&BuiltObject, Unanswered> {
        let words = match &self.artifacts[build].status {
            ArtifactStatus::Built(object) => match &object.functions[function] {
                FunctionStatus::Ready { .. } => return Ok(object),
                FunctionStatus::Missing { message } => message,
            },
            ArtifactStatus::Failed { message } => message,
            ArtifactStatus::Skipped { reason } => reason,
        };
        Err(Unanswered(words.clone()))
    }

    /// Whether a build is there at all, with this function or without it.
    pub fn is_built(&self, build: usize) -> bool {
        self.objects[build].is_some()
    }

    /// The pool's object of a build.
    pub(super) fn place(&self, build: usize) -> Option<usize> {
        self.objects[build]
    }

    /// For an object of the pool the one with the same code and flushing of subnormals off; None when it does
    /// not flush.
    pub(super) fn unflushed(&self, object: usize) -> Option<usize> {
        self.unflushed.get(&object).copied()
    }

    /// What a build makes of inputs of a function, in a process of its own. Only an interrupt is an error.
    ///
    /// An input has as many words as the function has coordinates, each with the bits of its number in the low
    /// end; inputs stand one after the other.
    pub fn ask(
        &self,
        function: usize,
        build: usize,
        inputs: &[u64],
        mode: Mode,
    ) -> Result<Replies, LabError> {
        let answers = self.ask_all(build, &[self.question(function, inputs.to_vec(), mode)])?;
        Ok(answers.into_iter().next().unwrap_or_else(silence))
    }

    /// A question for [`Panel::ask_all`].
    pub fn question(&self, function: usize, inputs: Vec<u64>, mode: Mode) -> Question {
        let (arity, width) = self.shapes[function];
        Question { function, arity, width, inputs, mode }
    }

    /// What one build says to many questions, in a process for each of them.
    pub fn ask_all(&self, build: usize, questions: &[Question]) -> Result<Vec<Replies>, LabError> {
        let lacks = |question: &Question| self.object(build, question.function).err();
        let asked: Vec<Question> = questions.iter().filter(|q| lacks(q).is_none()).cloned().collect();
        let responses = match self.place(build) {
            Some(object) if !asked.is_empty() => self.pool.ask(object, &asked)?,
            _ => Vec::new(),
        };
        let mut responses = responses.into_iter().map(answer);
        let each = |question| match lacks(question) {
            Some(why) => Err(why),
            None => responses.next().unwrap_or_else(silence),
        };
        Ok(questions.iter().map(each).collect())
    }
}

/// What an object responded, in a user's words where it is no outcome.
fn answer(response: Response) -> Replies {
    response.map_err(|error| Unanswered(error.to_string()))
}

fn silence() -> Replies {
    Err(Unanswered("it gave no outcome".into()))
}
