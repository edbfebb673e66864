//! The first layer: is the difference there, and is it in the code at all? Flushing of subnormals, the
//! mathematics library, rounding, the target and the input itself are asked first.

use std::sync::Arc;

use super::case::{Case, Gap, Trial, Yardstick};
use super::error::ExplainError;
use super::fragile::fragility;
use super::reference::reference;
use super::scene::{Desk, Side};
use super::whole::Workshop;
use crate::model::{Build, Environment, Fragility, FunctionStatus, LayerRow, Standing, Suspect, Whole};

/// Two builds between which there are findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub baseline: Build,
    pub variant: Build,
}

/// What the code's part in a difference is measured on.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Agrees with the baseline and can be mixed with the variant.
    pub reference: Arc<Side>,
    pub variant: Arc<Side>,
    pub yardstick: Yardstick,
}

/// How the first look ended. The row's cost is the caller's to fill in.
#[derive(Debug)]
pub enum Look {
    /// The builds no longer differ as stored.
    Gone(String),
    /// A build is not there, or not with this function.
    Unavailable(String),
    /// Not the code: the layer has the answer.
    Settled(LayerRow, Fragility),
    /// The code: the other layers can go on.
    Code(Box<Ground>, LayerRow, Fragility),
}

/// What looking takes.
pub struct Looker<'a> {
    pub desk: &'a Desk<'a>,
    pub workshop: &'a Workshop<'a>,
    pub pair: &'a Pair,
    pub case: &'a Case,
}

impl Looker<'_> {
    pub fn look(&self) -> Result<Look, ExplainError> {
        let (baseline, variant) = match (self.side(&self.pair.baseline)?, self.side(&self.pair.variant)?) {
            (Ok(baseline), Ok(variant)) => (baseline, variant),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Look::Unavailable(reason)),
        };
        let answers = [self.ask(&baseline)?, self.ask(&variant)?];
        let Some(gap) = self.case.gap(&answers[0], &answers[1]).filter(|gap| gap.is_there()) else {
            return Ok(Look::Gone(self.gone(&answers)));
        };
        let fragility = fragility(self.desk, &baseline.object, self.case, &answers[0], gap)?;
        if let Some(row) = self.implementations() {
            return Ok(Look::Settled(row, fragility));
        }
        let mut words = Vec::new();
        if let Some(row) = self.flushing(&baseline, &variant, gap, &mut words)? {
            return Ok(Look::Settled(row, fragility));
        }
        let (baseline, variant) = (calm(&baseline), calm(&variant));
        let answer = self.ask(&baseline)?;
        let gap = self.case.gap(&answer, &self.ask(&variant)?).unwrap_or(gap);
        let yardstick = Yardstick { baseline: answer, gap };
        if let Some(row) = self.surroundings(&yardstick)? {
            return Ok(Look::Settled(row, fragility));
        }
        let Some((reference, how)) = reference(self, (&baseline, &variant), &yardstick)? else {
            return Ok(Look::Settled(self.beyond(), fragility));
        };
        words.extend(how);
        words.extend(self.plainly()?);
        words.push(sentence(&fragility));
        let row = row(Standing::Nothing, Vec::new(), words.join("; "));
        Ok(Look::Code(Box::new(Ground { reference, variant, yardstick }), row, fragility))
    }

    /// The answer when the two builds are not of the same code: then nothing of it can be mixed.
    fn implementations(&self) -> Option<LayerRow> {
        let Pair { baseline, variant } = self.pair;
        if baseline.implementation == variant.implementation {
            return None;
        }
        let of = |build: &Build| self.desk.experiment.implementation(build).shown().to_owned();
        let text = format!("the implementations differ: {} and {}", of(baseline), of(variant));
        Some(row(Standing::Found, vec![vec![suspect("implementation")]], text))
    }

    /// A build with this function, or why there is none.
    fn side(&self, build: &Build) -> Result<Result<Arc<Side>, String>, ExplainError> {
        Ok(match self.workshop.make(build)? {
            Err(reason) => Err(format!("{}: {reason}", build.id)),
            Ok(side) => match side.object.functions.get(self.case.function) {
                Some(FunctionStatus::Missing { message }) => Err(format!("{}: {message}", build.id)),
                _ => Ok(side),
            },
        })
    }

    fn ask(&self, side: &Side) -> Result<Whole, ExplainError> {
        self.desk.ask(&side.object, self.case.function, &self.case.inputs)
    }

    /// Whether a build shows the difference; one that cannot be made or asked does not.
    pub fn shows(&self, build: &Build, by: &Yardstick) -> Result<Option<bool>, ExplainError> {
        let Ok(side) = self.side(build)? else { return Ok(None) };
        match by.judge(self.case, &self.ask(&calm(&side))?) {
            Trial::Shows => Ok(Some(true)),
            Trial::Agrees => Ok(Some(false)),
            Trial::Fault(_) | Trial::Unmade(_) => Ok(None),
        }
    }

    pub fn make(&self, build: &Build) -> Result<Option<Arc<Side>>, ExplainError> {
        Ok(self.side(build)?.ok().map(|side| calm(&side)))
    }

    fn gone(&self, answers: &[Whole; 2]) -> String {
        let text = |whole: &Whole| {
            let answers = self.case.results.answers(whole.returned());
            answers.iter().map(|answer| answer.dec()).collect::<Vec<_>>().join(", ")
        };
        let [baseline, variant] = answers.each_ref().map(text);
        format!("the difference is gone: the baseline now answers {baseline}, the variant {variant}")
    }

    /// The answer when keeping subnormals takes the difference away, or most of it.
    fn flushing(
        &self,
        baseline: &Arc<Side>,
        variant: &Arc<Side>,
        gap: Gap,
        words: &mut Vec<String>,
    ) -> Result<Option<LayerRow>, ExplainError> {
        if !baseline.object.control.flushes() && !variant.object.control.flushes() {
            return Ok(None);
        }
        let answers = [self.ask(&calm(baseline))?, self.ask(&calm(variant))?];
        let before = Yardstick { baseline: answers[0].clone(), gap };
        if before.judge(self.case, &answers[1]) == Trial::Shows {
            words.push("it stays with subnormals kept".into());
            return Ok(None);
        }
        let left = self.case.gap(&answers[0], &answers[1]).map_or(0.0, |gap| gap.bits);
        let rest = if left > 0.0 { format!(" ({left:.1} bits are left)") } else { String::new() };
        let who =
            if variant.object.control.flushes() { &self.pair.variant.id } else { &self.pair.baseline.id };
        let text = format!("{who} flushes subnormals to zero; with subnormals kept the builds agree{rest}");
        Ok(Some(row(Standing::Found, vec![vec![suspect("flushing")]], text)))
    }

    /// The answer when the difference comes from what the code runs in.
    fn surroundings(&self, by: &Yardstick) -> Result<Option<LayerRow>, ExplainError> {
        let Pair { baseline, variant } = self.pair;
        if baseline.target != variant.target {
            return Ok(None);
        }
        let parts = differing(&baseline.environment, &variant.environment);
        let with = |names: &[&str]| {
            let mut build = variant.clone();
            names.iter().for_each(|name| adopt(&mut build.environment, &baseline.environment, name));
            build
        };
        if parts.is_empty() || self.shows(&with(&parts), by)? != Some(false) {
            return Ok(None);
        }
        let mut alone = Vec::new();
        for part in &parts {
            if self.shows(&with(&[part]), by)? == Some(false) {
                alone.push(*part);
            }
        }
        let guilty =
            if alone.is_empty() { vec![parts] } else { alone.into_iter().map(|part| vec![part]).collect() };
        let names: Vec<String> = guilty.iter().map(|set| set.join(" and ")).collect();
        let text = format!(
            "with the baseline's {} the variant's own code agrees: not the compiler",
            names.join(", or its ")
        );
        let causes = guilty.into_iter().map(|set| set.into_iter().map(suspect).collect()).collect();
        Ok(Some(row(Standing::Found, causes, text)))
    }

    /// No mixture of flags of the variant's compiler agrees with the baseline.
    fn beyond(&self) -> LayerRow {
        let Pair { baseline, variant } = self.pair;
        let what = if baseline.target == variant.target { "compiler" } else { "target" };
        let text = format!(
            "{} differs from {} with every set of flags that was tried: its arithmetic or its libraries are \
             others, and objects of the two cannot be mixed",
            variant.id, baseline.id
        );
        row(Standing::Likely, vec![vec![suspect(what)]], text)
    }

    /// What executables without anything that makes code loadable say.
    fn plainly(&self) -> Result<Option<String>, ExplainError> {
        let Pair { baseline, variant } = self.pair;
        let (Ok(a), Ok(b)) = (self.side(&baseline.plainly())?, self.side(&variant.plainly())?) else {
            return Ok(Some("plain executables could not be made".into()));
        };
        let gap = self.case.gap(&self.ask(&a)?, &self.ask(&b)?);
        Ok(Some(match gap.is_some_and(|gap| gap.is_there()) {
            true => "plain executables differ too".into(),
            false => "plain executables agree: -fPIC has a part in it".into(),
        }))
    }
}

