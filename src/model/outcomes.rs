//! What a build made of inputs of a function that may give several values: outcomes, and flat words beside them. For
//! one value there are no such words, and a list of outcomes is all there is.

use serde::{Deserialize, Serialize};

use super::{FaultKind, Outcome};

/// All that a build made of one input: the first value or a fault, then the other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned<'a> {
    pub first: Outcome,
    /// Zeros behind a fault.
    pub rest: &'a [u64],
}

impl Returned<'_> {
    /// The outcome as far as one value goes.
    pub fn value(self, index: usize) -> Outcome {
        match (self.first, index.checked_sub(1).and_then(|k| self.rest.get(k))) {
            (Outcome::Value(_), Some(&bits)) => Outcome::Value(bits),
            (first, _) => first,
        }
    }

    pub fn to_owned(self) -> Whole {
        Whole { first: self.first, rest: self.rest.to_vec() }
    }
}

impl From<Outcome> for Returned<'_> {
    fn from(first: Outcome) -> Self {
        Returned { first, rest: &[] }
    }
}

/// A `Returned` that stands for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub first: Outcome,
    pub rest: Vec<u64>,
}

impl Whole {
    pub fn returned(&self) -> Returned<'_> {
        Returned { first: self.first, rest: &self.rest }
    }

    pub fn is_value(&self) -> bool {
        self.first.value().is_some()
    }
}

impl From<Outcome> for Whole {
    fn from(first: Outcome) -> Whole {
        Whole { first, rest: Vec::new() }
    }
}

/// What a build made of some inputs, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    firsts: Vec<Outcome>,
    /// The values behind the first, `width - 1` for each input.
    rest: Vec<u64>,
    width: usize,
}

impl Outcomes {
    /// Of a function that gives `width` values.
    pub fn new(width: usize) -> Outcomes {
        Outcomes { firsts: Vec::new(), rest: Vec::new(), width: width.max(1) }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn len(&self) -> usize {
        self.firsts.len()
    }

    /// Whether they are of a function that gives `width` values, and none is missing: they may come from anywhere.
    pub fn is_of(&self, width: usize) -> bool {
        self.width == width.max(1) && self.rest.len() == self.firsts.len() * (self.width - 1)
    }

    pub fn is_empty(&self) -> bool {
        self.firsts.is_empty()
    }

    pub fn clear(&mut self) {
        self.truncate(0);
    }

    pub fn truncate(&mut self, count: usize) {
        self.firsts.truncate(count);
        self.rest.truncate(count * (self.width - 1));
    }

    /// The outcomes as far as first values go.
    pub fn firsts(&self) -> &[Outcome] {
        &self.firsts
    }

    pub fn get(&self, index: usize) -> Returned<'_> {
        let stride = self.width - 1;
        Returned { first: self.firsts[index], rest: &self.rest[index * stride..(index + 1) * stride] }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Returned<'_>> + ExactSizeIterator {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Of a function that gives one value.
    pub fn extend_ones(&mut self, outcomes: impl IntoIterator<Item = Outcome>) {
        assert_eq!(self.width, 1, "outcomes without their other values");
        self.firsts.extend(outcomes);
    }

    /// The values of one input.
    pub fn push_values(&mut self, mut words: impl ExactSizeIterator<Item = u64>) {
        assert_eq!(words.len(), self.width, "as many words as there are values");
        self.firsts.extend(words.next().map(Outcome::Value));
        self.rest.extend(words);
    }

    pub fn push_fault(&mut self, kind: FaultKind) {
        self.firsts.push(Outcome::Fault(kind));
        self.rest.resize(self.rest.len() + self.width - 1, 0);
    }

    pub fn append(&mut self, other: &mut Outcomes) {
        assert_eq!(self.width, other.width, "outcomes of one function");
        self.firsts.append(&mut other.firsts);
        self.rest.append(&mut other.rest);
    }
}

impl FromIterator<Outcome> for Outcomes {
    /// Of a function that gives one value.
    fn from_iter<I: IntoIterator<Item = Outcome>>(outcomes: I) -> Outcomes {
        Outcomes { firsts: outcomes.into_iter().collect(), rest: Vec::new(), width: 1 }
    }
}
