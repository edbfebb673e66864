//! What binds a reply to its request: a number that goes out with the request and must come back with the reply. Code
//! under test shares a process with whoever replies and may write to any pipe it finds; it has no reason to know the number.

use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Serialize};

/// Drawn anew for every request, from the randomness of the system. Never in the environment, in a file or on a pipe
/// that code under test could still read when it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token(u64);

impl Token {
    pub(crate) fn draw() -> Token {
        // A hash under new keys: the standard library's way to the system's randomness.
        Token(RandomState::new().hash_one(std::process::id()))
    }

    /// For messages that are words.
    pub(crate) fn word(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tokens_are_alike() {
        let drawn: std::collections::BTreeSet<u64> = (0..1000).map(|_| Token::draw().word()).collect();
        assert_eq!(drawn.len(), 1000);
    }
}
