//! From a run to a lock: made anew, or updated. An update only ever tightens, unless it may loosen.

use std::collections::BTreeSet;

use super::error::AcceptError;
use super::floor::{self, Worth};
use super::merge::{Terms, merge};
use super::moved::Today;
use super::snapshot::lock_of;
use super::update::{Action, LockChange, Update, Wish};
use crate::fp::{Equality, Tolerance};
use crate::model::{
    Budget, BuildId, ComparisonRow, HeldRow, LockBuild, LockComparison, LockFault, LockFile, LockFunction,
    MovedWitness, RunFile, StopReason,
};

/// Makes a lock from a run, or updates one.
pub fn accept(old: Option<&LockFile>, run: &RunFile, wish: Wish) -> Result<Update, AcceptError> {
    accept_gated(old, run, &[], wish)
}

/// The same with the accepted witnesses at which the run's gate saw the baseline move.
pub fn accept_gated(
    old: Option<&LockFile>,
    run: &RunFile,
    moved: &[MovedWitness],
    wish: Wish,
) -> Result<Update, AcceptError> {
    floor::check(run, wish.loosen)?;
    let fresh = lock_of(run, wish.loosen);
    let begun = |thorough| Acceptance { wish, thorough, moved, changes: Vec::new(), other: BTreeSet::new() };
    let Some(old) = old else {
        let mut desk = begun(true);
        desk.unsearched(run);
        for (name, function) in &fresh.functions {
            desk.added(name, function);
        }
        return Ok(Update { lock: fresh, changes: desk.changes });
    };
    if old.name != run.name {
        return Err(AcceptError::OtherLab { lock: old.name.clone(), run: run.name.clone() });
    }
    if old.baseline != run.baseline {
        return Err(AcceptError::OtherBaseline { lock: old.baseline.clone(), run: run.baseline.clone() });
    }
    if (old.nan, old.zero) != (run.nan, run.zero) && !wish.loosen {
        return Err(AcceptError::OtherMetric);
    }
    let thorough = evaluations(run.budget) >= evaluations(old.search.budget);
    let mut desk = begun(thorough);
    desk.arguments(old, &fresh);
    let mut lock = old.clone();
    lock.bitrift.clone_from(&fresh.bitrift);
    desk.search(&mut lock, &fresh);
    desk.unsearched(run);
    for (name, function) in &fresh.functions {
        let entry = desk.function(name, old.functions.get(name), function, run);
        lock.functions.insert(name.clone(), entry);
    }
    desk.builds(&mut lock, &fresh, run);
    desk.absent(&mut lock, &fresh, run);
    Ok(Update { lock, changes: desk.changes })
}

/// For comparing how much was searched; the paper's budget is the smallest.
fn evaluations(budget: Budget) -> u64 {
    match budget {
        Budget::Paper => 0,
        Budget::Evaluations(count) => count,
    }
}

/// An update under way.
struct Acceptance<'a> {
    wish: Wish,
    /// The run searched at least as much as the lock's.
    thorough: bool,
    moved: &'a [MovedWitness],
    changes: Vec<LockChange>,
    /// Builds with other arguments than were accepted: what was found of them says nothing about the old ones.
    other: BTreeSet<BuildId>,
}

