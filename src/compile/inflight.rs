//! Requests being answered right now. Two builds that ask for the same object wait for one compiler,
//! and get the same bytes even from a compiler that gives others every time.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

use super::key::Hash;

#[derive(Default)]
pub struct InFlight {
    requests: Mutex<BTreeSet<Hash>>,
    done: Condvar,
}

/// A request that nobody else answers until this is dropped.
pub struct Turn<'a> {
    in_flight: &'a InFlight,
    request: Hash,
}

impl InFlight {
    /// Waits for whoever answers the same request.
    pub fn enter(&self, request: Hash) -> Turn<'_> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        while !requests.insert(request) {
            requests = self.done.wait(requests).unwrap_or_else(PoisonError::into_inner);
        }
        Turn { in_flight: self, request }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut requests = self.in_flight.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.remove(&self.request);
        self.in_flight.done.notify_all();
    }
}
