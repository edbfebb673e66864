//! The lock file: what was accepted, committed beside the code. People read and edit it, so every field is
//! checked on reading, and short lists and objects stand on one line.

use std::path::Path;

use super::error::shown;
use super::fold::fold;
use super::{StoreError, atomic, read};
use crate::model::{LOCK_SCHEMA, LockFile, LockRange, StoredLock, one_per_parameter, printable};

/// No two results are further apart.
const MOST_BITS: f64 = 64.0;

type Flaw = (String, String);

/// The lock at a path; None when nothing is there.
pub fn read_lock(path: &Path) -> Result<Option<LockFile>, StoreError> {
    if read::metadata(path)?.is_none() {
        return Ok(None);
    }
    let lock: StoredLock = read::read_json(path, LOCK_SCHEMA).map_err(unusable)?;
    let lock = lock.typed().map_err(|misfit| unusable(read::unfit(path, misfit)))?;
    let wrong = |(at, message): Flaw| {
        unusable(StoreError::Shape { path: shown(path), at: printable(&at), message: printable(&message) })
    };
    check(&lock).map_err(wrong)?;
    Ok(Some(lock))
}

pub fn write_lock(path: &Path, lock: &LockFile) -> Result<(), StoreError> {
    atomic::write(path, lock_json(lock).as_bytes())
}

/// The text of a lock file: the same bytes for the same lock.
pub fn lock_json(lock: &LockFile) -> String {
    // Plain data with string keys and finite numbers always has a JSON text.
    fold(&serde_json::to_string_pretty(lock).unwrap_or_default())
}

fn unusable(error: StoreError) -> StoreError {
    match error {
        StoreError::Foreign { path, found, expected } => StoreError::NotALock { path, found, expected },
        // There is nothing wrong with it.
        StoreError::Newer { .. } => error,
        error => StoreError::Lock { source: Box::new(error) },
    }
}

fn check(lock: &LockFile) -> Result<(), Flaw> {
    if !lock.builds.contains_key(&lock.baseline) {
        return Err(("baseline".into(), format!("`{}` is not among `builds`", lock.baseline)));
    }
    for (name, function) in &lock.functions {
        let at = format!("functions.{name}");
        let builds = function.builds.keys().chain(&function.clean);
        for build in builds.chain(function.faults.iter().map(|fault| &fault.build)) {
            if !lock.builds.contains_key(build) {
                return Err((at, format!("build `{build}` is not among `builds`")));
            }
        }
        for (build, comparison) in &function.builds {
            for (index, range) in comparison.ranges.iter().enumerate() {
                check_range(&format!("{at}.builds.{build}.ranges[{index}]"), range)?;
            }
        }
    }
    Ok(())
}

fn check_range(at: &str, range: &LockRange) -> Result<(), Flaw> {
    let fits = one_per_parameter(range.edges.len(), range.lo.len());
    fits.map_err(|message| (format!("{at}.edges"), message))?;
    let ends = range.lo.iter().zip(&range.hi).zip(&range.witness.inputs);
    for (param, ((lo, hi), input)) in ends.enumerate() {
        let [lo, hi, input] = [lo, hi, input].map(|number| number.ordinal());
        let nans = [lo, hi, input].iter().filter(|ordinal| ordinal.is_none()).count();
        if !matches!(nans, 0 | 3) {
            // Of a range of NaN all three are.
            return Err((format!("{at}.lo[{param}]"), "a NaN is no end of an interval".into()));
        }
        if lo > hi {
            let message = format!("`{}` is above `{}` of `hi`", range.lo[param].dec(), range.hi[param].dec());
            return Err((format!("{at}.lo[{param}]"), message));
        }
        if !(lo..=hi).contains(&input) {
            let message = format!("`{}` is outside the range", range.witness.inputs[param].dec());
            return Err((format!("{at}.witness.inputs[{param}]"), message));
        }
    }
    if !(0.0..=MOST_BITS).contains(&range.max_bits) {
        let message = format!("{} bits, expected a number from 0 to {MOST_BITS}", range.max_bits);
        return Err((format!("{at}.max_bits"), message));
    }
    Ok(())
}
