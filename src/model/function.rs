//! A function under test: its typed parameters, their domains, and the C that calls it.

use serde::{Deserialize, Serialize};

use super::Domain;
use crate::fp::Scalar;

/// The most parameters a function under test may have.
pub const MAX_PARAMS: usize = 8;

/// One parameter with the inputs the user declared of interest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// The type as written in C, used in the shim (`size_t`, `double`).
    pub c_type: String,
    pub ty: Scalar,
    pub domain: Domain,
    /// The domain as the user wrote it; empty when none was given.
    pub domain_text: String,
}

/// The C that produces the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Callee {
    /// A prototype; the shim declares it and calls it with the parameters in order.
    Signature(String),
    /// An expression over the parameters.
    Call(String),
    /// Statements that end in `return`.
    Body(String),
    /// Only implementations with a name have it, each by its own call.
    Elsewhere,
}

/// A function under test. Its name is unique in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub params: Vec<Param>,
    pub result: Scalar,
    /// The result type as written in C.
    pub result_c_type: String,
    pub callee: Callee,
    /// Headers the shim includes, as written after `#include` (without brackets or quotes).
    pub headers: Vec<String>,
}

impl Function {
    pub fn arity(&self) -> usize {
        self.params.len()
    }

    pub fn scalars(&self) -> Vec<Scalar> {
        self.params.iter().map(|p| p.ty).collect()
    }
}
