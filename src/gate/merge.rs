//! The accepted ranges of one comparison and those of a new run, made into one list.

use super::area::{Area, place};
use super::update::{Action, LockChange};
use crate::model::{ClassChange, LockComparison, LockRange, Number};

/// Bits by which a run may be above the lock without asking for more: the gate's own default.
const TOLERANCE: f64 = 1.0;

pub(super) struct Terms {
    /// Take what is new or worse.
    pub loosen: bool,
    /// The run searched to the end: what it did not find is gone.
    pub whole: bool,
}

/// A range with its box.
type Boxed<'a> = (Area, &'a LockRange);

/// What is accepted from now on, and what changed. The changes lack function and build.
pub(super) fn merge(
    terms: &Terms,
    old: &LockComparison,
    run: &LockComparison,
) -> (LockComparison, Vec<LockChange>) {
    let boxed = |ranges: &'_ [LockRange]| -> Vec<(Area, LockRange)> {
        ranges.iter().map(|r| (Area::new(&r.lo, &r.hi), r.clone())).collect()
    };
    let (olds, news) = (boxed(&old.ranges), boxed(&run.ranges));
    let olds: Vec<Boxed<'_>> = olds.iter().map(|(area, range)| (area.clone(), range)).collect();
    let news: Vec<Boxed<'_>> = news.iter().map(|(area, range)| (area.clone(), range)).collect();
    let (mut ranges, mut changes) = match terms.loosen {
        true => loosened(terms, &olds, &news),
        false => tightened(terms, &olds, &news),
    };
    sort(&mut ranges);
    let class_changes = class_changes(terms, old, run, &mut changes);
    (LockComparison { class_changes, ranges }, changes)
}

fn change(action: Action, range: &LockRange, before: Option<&LockRange>) -> LockChange {
    LockChange {
        action,
        function: String::new(),
        build: None,
        text: String::new(),
        range: Some(range.clone()),
        before: before.cloned(),
    }
}

/// Whether all of a range is accepted by another.
fn fits((area, range): &Boxed<'_>, (around, other): &Boxed<'_>) -> bool {
    area.is_within(around) && range.max_bits <= other.max_bits
}

/// The run's ranges, and with an unfinished search those of the lock that are no part of them.
fn loosened(terms: &Terms, olds: &[Boxed<'_>], news: &[Boxed<'_>]) -> (Vec<LockRange>, Vec<LockChange>) {
    let mut changes = Vec::new();
    let mut ranges: Vec<LockRange> = news.iter().map(|(_, range)| (*range).clone()).collect();
    for new in news.iter().filter(|new| !olds.iter().any(|old| old.1 == new.1)) {
        match olds.iter().find(|old| fits(new, old)) {
            Some(old) => changes.push(change(Action::Tightened, new.1, Some(old.1))),
            None => changes.push(change(Action::Added, new.1, None)),
        }
    }
    for old in olds {
        if !terms.whole && !news.iter().any(|new| fits(old, new)) {
            ranges.push(old.1.clone());
        } else if !news.iter().any(|new| new.0.meets(&old.0)) {
            changes.push(change(Action::Removed, old.1, None));
        }
    }
    (ranges, changes)
}

/// Ranges of the lock, each replaced by what the run found inside it, where that is all it found there.
fn tightened(terms: &Terms, olds: &[Boxed<'_>], news: &[Boxed<'_>]) -> (Vec<LockRange>, Vec<LockChange>) {
    let (mut ranges, mut changes) = (Vec::new(), Vec::new());
    for old in olds {
        let meeting: Vec<&Boxed<'_>> = news.iter().filter(|new| new.0.meets(&old.0)).collect();
        if !terms.whole {
            ranges.push(old.1.clone());
        } else if meeting.is_empty() {
            changes.push(change(Action::Removed, old.1, None));
        } else if meeting.iter().all(|new| fits(new, old)) {
            for new in meeting {
                if new.1 != old.1 {
                    changes.push(change(Action::Tightened, new.1, Some(old.1)));
                }
                ranges.push(new.1.clone());
            }
        } else {
            let range = lowered(old, &meeting);
            if range != *old.1 {
                changes.push(change(Action::Tightened, &range, Some(old.1)));
            }
            ranges.push(range);
        }
    }
    ranges.dedup();
    let refused = news.iter().filter(|new| !is_accepted(new.1, olds));
    changes.extend(refused.map(|new| change(Action::Refused, new.1, None)));
    (ranges, changes)
}

/// The same box with fewer bits, if all that the run found around it has fewer.
fn lowered(old: &Boxed<'_>, meeting: &[&Boxed<'_>]) -> LockRange {
    let worst = meeting.iter().max_by(|a, b| a.1.max_bits.total_cmp(&b.1.max_bits));
    let inside =
        |new: &&&Boxed<'_>| new.1.max_bits < old.1.max_bits && old.0.holds(&place(&new.1.witness.inputs));
    match worst.filter(inside) {
        None => old.1.clone(),
        Some((_, new)) => LockRange {
            max_bits: new.max_bits,
            category: new.category,
            witness: new.witness.clone(),
            ..old.1.clone()
        },
    }
}

/// Whether a gate would let a range pass: its witness and its ends lie where the lock accepts them.
fn is_accepted(range: &LockRange, olds: &[Boxed<'_>]) -> bool {
    let eased: Vec<(Area, f64)> =
        olds.iter().map(|(area, old)| (area.eased(&old.edges), old.max_bits)).collect();
    let accepted = |inputs: &[Number]| {
        let place = place(inputs);
        eased.iter().filter(|(area, _)| area.holds(&place)).map(|&(_, bits)| bits).max_by(f64::total_cmp)
    };
    accepted(&range.witness.inputs).is_some_and(|bits| range.max_bits <= bits + TOLERANCE)
        && accepted(&range.lo).is_some()
        && accepted(&range.hi).is_some()
}

/// As a run orders them: first parameter first, from below.
fn sort(ranges: &mut [LockRange]) {
    ranges.sort_by_cached_key(|range| (place(&range.lo), place(&range.hi)));
}

fn class_changes(
    terms: &Terms,
    old: &LockComparison,
    run: &LockComparison,
    changes: &mut Vec<LockChange>,
) -> std::collections::BTreeSet<ClassChange> {
    let mut kinds = old.class_changes.clone();
    let mut note = |action: Action, kind: ClassChange| {
        let (function, build, text) = (String::new(), None, format!("class change {kind}"));
        changes.push(LockChange { action, function, build, text, range: None, before: None });
    };
    for &kind in run.class_changes.difference(&old.class_changes) {
        note(if terms.loosen { Action::Added } else { Action::Refused }, kind);
        if terms.loosen {
            kinds.insert(kind);
        }
    }
    for &kind in old.class_changes.difference(&run.class_changes).filter(|_| terms.whole) {
        note(Action::Removed, kind);
        kinds.remove(&kind);
    }
    kinds
}
