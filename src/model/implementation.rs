//! An implementation: one way to compute the functions under test. The matrix's `[sources]` are the one
//! without a name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::{Callee, Function};

/// The sources and what every compilation of them needs. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sources {
    /// Sorted, without duplicates.
    pub files: Vec<PathBuf>,
    pub include: Vec<PathBuf>,
    /// As after `-D`.
    pub defines: Vec<String>,
    /// As after `-l`, or the absolute path of a library file.
    pub libs: Vec<String>,
    /// Folders in which libraries, and those that libraries need, are looked for.
    pub library_path: Vec<PathBuf>,
}

/// An `[[implementation]]`, or `[sources]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implementation {
    /// Empty for `[sources]`.
    pub name: String,
    pub sources: Sources,
    /// Headers that every shim of it includes.
    pub headers: Vec<String>,
    /// C statements run once per loaded object, with the headers they need.
    pub setup: Option<String>,
    pub setup_headers: Vec<String>,
    /// How functions are called here, by their names, where that is not what the functions say themselves.
    pub calls: BTreeMap<String, Callee>,
    /// Globs over the names of compilers and flag sets that it is crossed with; None where nothing is said.
    pub compilers: Option<Vec<String>>,
    pub flags: Option<Vec<String>>,
}

/// The implementation that has nothing.
static NOTHING: Implementation = Implementation {
    name: String::new(),
    sources: Sources {
        files: Vec::new(),
        include: Vec::new(),
        defines: Vec::new(),
        libs: Vec::new(),
        library_path: Vec::new(),
    },
    headers: Vec::new(),
    setup: None,
    setup_headers: Vec::new(),
    calls: BTreeMap::new(),
    compilers: None,
    flags: None,
};

impl Implementation {
    /// The one of a name among several. A name that none of them has stands for one without any code.
    pub fn named<'a>(name: &str, among: &'a [Implementation]) -> &'a Implementation {
        among.iter().find(|implementation| implementation.name == name).unwrap_or(&NOTHING)
    }

    /// `[sources]` alone.
    pub fn unnamed(sources: Sources) -> Implementation {
        Implementation { sources, ..Implementation::default() }
    }

    /// In words: its name, or the table that it comes from.
    pub fn shown(&self) -> &str {
        if self.name.is_empty() { "[sources]" } else { &self.name }
    }

    /// A function as it is called here: its own symbol by the signature, or an expression in `calls`. None when
    /// nothing says how it is called.
    pub fn function(&self, function: &Function) -> Option<Function> {
        let callee = self.callee(function)?.clone();
        Some(Function { callee, headers: self.headers(function), ..function.clone() })
    }

    /// The C that calls a function here.
    pub fn callee<'a>(&'a self, function: &'a Function) -> Option<&'a Callee> {
        let own = match &function.callee {
            Callee::Signature(_) => true,
            Callee::Call(_) | Callee::Body(_) => self.name.is_empty(),
            Callee::Elsewhere => false,
        };
        self.calls.get(&function.name).or(own.then_some(&function.callee))
    }

    /// The headers for that. What an expression in `calls` needs is the implementation's.
    pub fn headers(&self, function: &Function) -> Vec<String> {
        let mut headers = self.headers.clone();
        if !self.calls.contains_key(&function.name) {
            headers.extend(function.headers.iter().filter(|h| !self.headers.contains(h)).cloned());
        }
        headers
    }

    /// Why a function is missing here.
    pub fn lacks(&self, function: &Function) -> String {
        let (name, entry) = (&function.name, format!("calls = {{ {} = \"...\" }}", self.name));
        match self.name.is_empty() {
            true => format!("nothing says how {name} is called in [sources]: give it a `call`"),
            false => format!("nothing says how {name} is called in {}: give it `{entry}`", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;

    fn function(callee: Callee) -> Function {
        let plain = Function::of_scalars("f", Vec::new(), Scalar::F64, callee);
        Function { headers: vec!["f.h".into()], ..plain }
    }

    fn gsl(calls: &[(&str, &str)]) -> Implementation {
        let call = |(name, text): &(&str, &str)| (name.to_string(), Callee::Call(text.to_string()));
        Implementation {
            name: "gsl".into(),
            headers: vec!["gsl.h".into()],
            calls: calls.iter().map(call).collect(),
            ..Implementation::default()
        }
    }

    #[test]
    fn a_signature_is_every_implementations_and_an_expression_the_one_without_a_name() {
        let unnamed = Implementation::default();
        let by_signature = function(Callee::Signature("double f(void)".into()));
        let called = gsl(&[]).function(&by_signature).unwrap();
        assert_eq!(called.callee, by_signature.callee);
        assert_eq!(called.headers, ["gsl.h", "f.h"]);
        let by_call = function(Callee::Call("g()".into()));
        assert_eq!(unnamed.function(&by_call), Some(by_call.clone()));
        assert_eq!(gsl(&[]).function(&by_call), None);
        assert_eq!(unnamed.function(&function(Callee::Elsewhere)), None);
    }

    #[test]
    fn an_entry_of_calls_goes_before_everything_and_needs_the_implementations_headers_alone() {
        for callee in [Callee::Elsewhere, Callee::Signature("double f(void)".into())] {
            let called = gsl(&[("f", "gsl_f()")]).function(&function(callee)).unwrap();
            assert_eq!(called.callee, Callee::Call("gsl_f()".into()));
            assert_eq!(called.headers, ["gsl.h"]);
        }
    }
}
