//! How processes that run code under test are started: from which program, with which limits, in which sandbox; and what that
//! sandbox refused them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{CallLimits, LoadPlan};
use crate::model::BuildId;
use crate::sandbox::Sandbox;

/// Shared by all that start processes of one pool.
#[derive(Clone)]
pub(crate) struct Quarters {
    /// It must know the hidden subcommands.
    pub program: PathBuf,
    pub limits: CallLimits,
    pub sandbox: Arc<Sandbox>,
    refused: Arc<Mutex<Refusals>>,
}

/// The names of system calls that the code of a build was refused.
pub(crate) type Refusals = BTreeMap<BuildId, BTreeSet<&'static str>>;

impl Quarters {
    pub(crate) fn new(program: PathBuf, limits: CallLimits, sandbox: Sandbox) -> Quarters {
        Quarters { program, limits, sandbox: Arc::new(sandbox), refused: Arc::default() }
    }

    /// Remembers what the code of builds was refused, by the places of their plans.
    pub(crate) fn hear(&self, plans: &[LoadPlan], denied: Vec<(usize, &'static str)>) {
        for (place, call) in denied {
            if let Some(plan) = plans.get(place) {
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.entry(plan.build.clone()).or_default().insert(call);
            }
        }
    }

    /// All that was refused so far.
    pub(crate) fn refused(&self) -> Refusals {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
