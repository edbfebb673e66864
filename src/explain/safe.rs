//! The safe set: the most of a build's flags that keep every witness of a run within a limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::case::Case;
use super::delta::Parts;
use super::environment::Pair;
use super::error::ExplainError;
use super::reference::baseline_args;
use super::scene::{Desk, Side};
use super::whole::Workshop;
use crate::model::{
    Build, BuiltObject, Cost, ExplainFile, FindingId, Layer, LayerRow, SafeRow, Suspect, Whole,
};
use crate::toolchain::{Atoms, Kind, voided};

/// Rounds of giving up flags; each gives up at least one.
const MOST_ROUNDS: usize = 16;

/// What forbids contraction, to compilers that have any.
const NO_CONTRACTION: &str = "-ffp-contract=off";

/// A safe set, with what its speed can be measured on: baseline, safe set, all flags.
pub struct Safe {
    pub row: SafeRow,
    pub objects: [BuiltObject; 3],
}

/// What the safe set of a build is asked with.
pub struct Question<'a> {
    pub desk: &'a Desk<'a>,
    pub workshop: &'a Workshop<'a>,
    pub pair: &'a Pair,
    pub cases: &'a [Case],
    /// Sets of flags that are known to be guilty together, by name.
    pub guilty: &'a [Vec<String>],
    /// Bits that a witness may have.
    pub limit: f64,
}

/// The sets of flags that findings of a build blame together; None where no flag is guilty, so that there is nothing
/// to give up.
pub fn gives_up<'i>(
    file: &ExplainFile,
    ids: impl Iterator<Item = &'i FindingId> + Clone,
) -> Option<Vec<Vec<String>>> {
    let names = |set: &Vec<Suspect>| set.iter().map(|suspect| suspect.flag.clone()).collect();
    let layer = |id: &FindingId, layer: Layer| file.findings.get(id).and_then(|row| row.layers.get(&layer));
    let flags = ids.clone().filter_map(|id| layer(id, Layer::Flags));
    let guilty: Vec<Vec<String>> = flags.flat_map(|row| row.causes.iter().map(names)).collect();
    // A build's start-up code flushes subnormals because of its flags, too.
    let flushes =
        |row: &LayerRow| row.causes.iter().flatten().any(|suspect| suspect.environment == "flushing");
    let flushing = ids.filter_map(|id| layer(id, Layer::Environment)).any(flushes);
    (flushing || !guilty.is_empty()).then_some(guilty)
}

impl Question<'_> {
    /// All that was spent so far.
    pub fn spent(&self) -> Cost {
        let mut sum = self.desk.cost();
        sum += self.workshop.cost();
        sum
    }

    /// The outer error ends everything, the inner one says why there is no answer.
    pub fn answer(&self) -> Result<Result<Safe, String>, ExplainError> {
        let (baseline, variant) = match (self.side(&self.pair.baseline)?, self.side(&self.pair.variant)?) {
            (Ok(baseline), Ok(variant)) => (baseline, variant),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
        };
        let to = &self.pair.variant;
        let from = baseline_args(self.desk.experiment, &self.pair.baseline, to);
        let asked = self.desk.mixer.compilers().find(&to.command).map_err(|e| e.to_string());
        let atoms = match asked.and_then(|compiler| Atoms::between(&compiler, &from, &to.args)) {
            Ok(atoms) if atoms.list().is_empty() => return Ok(Err("both builds have the same flags".into())),
            Ok(atoms) => atoms,
            Err(words) => return Ok(Err(words)),
        };
        let truth = self.answers(&baseline)?;
        let trial = FlagTrial { question: self, atoms: &atoms, truth: &truth };
        let (removed, (args, side)) = match trial.proposal(&variant)? {
            Ok(proposal) => proposal,
            Err(why) => return Ok(Err(why)),
        };
        let kept = trial.without(&removed);
        let over = trial.over(&side)?;
        let name = |part: &usize| atoms.list()[*part].name.clone();
        let given_up = given_up(&atoms, &removed, &args);
        let row = SafeRow {
            build: to.id.clone(),
            baseline: self.pair.baseline.id.clone(),
            limit: self.limit,
            args,
            kept: kept.iter().map(name).collect(),
            given_up,
            within: self.cases.len() - over.len(),
            of: self.cases.len(),
            ns: None,
            cost: Cost::default(),
        };
        let objects = [baseline.object.clone(), side.object.clone(), variant.object.clone()];
        Ok(Ok(Safe { row, objects }))
    }

    fn side(&self, build: &Build) -> Result<Result<Arc<Side>, String>, ExplainError> {
        Ok(self.workshop.make(build)?.map_err(|why| format!("{}: {why}", build.id)))
    }

    /// What a build answers to every case, in the environment that its own arguments give it.
    fn answers(&self, side: &Side) -> Result<Vec<Whole>, ExplainError> {
        self.cases.iter().map(|case| self.desk.ask(&side.object, case.function, &case.inputs)).collect()
    }

    /// How dear a flag is: the level is the dearest, the compiler's freedom with arithmetic the cheapest.
    fn worth(&self, atoms: &Atoms, part: usize) -> u8 {
        match atoms.list()[part].kind {
            Kind::Float => 0,
            Kind::Other => 1,
            Kind::Flag => 2,
            Kind::Machine => 3,
            Kind::Level => 4,
        }
    }

    /// Flags of which every guilty set has one: the cheapest of a set, of those the one in most sets.
    fn hitting_set(&self, atoms: &Atoms) -> Parts {
        let number: BTreeMap<&str, usize> =
            atoms.list().iter().enumerate().map(|(at, atom)| (atom.name.as_str(), at)).collect();
        let known = |set: &Vec<String>| -> Parts {
            set.iter().filter_map(|name| number.get(name.as_str()).copied()).collect()
        };
        let mut sets: Vec<Parts> = self.guilty.iter().map(known).filter(|set| !set.is_empty()).collect();
        let mut chosen = Parts::new();
        while !sets.is_empty() {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for set in &sets {
                let least = set.iter().map(|part| self.worth(atoms, *part)).min();
                let cheap = set.iter().filter(|part| Some(self.worth(atoms, **part)) == least);
                cheap.for_each(|part| *counts.entry(*part).or_default() += 1);
            }
            let best = counts.iter().max_by_key(|(part, count)| (**count, std::cmp::Reverse(**part)));
            let Some(best) = best.map(|(part, _)| *part) else { break };
            chosen.insert(best);
            sets.retain(|set| !set.contains(&best));
        }
        chosen
    }
}