impl Acceptance<'_> {
    fn arguments(&mut self, old: &LockFile, fresh: &LockFile) {
        if self.wish.loosen {
            return;
        }
        for (id, now) in &fresh.builds {
            let Some(then) = old.builds.get(id).filter(|then| then.flags != now.flags) else { continue };
            let text = format!("arguments were `{}`, are `{}`", then.flags.join(" "), now.flags.join(" "));
            self.note(Action::Refused, "", Some(id), text);
            self.other.insert(id.clone());
        }
    }

    fn note(&mut self, action: Action, function: &str, build: Option<&BuildId>, text: String) {
        let (function, build) = (function.into(), build.cloned());
        self.changes.push(LockChange { action, function, build, text, range: None, before: None });
    }

    fn search(&mut self, lock: &mut LockFile, fresh: &LockFile) {
        if !self.thorough {
            let text = "the run searched less than the lock's did: nothing is taken as gone".into();
            return self.note(Action::Kept, "", None, text);
        }
        if lock.search != fresh.search {
            let text = format!("search: strategy {}, seed {}", fresh.search.strategy, fresh.search.seed);
            self.note(Action::Changed, "", None, text);
            lock.search = fresh.search.clone();
        }
        (lock.nan, lock.zero) = (fresh.nan, fresh.zero);
    }

    /// Comparisons that stay out because they were not searched, or not enough.
    fn unsearched(&mut self, run: &RunFile) {
        for row in &run.functions {
            for (comparison, worth) in floor::refused(row, self.wish.loosen) {
                let action = if worth == Worth::Nothing { Action::Kept } else { Action::Refused };
                let text = floor::refusal(comparison, worth);
                self.note(action, &row.name, Some(&comparison.build), text);
            }
        }
    }

    /// What builds are made of is noted, not judged. One with findings that were refused stays as it was: what is
    /// accepted of it is not of the new one.
    fn builds(&mut self, lock: &mut LockFile, fresh: &LockFile, run: &RunFile) {
        let refused = self.changes.iter().filter(|change| change.action == Action::Refused);
        let refused: BTreeSet<BuildId> = refused.filter_map(|change| change.build.clone()).collect();
        let stays = |id: &BuildId| refused.contains(id) && lock.builds.contains_key(id);
        let moved: Vec<_> = fresh.builds.iter().filter(|(id, _)| !stays(id)).collect();
        for (id, now) in moved {
            match lock.builds.insert(id.clone(), now.clone()) {
                None => self.note(Action::Changed, "", Some(id), "new build".into()),
                Some(then) => {
                    for (field, then, now) in LockBuild::changes(&then, now) {
                        self.note(Action::Changed, "", Some(id), format!("{field} `{then}` -> `{now}`"));
                    }
                }
            }
        }
        for row in run.builds.iter().filter(|row| !row.is_built() && lock.builds.contains_key(&row.id)) {
            self.note(Action::Kept, "", Some(&row.id), format!("{} in this run", row.status));
        }
        lock.absent.retain(|id, _| !fresh.builds.contains_key(id));
        for (id, reason) in fresh.absent.iter().filter(|(id, _)| !lock.builds.contains_key(*id)) {
            if lock.absent.insert(id.clone(), reason.clone()).is_none() {
                self.note(Action::Changed, "", Some(id), format!("absent: {reason}"));
            }
        }
    }

    fn function(
        &mut self,
        name: &str,
        old: Option<&LockFunction>,
        fresh: &LockFunction,
        run: &RunFile,
    ) -> LockFunction {
        let same = |old: &&LockFunction| old.params == fresh.params && old.returns() == fresh.returns();
        let restated = match old {
            Some(old) if !same(&old) => Some((old, format!("was {}, is {}", old.shape(), fresh.shape()))),
            Some(old) if !old.domains.is_empty() && old.domains != fresh.domains => {
                Some((old, format!("domain was {}, is {}", shown(&old.domains), shown(&fresh.domains))))
            }
            Some(old) => other_tolerance(old, fresh).map(|text| (old, text)),
            None => None,
        };
        if let Some((old, text)) = restated {
            return self.restated(name, old, fresh, text);
        }
        let nothing = LockFunction {
            builds: Default::default(),
            clean: BTreeSet::new(),
            evaluations: Default::default(),
            tolerances: Default::default(),
            faults: Vec::new(),
            ..fresh.clone()
        };
        let old = old.unwrap_or(&nothing);
        let held = self.held(name, old.held.as_ref(), fresh.held.as_ref(), run);
        let Some(old) = self.witnesses(name, old, fresh, run) else {
            return LockFunction { held, ..old.clone() };
        };
        let mut entry = LockFunction { domains: fresh.domains.clone(), held, ..old.clone() };
        entry
            .tolerances
            .extend(fresh.tolerances.iter().map(|(build, tolerance)| (build.clone(), *tolerance)));
        let row = run.functions.iter().find(|f| f.name == name);
        let other = self.other.clone();
        let loosen = self.wish.loosen;
        let compared = row.iter().flat_map(|row| &row.comparisons).filter(|c| !other.contains(&c.build));
        for comparison in compared.filter(|row| Worth::of(row).suffices(loosen)) {
            let build = &comparison.build;
            let was = old.builds.get(build).cloned().unwrap_or_default();
            let is = fresh.builds.get(build).cloned().unwrap_or_default();
            let terms = Terms { loosen: self.wish.loosen, whole: self.thorough && is_whole(comparison) };
            let (merged, changes) = merge(&terms, &was, &is);
            self.changes.extend(changes.into_iter().map(|change| LockChange {
                function: name.into(),
                build: Some(build.clone()),
                ..change
            }));
            place(&mut entry, build, merged, is.ranges.is_empty());
            if entry.compared().any(|compared| compared == build) {
                self.record(&mut entry, comparison);
            }
        }
        entry.faults =
            self.faults(name, &old.faults, &fresh.faults, row.is_some_and(|r| is_searched(r.stop_reason)));
        entry
    }

    /// How much was searched. A clock has a say in a paced search, so that one that went about as far changes nothing.
    fn record(&self, entry: &mut LockFunction, comparison: &ComparisonRow) {
        let now = comparison.evaluations;
        let then = entry.evaluations.entry(comparison.build.clone()).or_insert(now);
        let is_as_far = comparison.stop_reason == StopReason::Pace && now < then.saturating_mul(2);
        if self.thorough && is_whole(comparison) && !is_as_far {
            *then = now;
        }
    }

    /// A function of which the matrix says something else than was accepted: all of it is new, or stays out.
    fn restated(
        &mut self,
        name: &str,
        old: &LockFunction,
        fresh: &LockFunction,
        text: String,
    ) -> LockFunction {
        if !self.wish.loosen {
            self.note(Action::Refused, name, None, text);
            return old.clone();
        }
        self.note(Action::Changed, name, None, text);
        self.added(name, fresh);
        fresh.clone()
    }

    /// The baseline's own results: those of the run where nothing moved or may move, with as many blocks as there are.
    fn held(
        &mut self,
        name: &str,
        old: Option<&HeldRow>,
        fresh: Option<&HeldRow>,
        run: &RunFile,
    ) -> Option<HeldRow> {
        let (Some(then), Some(now)) = (old, fresh) else { return fresh.or(old).cloned() };
        let moved = then.moved(now).len();
        if moved > 0 {
            let action = if self.wish.loosen { Action::Changed } else { Action::Refused };
            let text = format!("baseline moved in {moved} of {} blocks of held inputs", then.blocks.len());
            self.note(action, name, Some(&run.baseline), text);
            return Some(if self.wish.loosen { now } else { then }.clone());
        }
        Some(if now.blocks.len() >= then.blocks.len() { now } else { then }.clone())
    }

    /// What is accepted, with the baseline's answers of today at its witnesses; None where the baseline moved there and
    /// must not. What a run found in such a function is told against another baseline than was accepted.
    fn witnesses(
        &mut self,
        name: &str,
        old: &LockFunction,
        fresh: &LockFunction,
        run: &RunFile,
    ) -> Option<LockFunction> {
        let today = Today::of(name, fresh, self.moved);
        let equality = Equality { nan: run.nan, zero: run.zero, tolerance: Tolerance::default() };
        let (moved, of) = today.moved(equality, old);
        if moved == 0 {
            return Some(old.clone());
        }
        let action = if self.wish.loosen { Action::Changed } else { Action::Refused };
        let text = format!("baseline moved at {moved} of {of} accepted witnesses");
        self.note(action, name, Some(&run.baseline), text);
        self.wish.loosen.then(|| today.refreshed(old))
    }

    fn faults(
        &mut self,
        name: &str,
        old: &[LockFault],
        fresh: &[LockFault],
        searched: bool,
    ) -> Vec<LockFault> {
        let mut faults: BTreeSet<LockFault> = old.iter().cloned().collect();
        for fault in fresh.iter().filter(|fault| !old.contains(fault)) {
            let action = if self.wish.loosen { Action::Added } else { Action::Refused };
            self.note(action, name, Some(&fault.build), format!("fault {}", fault.kind));
            if self.wish.loosen {
                faults.insert(fault.clone());
            }
        }
        let whole = self.thorough && searched;
        for fault in old.iter().filter(|fault| whole && !fresh.contains(fault)) {
            self.note(Action::Removed, name, Some(&fault.build), format!("fault {}", fault.kind));
            faults.remove(fault);
        }
        faults.into_iter().collect()
    }

    /// Functions and builds that the run has not got at all.
    fn absent(&mut self, lock: &mut LockFile, fresh: &LockFile, run: &RunFile) {
        let functions: Vec<String> =
            lock.functions.keys().filter(|name| !fresh.functions.contains_key(*name)).cloned().collect();
        let planned = |id: &BuildId| run.builds.iter().any(|row| row.id == *id);
        let builds: Vec<BuildId> = lock.builds.keys().filter(|id| !planned(id)).cloned().collect();
        let hint = "is not in this run; --prune forgets it";
        for name in functions {
            if !self.wish.prune {
                self.note(Action::Kept, &name, None, hint.into());
                continue;
            }
            lock.functions.remove(&name);
            self.note(Action::Removed, &name, None, "not in this run".into());
        }
        for id in builds {
            if !self.wish.prune {
                self.note(Action::Kept, "", Some(&id), hint.into());
                continue;
            }
            lock.builds.remove(&id);
            for function in lock.functions.values_mut() {
                function.builds.remove(&id);
                function.clean.remove(&id);
                function.evaluations.remove(&id);
                function.faults.retain(|fault| fault.build != id);
            }
            self.note(Action::Removed, "", Some(&id), "not in this run".into());
        }
    }

    /// Everything of a function that was not there before.
    fn added(&mut self, name: &str, function: &LockFunction) {
        for (build, comparison) in &function.builds {
            for range in &comparison.ranges {
                self.changes.push(LockChange {
                    action: Action::Added,
                    function: name.into(),
                    build: Some(build.clone()),
                    text: String::new(),
                    range: Some(range.clone()),
                    before: None,
                });
            }
        }
        for fault in &function.faults {
            self.note(Action::Added, name, Some(&fault.build), format!("fault {}", fault.kind));
        }
    }
}

