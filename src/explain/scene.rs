//! Where trials are made: a variant, the reference whose parts stand in for the variant's, and what mixes of
//! the two answer.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::case::{Case, Trial, Yardstick};
use super::error::ExplainError;
use crate::compile::{Mix, MixError, Mixed, Mixer, Part};
use crate::model::{Build, BuildId, BuiltObject, Cost, Experiment, FunctionStatus, Returned, Sources, Whole};
use crate::pool::{Limits, LoadPlan, Mode, Question as Ask, ask_once};
use crate::sandbox::Sandbox;

/// What everything is tried with.
pub struct Desk<'a> {
    pub experiment: &'a Experiment,
    pub mixer: &'a Mixer<'a>,
    pub limits: Limits,
    pub sandbox: Sandbox,
    pub cancel: Arc<AtomicBool>,
    evaluations: AtomicU64,
    answers: Mutex<HashMap<Asked, Whole>>,
}

/// What was asked: the object, its registers, the function and its input.
type Asked = (PathBuf, (u32, u16), usize, Vec<u64>);

impl<'a> Desk<'a> {
    pub fn new(
        experiment: &'a Experiment,
        mixer: &'a Mixer<'a>,
        limits: Limits,
        sandbox: Sandbox,
        cancel: Arc<AtomicBool>,
    ) -> Desk<'a> {
        let evaluations = AtomicU64::new(0);
        Desk { experiment, mixer, limits, sandbox, cancel, evaluations, answers: Mutex::default() }
    }

    /// All that was spent so far.
    pub fn cost(&self) -> Cost {
        Cost { evaluations: self.evaluations.load(Ordering::Relaxed), ..self.mixer.cost() }
    }

    /// What an object answers to an input, in a fresh process.
    pub fn ask(&self, object: &BuiltObject, function: usize, inputs: &[u64]) -> Result<Whole, ExplainError> {
        let asked =
            (object.path.clone(), (object.control.mxcsr, object.control.x87), function, inputs.to_vec());
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = answers().get(&asked) {
            return Ok(known.clone());
        }
        let plan = LoadPlan { build: BuildId("mix".into()), object: object.clone() };
        let of = &self.experiment.functions[function];
        let (arity, width) = (of.arity(), of.results.width());
        let question = Ask { function, arity, width, inputs: inputs.to_vec(), mode: Mode::Together };
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        // Asking ends only with an interrupt.
        let response = ask_once(plan, question, self.limits, self.sandbox.clone(), self.cancel.clone())
            .map_err(|_| ExplainError::Interrupted)?;
        let outcomes = response.map_err(|error| ExplainError::Unloadable(error.to_string()))?;
        let outcome = outcomes.iter().next().map(Returned::to_owned);
        let outcome = outcome.ok_or_else(|| ExplainError::Unloadable("it gave no outcome".into()))?;
        answers().insert(asked, outcome.clone());
        Ok(outcome)
    }
}

/// A build with what its calls go to.
#[derive(Clone, Debug)]
pub struct Side {
    pub build: Arc<Build>,
    /// With subnormals kept, where the scene is calm.
    pub object: BuiltObject,
}

impl Side {
    /// Whether a function's code multiplies and adds at once; where nobody could count, it may.
    pub fn fuses(&self, function: &str) -> bool {
        let audit = &self.object.audit;
        !audit.unread.is_empty() || audit.functions.get(function).is_some_and(|counts| counts.fma > 0)
    }
}

/// Two builds that can be mixed.
pub struct Scene<'a> {
    pub desk: &'a Desk<'a>,
    /// Its parts show no difference.
    pub reference: Arc<Side>,
    pub variant: Arc<Side>,
}

impl Scene<'_> {
    /// The sources of the implementation that both builds are of.
    pub fn sources(&self) -> &Sources {
        &self.desk.experiment.implementation(&self.variant.build).sources
    }

    /// A mix of the reference's sources and calls alone, linked as the variant is.
    pub fn innocent(&self) -> Mix {
        self.uniform(&self.reference.build)
    }

    /// The variant.
    pub fn guilty(&self) -> Mix {
        self.uniform(&self.variant.build)
    }

    fn uniform(&self, build: &Arc<Build>) -> Mix {
        let experiment = self.desk.experiment;
        Mix {
            frame: self.variant.build.clone(),
            sources: vec![Part::of(build); self.sources().files.len()],
            shims: vec![build.clone(); experiment.functions.len()],
        }
    }

    /// The object of a mix, in the variant's environment; the inner error is the tool's.
    pub fn object(&self, mix: &Mix) -> Result<Result<BuiltObject, String>, ExplainError> {
        match self.desk.mixer.make(mix) {
            Ok(mixed) => Ok(Ok(self.dressed(mixed))),
            Err(MixError::Tool(words)) => Ok(Err(words)),
            Err(MixError::Cancelled) => Err(ExplainError::Interrupted),
            Err(MixError::Cache(error)) => Err(ExplainError::Cache(error)),
        }
    }

    fn dressed(&self, mixed: Mixed) -> BuiltObject {
        BuiltObject { path: mixed.path, functions: mixed.functions, ..self.variant.object.clone() }
    }

    /// Whether a mix shows the difference of a case.
    pub fn try_mix(&self, mix: &Mix, case: &Case, by: &Yardstick) -> Result<Trial, ExplainError> {
        let object = match self.object(mix)? {
            Ok(object) => object,
            Err(words) => return Ok(Trial::Unmade(words)),
        };
        if let Some(FunctionStatus::Missing { message }) = object.functions.get(case.function) {
            return Ok(Trial::Unmade(message.clone()));
        }
        match self.desk.ask(&object, case.function, &case.inputs) {
            Ok(answer) => Ok(by.judge(case, &answer)),
            // A mix that does not even load is one that says nothing.
            Err(ExplainError::Unloadable(words)) => Ok(Trial::Unmade(words)),
            Err(other) => Err(other),
        }
    }
}