/// Arguments and the build they make.
type Argued = (Vec<String>, Arc<Side>);

/// Whole builds with some of the flags.
struct FlagTrial<'q> {
    question: &'q Question<'q>,
    atoms: &'q Atoms,
    /// The baseline's answer to every case.
    truth: &'q [Whole],
}

impl FlagTrial<'_> {
    /// Flags to give up, and the arguments without them: all that the compiler acts on is what is said to be kept.
    fn proposal(&self, variant: &Side) -> Result<Result<(Parts, Argued), String>, ExplainError> {
        // To forbid contraction costs an instruction here and there, to give up the instruction set all of its speed.
        if let Some(argued) = self.without_contraction(variant)? {
            return Ok(Ok((self.atoms.contraction().into_iter().collect(), argued)));
        }
        let mut removed = match self.give_up(self.question.hitting_set(self.atoms))? {
            Ok(removed) => self.take_back(removed)?,
            Err(why) => return Ok(Err(why)),
        };
        for _ in 0..MOST_ROUNDS {
            let kept = self.without(&removed);
            let argued = match self.short(&removed)? {
                Some(short) => short,
                None => match self.question.side(&self.build(&kept))? {
                    Ok(side) => (self.atoms.args(&kept), side),
                    Err(why) => return Ok(Err(why)),
                },
            };
            let void = match self.void(&kept, &argued.0) {
                Ok(void) => void,
                Err(why) => return Ok(Err(why)),
            };
            if void.is_empty() {
                return Ok(Ok((removed, argued)));
            }
            removed.extend(void);
        }
        Ok(Err(format!("no safe set after {MOST_ROUNDS} rounds")))
    }

    /// The build's own arguments with contraction forbidden, where its code has some and that is all there is to do.
    fn without_contraction(&self, variant: &Side) -> Result<Option<Argued>, ExplainError> {
        let Question { cases, desk, pair, .. } = self.question;
        let fuses = |case: &Case| variant.fuses(&desk.experiment.functions[case.function].name);
        if !cases.iter().any(fuses) {
            return Ok(None);
        }
        let args = [&pair.variant.args[..], &[NO_CONTRACTION.to_string()]].concat();
        let build = Build { args: args.clone(), ..pair.variant.clone() };
        let Ok(side) = self.question.side(&build)? else { return Ok(None) };
        Ok(self.over(&side)?.is_empty().then_some((args, side)))
    }

    /// Kept flags that the compiler does not act on beside the others. The inner error is the compiler's.
    fn void(&self, kept: &Parts, args: &[String]) -> Result<Parts, String> {
        let to = &self.question.pair.variant;
        let compiler =
            self.question.desk.mixer.compilers().find(&to.command).map_err(|missing| missing.to_string())?;
        let names = voided(&compiler, args, &to.args)?;
        Ok(kept.iter().copied().filter(|part| names.contains(&self.atoms.list()[*part].name)).collect())
    }

    fn without(&self, removed: &Parts) -> Parts {
        (0..self.atoms.list().len()).filter(|part| !removed.contains(part)).collect()
    }

    fn build(&self, kept: &Parts) -> Build {
        Build { args: self.atoms.args(kept), ..self.question.pair.variant.clone() }
    }

    /// The cases beyond the limit; one that gives no value is.
    fn over(&self, side: &Arc<Side>) -> Result<Vec<usize>, ExplainError> {
        let Question { cases, limit, .. } = self.question;
        let answers = self.question.answers(side)?;
        let far = |at: &usize| match cases[*at].gap(&self.truth[*at], &answers[*at]) {
            Some(gap) => gap.bits > *limit || gap.class,
            None => self.truth[*at] != answers[*at],
        };
        Ok((0..cases.len()).filter(far).collect())
    }

    /// Whether every case is within the limit with some of the flags.
    fn is_safe(&self, kept: &Parts) -> Result<bool, ExplainError> {
        match self.question.side(&self.build(kept))? {
            Ok(side) => Ok(self.over(&side)?.is_empty()),
            Err(_) => Ok(false),
        }
    }

    /// The build's own arguments with what is given up switched off behind them, or its composite flags written out,
    /// where that is as safe: what a person would write.
    fn short(&self, removed: &Parts) -> Result<Option<Argued>, ExplainError> {
        let to = &self.question.pair.variant;
        let off = self.atoms.off(removed);
        let is_float = |part: &usize| self.atoms.list()[*part].kind == Kind::Float;
        let floats: Parts = self.without(removed).into_iter().filter(is_float).collect();
        let written = written_out(&to.args, &self.atoms.on(&floats));
        for args in [[&to.args[..], &off].concat(), [&written[..], &off].concat()] {
            let build = Build { args: args.clone(), ..to.clone() };
            if let Ok(side) = self.question.side(&build)?
                && self.over(&side)?.is_empty()
            {
                return Ok(Some((args, side)));
            }
        }
        Ok(None)
    }

    /// Gives up flags until every case is within the limit.
    fn give_up(&self, mut removed: Parts) -> Result<Result<Parts, String>, ExplainError> {
        for _ in 0..MOST_ROUNDS {
            let kept = self.without(&removed);
            if self.is_safe(&kept)? {
                return Ok(Ok(removed));
            }
            if !self.is_safe(&Parts::new())? {
                return Ok(Err("some witnesses differ with the baseline's own flags too".into()));
            }
            // The shortest list of flags that is not safe ends with one to give up: what is dear comes first.
            let mut list: Vec<usize> = kept.iter().copied().collect();
            list.sort_by_key(|part| std::cmp::Reverse(self.question.worth(self.atoms, *part)));
            let (mut good, mut bad) = (0, list.len());
            while bad - good > 1 {
                let middle = good + (bad - good) / 2;
                if self.is_safe(&list[..middle].iter().copied().collect())? {
                    good = middle;
                } else {
                    bad = middle;
                }
            }
            removed.insert(list[bad - 1]);
        }
        Ok(Err(format!("no safe set after {MOST_ROUNDS} rounds")))
    }

    /// Takes back what need not have been given up.
    fn take_back(&self, mut removed: Parts) -> Result<Parts, ExplainError> {
        if removed.len() < 2 {
            return Ok(removed);
        }
        for part in removed.clone() {
            let fewer: Parts = removed.iter().copied().filter(|p| *p != part).collect();
            if self.is_safe(&self.without(&fewer))? {
                removed = fewer;
            }
        }
        Ok(removed)
    }
}

/// What a proposal gives up, by name. Contraction that both builds allow is no difference of their flags.
fn given_up(atoms: &Atoms, removed: &Parts, args: &[String]) -> Vec<String> {
    let names: Vec<String> = removed.iter().map(|part| atoms.list()[*part].name.clone()).collect();
    let forbids = names.is_empty() && args.last().is_some_and(|arg| arg == NO_CONTRACTION);
    if forbids { vec!["-ffp-contract=fast".into()] } else { names }
}

/// Arguments with single flags in place of those that stand for several and make start-up code flush subnormals.
fn written_out(args: &[String], floats: &[String]) -> Vec<String> {
    let level = |arg: &String| match arg.as_str() {
        "-ffast-math" | "-funsafe-math-optimizations" => None,
        "-Ofast" => Some("-O3".to_string()),
        _ => Some(arg.clone()),
    };
    args.iter().filter_map(level).chain(floats.iter().cloned()).collect()
}
