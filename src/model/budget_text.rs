//! A budget as a reader of JSON expects it: `100000` or `"paper"`.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

use super::Budget;

const PAPER: &str = "paper";

pub fn serialize<S: Serializer>(budget: &Budget, serializer: S) -> Result<S::Ok, S::Error> {
    match budget {
        Budget::Paper => serializer.serialize_str(PAPER),
        Budget::Evaluations(count) => serializer.serialize_u64(*count),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Budget, D::Error> {
    deserializer.deserialize_any(BudgetVisitor)
}

struct BudgetVisitor;

impl Visitor<'_> for BudgetVisitor {
    type Value = Budget;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "a number of evaluations or \"{PAPER}\"")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Budget, E> {
        Ok(Budget::Evaluations(count))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Budget, E> {
        if word == PAPER { Ok(Budget::Paper) } else { Err(E::invalid_value(Unexpected::Str(word), &self)) }
    }
}
