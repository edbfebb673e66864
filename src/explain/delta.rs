//! Delta debugging: the smallest parts of a set that still show a difference. Pure; what a part is and how
//! it is tried is the caller's.
//!
//! A search for one cause among n takes about log2(n) + 2 tries: where the usual halving tries both halves,
//! this looks for the shortest prefix that shows the difference, whose last part is then needed.

use std::collections::BTreeSet;

/// Parts by their place in the caller's list.
pub type Parts = BTreeSet<usize>;

/// Independent causes at most: more say that the question was wrong.
const MOST_CAUSES: usize = 4;

/// What a search among parts found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// Each set alone shows the difference; none of its parts can be left out.
    pub sets: Vec<Parts>,
    /// With every set left out the difference is gone.
    pub complete: bool,
}

/// All disjoint minimal sets of `0..count` that show the difference. `shows` of everything is true and of
/// nothing is false; the caller has seen to that.
pub fn causes<E>(count: usize, mut shows: impl FnMut(&Parts) -> Result<bool, E>) -> Result<Causes, E> {
    let mut rest: Vec<usize> = (0..count).collect();
    let mut found = Causes::default();
    while found.sets.len() < MOST_CAUSES {
        let set = minimal(&rest, Parts::new(), &mut shows)?;
        rest.retain(|part| !set.contains(part));
        found.sets.push(set);
        if rest.is_empty() || !shows(&rest.iter().copied().collect())? {
            found.complete = true;
            break;
        }
    }
    Ok(found)
}

/// The first of them alone.
pub fn first_cause<E>(count: usize, mut shows: impl FnMut(&Parts) -> Result<bool, E>) -> Result<Causes, E> {
    let all: Vec<usize> = (0..count).collect();
    Ok(Causes { sets: vec![minimal(&all, Parts::new(), &mut shows)?], complete: true })
}

/// The set of one part without which nothing shows the difference; the caller has seen to that.
pub fn cause_with<E>(
    count: usize,
    part: usize,
    mut shows: impl FnMut(&Parts) -> Result<bool, E>,
) -> Result<Causes, E> {
    let alone = Parts::from([part]);
    let others: Vec<usize> = (0..count).filter(|other| *other != part).collect();
    let set = if shows(&alone)? { alone } else { minimal(&others, alone, &mut shows)? };
    Ok(Causes { sets: vec![set], complete: true })
}

/// A minimal set among candidates that together show the difference, around what is known to be needed.
fn minimal<E>(
    candidates: &[usize],
    mut needed: Parts,
    shows: &mut impl FnMut(&Parts) -> Result<bool, E>,
) -> Result<Parts, E> {
    let mut left = candidates.to_vec();
    loop {
        // With none of those left it does not show, with all of them it does.
        let (mut without, mut with) = (0, left.len());
        while with - without > 1 {
            let middle = without + (with - without) / 2;
            let tried: Parts = needed.iter().chain(&left[..middle]).copied().collect();
            if shows(&tried)? {
                with = middle;
            } else {
                without = middle;
            }
        }
        let Some(&last) = with.checked_sub(1).and_then(|at| left.get(at)) else { break };
        needed.insert(last);
        left.truncate(with - 1);
        if left.is_empty() || shows(&needed)? {
            break;
        }
    }
    shorten(needed, shows)
}

/// Leaves out what turns out not to be needed, where parts work against each other.
fn shorten<E>(mut set: Parts, shows: &mut impl FnMut(&Parts) -> Result<bool, E>) -> Result<Parts, E> {
    if set.len() < 2 {
        return Ok(set);
    }
    for part in set.clone() {
        let fewer: Parts = set.iter().copied().filter(|p| *p != part).collect();
        if !fewer.is_empty() && shows(&fewer)? {
            set = fewer;
        }
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(count: usize, shows: impl Fn(&Parts) -> bool) -> (Vec<Vec<usize>>, bool, usize) {
        let mut tries = 0;
        let found = causes::<()>(count, |parts| {
            tries += 1;
            Ok(shows(parts))
        })
        .unwrap();
        let sets = found.sets.iter().map(|set| set.iter().copied().collect()).collect();
        (sets, found.complete, tries)
    }

    #[test]
    fn one_cause_among_many_takes_few_tries() {
        for guilty in 0..64 {
            let (sets, complete, tries) = run(64, |parts| parts.contains(&guilty));
            assert_eq!((sets, complete), (vec![vec![guilty]], true));
            assert!(tries <= 8, "{tries} tries for {guilty}");
        }
        assert_eq!(run(1, |parts| parts.contains(&0)).0, [[0]]);
    }

    #[test]
    fn parts_needed_together_are_one_cause_and_independent_ones_are_several() {
        let (sets, complete, _) = run(20, |p| p.contains(&3) && p.contains(&17));
        assert_eq!((sets, complete), (vec![vec![3, 17]], true));
        let (sets, complete, _) = run(20, |p| p.contains(&3) || p.contains(&17));
        assert_eq!((sets, complete), (vec![vec![3], vec![17]], true));
        let (sets, ..) = run(20, |p| p.contains(&3) && p.contains(&4) || p.contains(&9));
        assert_eq!(sets, [vec![3, 4], vec![9]]);
    }

    #[test]
    fn a_part_that_is_known_to_be_needed_is_where_the_search_starts() {
        let with = |part, wanted: &[usize]| {
            let shows = |parts: &Parts| wanted.iter().all(|part| parts.contains(part));
            cause_with::<()>(20, part, |parts| Ok(shows(parts))).unwrap().sets
        };
        assert_eq!(with(7, &[7]), [Parts::from([7])]);
        assert_eq!(with(7, &[3, 7, 19]), [Parts::from([3, 7, 19])]);
    }

    #[test]
    fn endless_causes_are_cut_off_and_said_to_be() {
        let (sets, complete, _) = run(50, |parts| !parts.is_empty());
        assert_eq!((sets.len(), complete), (MOST_CAUSES, false));
    }

    proptest! {
        #[test]
        fn every_cause_found_shows_and_is_minimal(
            truth in proptest::collection::vec(proptest::collection::btree_set(0usize..24, 1..4), 1..4)
        ) {
            let shows = |parts: &Parts| truth.iter().any(|set| set.is_subset(parts));
            let found = causes::<()>(24, |parts| Ok(shows(parts))).unwrap();
            for set in &found.sets {
                prop_assert!(shows(set));
                for part in set {
                    let fewer: Parts = set.iter().copied().filter(|p| p != part).collect();
                    prop_assert!(!shows(&fewer));
                }
            }
            let rest: Parts = (0..24).filter(|p| !found.sets.iter().any(|set| set.contains(p))).collect();
            prop_assert!(found.complete && !shows(&rest));
        }
    }
}