/// A build of which everything was refused is neither clean nor accepted.
fn place(entry: &mut LockFunction, build: &BuildId, merged: LockComparison, is_clean: bool) {
    if merged.ranges.is_empty() {
        entry.builds.remove(build);
        if is_clean {
            entry.clean.insert(build.clone());
        }
    } else {
        entry.clean.remove(build);
        entry.builds.insert(build.clone(), merged);
    }
}

/// Whether what was not found can be taken as not there.
fn is_whole(comparison: &ComparisonRow) -> bool {
    is_searched(comparison.stop_reason)
}

fn is_searched(stop: StopReason) -> bool {
    matches!(stop, StopReason::Complete | StopReason::Budget | StopReason::Pace)
}

/// The first build that was compared then and now, with another tolerance.
fn other_tolerance(old: &LockFunction, fresh: &LockFunction) -> Option<String> {
    let of = |function: &LockFunction, build| function.tolerances.get(build).copied().unwrap_or_default();
    let both = old.compared().filter(|build| fresh.compared().any(|other| other == *build));
    let mut pairs = both.map(|build| (build, of(old, build), of(fresh, build)));
    let (build, then, now) = pairs.find(|(_, then, now)| then != now)?;
    Some(format!("tolerance on {build} was {then}, is {now}"))
}

/// Domains as a line.
fn shown(domains: &[String]) -> String {
    let one = |domain: &String| if domain.is_empty() { "all".to_string() } else { domain.clone() };
    domains.iter().map(one).collect::<Vec<_>>().join(", ")
}