/// The same code with subnormals kept.
pub fn calm(side: &Arc<Side>) -> Arc<Side> {
    match side.object.unflushed() {
        Some(object) => Arc::new(Side { build: side.build.clone(), object }),
        None => side.clone(),
    }
}

pub fn row(standing: Standing, causes: Vec<Vec<Suspect>>, text: String) -> LayerRow {
    LayerRow { standing, causes, text, cost: Default::default() }
}

fn suspect(name: &str) -> Suspect {
    Suspect { environment: name.into(), ..Suspect::default() }
}

/// The parts of two environments that differ and can be exchanged.
fn differing(a: &Environment, b: &Environment) -> Vec<&'static str> {
    let parts = [
        ("libm", a.libm != b.libm),
        ("tunables", a.tunables != b.tunables),
        ("rounding", a.rounding != b.rounding),
        ("precision", a.precision != b.precision),
    ];
    parts.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

fn adopt(environment: &mut Environment, from: &Environment, part: &str) {
    match part {
        "libm" => environment.libm = from.libm.clone(),
        "tunables" => environment.tunables = from.tunables.clone(),
        "rounding" => environment.rounding = from.rounding,
        _ => environment.precision = from.precision,
    }
}

fn sentence(fragility: &Fragility) -> String {
    let Fragility { neighbour_bits, bits, ill_conditioned } = fragility;
    match ill_conditioned {
        true => format!(
            "ill-conditioned: one ulp of the input moves the baseline itself by {neighbour_bits:.1} bits, the builds \
             are {bits:.1} apart"
        ),
        false => format!(
            "not the input: one ulp of it moves the baseline by {neighbour_bits:.1} bits, the builds are {bits:.1} apart"
        ),
    }
}
