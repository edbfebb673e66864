//! The search algorithms by name: what a matrix, an option or a stored run asks for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which algorithm searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StrategyName {
    #[default]
    Auto,
    Cigen,
    Random,
    Bgrt,
    Mcmc,
    Ga,
    Lsga,
    Hsed,
    Exhaustive,
}

impl StrategyName {
    pub const ALL: [StrategyName; 9] = [
        StrategyName::Auto,
        StrategyName::Cigen,
        StrategyName::Random,
        StrategyName::Bgrt,
        StrategyName::Mcmc,
        StrategyName::Ga,
        StrategyName::Lsga,
        StrategyName::Hsed,
        StrategyName::Exhaustive,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            StrategyName::Auto => "auto",
            StrategyName::Cigen => "cigen",
            StrategyName::Random => "random",
            StrategyName::Bgrt => "bgrt",
            StrategyName::Mcmc => "mcmc",
            StrategyName::Ga => "ga",
            StrategyName::Lsga => "lsga",
            StrategyName::Hsed => "hsed",
            StrategyName::Exhaustive => "exhaustive",
        }
    }
}

impl fmt::Display for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a word is no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy `{0}`")]
pub struct UnknownStrategy(pub String);

impl FromStr for StrategyName {
    type Err = UnknownStrategy;

    fn from_str(word: &str) -> Result<StrategyName, UnknownStrategy> {
        let known = StrategyName::ALL.into_iter().find(|name| name.as_str() == word);
        known.ok_or_else(|| UnknownStrategy(word.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_read_back_from_its_name_which_is_the_stored_one() {
        for name in StrategyName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
        }
        assert!("cigne".parse::<StrategyName>().is_err());
    }
}
