//! What this process took from the cache or put into it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::key::Hash;
use super::stock::Kind;

#[derive(Default)]
pub struct Used(Mutex<HashSet<(Kind, Hash)>>);

impl Used {
    pub fn add(&self, kind: Kind, hash: &Hash) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((kind, *hash));
    }

    pub fn all(&self) -> Vec<(Kind, Hash)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    pub fn has(&self, kind: Kind, hash: &Hash) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&(kind, *hash))
    }
}
