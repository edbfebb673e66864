//! A function under test: the coordinates a search sees, the values it compares, and the C that is called with them.
//!
//! A coordinate is one scalar of the input, with its domain. C sees parameters, which may be structs, complex numbers
//! and arrays; the `Interface` says how the words of coordinates become parameters, and where results are found.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Domain, Results};
use crate::fp::Scalar;

/// The most coordinates a function under test may have.
pub const MAX_COORDINATES: usize = 16;

/// One scalar of the input with the values the user declared of interest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coordinate {
    /// `x` for a scalar parameter, `p.x`, `z.re`, `v[2]` for a part of one.
    pub name: String,
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

/// A scalar inside a C object: what a word is put into, or taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The object as C names it: `x`, `p.x`, `v[2]`, `__real__ z`.
    pub place: String,
    /// The type as written in C (`size_t`, `double`).
    pub c_type: String,
    pub ty: Scalar,
}

/// How a parameter is handed to C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Passing {
    Value,
    /// An array of so many elements.
    Array(usize),
    /// A pointer to one object.
    Pointer,
}

/// A parameter as a C programmer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    /// The type as written in C, without `const`, stars and brackets.
    pub c_type: String,
    pub passing: Passing,
    /// Its coordinates, in order; none for a parameter that C only writes to.
    pub slots: Vec<Slot>,
}

/// The C side of a function. Its parameters have the coordinates one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    pub parameters: Vec<Parameter>,
    /// The returned type as written in C; `void` where all results are in parameters.
    pub returns: String,
    /// Where the results are after the call, in order; the returned object is `RETURNED`.
    pub results: Vec<Slot>,
}

/// The name of the returned object in a shim.
pub const RETURNED: &str = "bitrift_result";

impl Interface {
    /// The returned scalar; None where nothing, a struct or a complex number is returned.
    pub fn returns_scalar(&self) -> Option<&Slot> {
        self.results.iter().find(|slot| slot.place == RETURNED)
    }

    /// Of a function of scalars, each with its C type.
    pub fn of_scalars(parameters: &[(&str, &str, Scalar)], returns: (&str, Scalar)) -> Interface {
        let slot = |place: &str, c_type: &str, ty| Slot { place: place.into(), c_type: c_type.into(), ty };
        let parameter = |&(c_type, name, ty): &(&str, &str, Scalar)| Parameter {
            name: name.into(),
            c_type: c_type.into(),
            passing: Passing::Value,
            slots: vec![slot(name, c_type, ty)],
        };
        Interface {
            parameters: parameters.iter().map(parameter).collect(),
            returns: returns.0.into(),
            results: vec![slot(RETURNED, returns.0, returns.1)],
        }
    }
}

/// A function under test. Its name is unique in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub coordinates: Vec<Coordinate>,
    pub results: Results,
    pub interface: Interface,
    pub callee: Callee,
    /// Headers the shim includes, as written after `#include` (without brackets or quotes).
    pub headers: Vec<String>,
    /// The source at whose end the shim is compiled, so that it reaches what only that file knows. Absolute.
    #[serde(skip)]
    pub within: Option<PathBuf>,
    /// Where the matrix says so; a function that no matrix file declares has none.
    #[serde(skip)]
    pub declared: Option<Declaration>,
}

/// Where a matrix declares a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The file as the user named it.
    pub file: String,
    /// Of the line that says what is called, counted from 1.
    pub line: usize,
    /// That line.
    pub text: String,
}

impl Function {
    /// A function of scalars whose C types are the plain ones.
    pub fn of_scalars(name: &str, coordinates: Vec<Coordinate>, result: Scalar, callee: Callee) -> Function {
        let parameters: Vec<(&str, &str, Scalar)> =
            coordinates.iter().map(|c| (c.ty.c_name(), c.name.as_str(), c.ty)).collect();
        Function {
            name: name.into(),
            interface: Interface::of_scalars(&parameters, (result.c_name(), result)),
            coordinates,
            results: Results::one(result),
            callee,
            headers: Vec::new(),
            within: None,
            declared: None,
        }
    }

    pub fn arity(&self) -> usize {
        self.coordinates.len()
    }

    pub fn scalars(&self) -> Vec<Scalar> {
        self.coordinates.iter().map(|c| c.ty).collect()
    }
}
