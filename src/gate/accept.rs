//! From a run to a lock: made anew, or updated. An update only ever tightens, unless it may loosen.

use std::collections::BTreeSet;

use super::floor::{self, Worth};
use super::merge::{Terms, merge};
use super::snapshot::lock_of;
use crate::findings::{Unsearched, unsearched};
use crate::model::{
    Budget, BuildId, ComparisonRow, HeldRow, LockBuild, LockComparison, LockFault, LockFile, LockFunction,
    LockRange, RunFile, StopReason, printable_lines,
};

/// What the user allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Take what is new or worse too.
    pub loosen: bool,
    /// Forget functions and builds that the run has not got.
    pub prune: bool,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Added,
    Removed,
    Tightened,
    /// New or worse: it stays out.
    Refused,
    /// It could not be compared, or not to the end: it stays as it was.
    Kept,
    /// Not a finding: a build, the search.
    Changed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LockChange {
    pub action: Action,
    pub function: String,
    /// None where it is about the function or the search.
    pub build: Option<BuildId>,
    /// What it is about when it is no range.
    pub text: String,
    pub range: Option<LockRange>,
    /// The range as it was.
    pub before: Option<LockRange>,
}

/// A new lock and how it differs from the old one.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub lock: LockFile,
    pub changes: Vec<LockChange>,
}

/// Why a run cannot update a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    #[error("the lock is of the lab `{lock}`, the run of `{run}`; name another file with --lock")]
    OtherLab { lock: String, run: String },
    #[error(
        "the lock was made against the baseline {lock}, the run against {run}: nothing in it can be compared; \
         to start anew, delete the lock and accept again"
    )]
    OtherBaseline { lock: BuildId, run: BuildId },
    #[error(
        "in the lock something else of a NaN or of a zero counts than in the run (`nan`, `zero` of the matrix), so that no \
         difference means the same; --loosen accepts it"
    )]
    OtherMetric,
    #[error(
        "the run searched nothing, so there is nothing to accept:{why}\nmend that and run again; --loosen does not help"
    )]
    NothingSearched { why: String },
    #[error(
        "the run searched too little to be accepted:{why}\nrun it with a larger budget, or accept it as it is with --loosen"
    )]
    TooLittle { why: String },
}

/// Makes a lock from a run, or updates one.
pub fn accept(old: Option<&LockFile>, run: &RunFile, wish: Wish) -> Result<Update, AcceptError> {
    check_search(run, wish)?;
    let fresh = lock_of(run, wish.loosen);
    let Some(old) = old else {
        let mut desk = Acceptance { wish, thorough: true, changes: Vec::new(), other: BTreeSet::new() };
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
    let mut desk = Acceptance { wish, thorough, changes: Vec::new(), other: BTreeSet::new() };
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

/// That there is a comparison that was searched enough.
fn check_search(run: &RunFile, wish: Wish) -> Result<(), AcceptError> {
    let most = floor::most(run);
    if most.suffices(wish.loosen) {
        return Ok(());
    }
    let line = |gap: Unsearched<'_>| {
        let on = gap.build.map(|build| format!(" on {build}")).unwrap_or_default();
        format!("\n  {}{on}: {}", gap.function, gap.reason)
    };
    if most == Worth::Nothing {
        return Err(AcceptError::NothingSearched {
            why: printable_lines(&unsearched(run).into_iter().map(line).collect::<String>()),
        });
    }
    let rows =
        run.functions.iter().flat_map(|row| floor::refused(row, wish.loosen).map(move |pair| (row, pair)));
    let why = rows.map(|(row, (comparison, worth))| {
        format!("\n  {} on {}: {}", row.name, comparison.build, floor::refusal(comparison, worth))
    });
    Err(AcceptError::TooLittle { why: printable_lines(&why.collect::<String>()) })
}

/// For comparing how much was searched; the paper's budget is the smallest.
fn evaluations(budget: Budget) -> u64 {
    match budget {
        Budget::Paper => 0,
        Budget::Evaluations(count) => count,
    }
}

/// An update under way.
struct Acceptance {
    wish: Wish,
    /// The run searched at least as much as the lock's.
    thorough: bool,
    changes: Vec<LockChange>,
    /// Builds with other arguments than were accepted: what was found of them says nothing about the old ones.
    other: BTreeSet<BuildId>,
}

impl Acceptance {
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
        let mut entry = LockFunction { domains: fresh.domains.clone(), ..old.clone() };
        entry
            .tolerances
            .extend(fresh.tolerances.iter().map(|(build, tolerance)| (build.clone(), *tolerance)));
        entry.held = self.held(name, old.held.as_ref(), fresh.held.as_ref(), run);
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

/// Domains as a line.
/// The first build that was compared then and now, with another tolerance.
fn other_tolerance(old: &LockFunction, fresh: &LockFunction) -> Option<String> {
    let of = |function: &LockFunction, build| function.tolerances.get(build).copied().unwrap_or_default();
    let both = old.compared().filter(|build| fresh.compared().any(|other| other == *build));
    let mut pairs = both.map(|build| (build, of(old, build), of(fresh, build)));
    let (build, then, now) = pairs.find(|(_, then, now)| then != now)?;
    Some(format!("tolerance on {build} was {then}, is {now}"))
}

fn shown(domains: &[String]) -> String {
    let one = |domain: &String| if domain.is_empty() { "all".to_string() } else { domain.clone() };
    domains.iter().map(one).collect::<Vec<_>>().join(", ")
}
