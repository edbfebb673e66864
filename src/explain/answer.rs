//! From a finding to its cause: the layers one after the other, each with what it cost. A cause that is known
//! already is recognised by trying it.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Yardstick};
use super::environment::{Ground, Look, Looker, Pair};
use super::error::ExplainError;
use super::file::{FileSet, files};
use super::flags::flags;
use super::function::functions;
use super::inquiry::Inquiry;
use super::pass::pass;
use super::scene::{Desk, Scene};
use super::statement::statements;
use super::text::{Guilt, cured};
use super::whole::Workshop;
use crate::compile::Mix;
use crate::model::{Cost, ExplainRow, Explained, FindingId, Fragility, Layer, LayerRow, Standing, Suspect};

/// A cause that was found, and how to recognise it.
pub struct Known {
    pub pair: Pair,
    pub ground: Ground,
    pub guilty: Vec<Guilt>,
    /// The findings it explains, each with what it is measured by.
    pub cases: Vec<(Case, Yardstick)>,
    /// Each alone shows the difference.
    alone: Vec<Mix>,
    /// Does not show it.
    cured: Mix,
    layers: BTreeMap<Layer, LayerRow>,
}

/// Explains findings, one after the other.
pub struct Explainer<'a> {
    pub desk: &'a Desk<'a>,
    pub workshop: &'a Workshop<'a>,
    /// Which layers are wanted; those they stand on are looked at too.
    pub layers: BTreeSet<Layer>,
    pub known: Vec<Known>,
    /// Called when a layer of a finding begins.
    pub progress: &'a dyn Fn(&FindingId, Layer),
}

/// The layers that must be looked at before others.
pub fn needed(wanted: &BTreeSet<Layer>) -> BTreeSet<Layer> {
    let before = |layer: Layer| -> &[Layer] {
        match layer {
            Layer::Environment => &[],
            Layer::File => &[Layer::Environment],
            Layer::Flags | Layer::Function => &[Layer::Environment, Layer::File],
            Layer::Statement | Layer::Pass => &[Layer::Environment, Layer::File, Layer::Function],
            Layer::Fix => &[Layer::Environment, Layer::File, Layer::Function, Layer::Statement],
        }
    };
    wanted.iter().flat_map(|&layer| before(layer).iter().copied().chain([layer])).collect()
}

/// Whether a row of an earlier time has all that is asked for. What was missing then may be there now.
pub fn is_answered(row: &ExplainRow, layers: &BTreeSet<Layer>) -> bool {
    let told = matches!(row.explained, Explained::Yes | Explained::No) && layers.is_subset(&row.asked);
    told && !(layers.contains(&Layer::Fix) && awaits_fix(row))
}

/// Whether guilty code is named and nobody has tried to mend it: patches come last, and an interrupt may come before.
fn awaits_fix(row: &ExplainRow) -> bool {
    let guilty = row.layers.get(&Layer::Function).is_some_and(|layer| !layer.causes.is_empty());
    guilty && !row.layers.contains_key(&Layer::Fix)
}

/// The layers of one finding on their way, each with its cost.
struct Rows<'e> {
    explainer: &'e Explainer<'e>,
    id: &'e FindingId,
    rows: BTreeMap<Layer, LayerRow>,
}

impl Rows<'_> {
    /// Runs a layer and notes what it spent.
    fn take<T>(
        &mut self,
        layer: Layer,
        run: impl FnOnce() -> Result<(LayerRow, T), ExplainError>,
    ) -> Result<T, ExplainError> {
        (self.explainer.progress)(self.id, layer);
        let before = self.explainer.spent();
        let (row, rest) = run()?;
        let cost = since(self.explainer.spent(), before);
        self.rows.insert(layer, LayerRow { cost, ..row });
        Ok(rest)
    }
}

/// What was spent between two moments.
pub fn since(now: Cost, before: Cost) -> Cost {
    Cost {
        compiles: now.compiles - before.compiles,
        links: now.links - before.links,
        evaluations: now.evaluations - before.evaluations,
    }
}

impl Explainer<'_> {
    pub fn spent(&self) -> Cost {
        let mut sum = self.desk.cost();
        sum += self.workshop.cost();
        sum
    }

    /// Explains one finding. Its digest is the caller's to fill in.
    pub fn explain(&mut self, pair: &Pair, case: &Case) -> Result<ExplainRow, ExplainError> {
        let (row, known) = self.layers_of(pair, case)?;
        match known {
            Recognised::Not => {}
            Recognised::Old(at, yardstick) => self.known[at].cases.push((case.clone(), yardstick)),
            Recognised::New(known) => self.known.push(*known),
        }
        Ok(row)
    }

    fn layers_of(&self, pair: &Pair, case: &Case) -> Result<(ExplainRow, Recognised), ExplainError> {
        let mut rows = Rows { explainer: self, id: &case.id, rows: BTreeMap::new() };
        let looker = Looker { desk: self.desk, workshop: self.workshop, pair, case };
        let look = rows.take(Layer::Environment, || {
            let look = looker.look()?;
            let row = match &look {
                Look::Settled(row, _) | Look::Code(_, row, _) => row.clone(),
                Look::Gone(text) | Look::Unavailable(text) => stopped(text.clone()),
            };
            Ok((row, look))
        })?;
        let (ground, fragility) = match look {
            Look::Gone(text) => return Ok((ended(Explained::Gone, text, None, rows.rows), Recognised::Not)),
            Look::Unavailable(text) => {
                return Ok((ended(Explained::Unavailable, text, None, rows.rows), Recognised::Not));
            }
            Look::Settled(_, fragility) => {
                return Ok((
                    ended(Explained::Yes, String::new(), Some(fragility), rows.rows),
                    Recognised::Not,
                ));
            }
            Look::Code(ground, _, fragility) => (*ground, fragility),
        };
        let scene =
            Scene { desk: self.desk, reference: ground.reference.clone(), variant: ground.variant.clone() };
        let inquiry = Inquiry::new(scene, case, ground.yardstick.clone());
        let before = self.spent();
        if let Some(at) = self.recognise(pair, &inquiry)? {
            let spent = since(self.spent(), before);
            return Ok((
                self.as_known(at, rows.rows, spent, fragility),
                Recognised::Old(at, ground.yardstick),
            ));
        }
        let (guilty, sets) = self.code(&inquiry, &mut rows)?;
        let explained = if sets.is_empty() { Explained::No } else { Explained::Yes };
        let reason = match explained {
            Explained::Yes => String::new(),
            _ => rows.rows.get(&Layer::File).map(|row| row.text.clone()).unwrap_or_default(),
        };
        let layers = rows.rows.clone();
        let row = ended(explained, reason, Some(fragility), rows.rows);
        if guilty.is_empty() {
            return Ok((row, Recognised::Not));
        }
        let known = Known {
            pair: pair.clone(),
            alone: guilty.iter().map(|guilt| guilt.alone(&inquiry)).collect(),
            cured: cured(&inquiry, &guilty),
            guilty,
            cases: vec![(case.clone(), ground.yardstick.clone())],
            ground,
            layers,
        };
        Ok((row, Recognised::New(Box::new(known))))
    }

    /// File, flags, function, statement and pass, as far as they are wanted.
    fn code(
        &self,
        inquiry: &Inquiry<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<(Vec<Guilt>, Vec<FileSet>), ExplainError> {
        let wanted = |layer: Layer| self.layers.contains(&layer);
        if !wanted(Layer::File) {
            return Ok((Vec::new(), Vec::new()));
        }
        let sets = rows.take(Layer::File, || files(inquiry))?;
        if sets.is_empty() {
            return Ok((Vec::new(), sets));
        }
        if wanted(Layer::Flags) {
            rows.take(Layer::Flags, || flags(inquiry, &sets))?;
        }
        let mut guilty = Vec::new();
        if wanted(Layer::Function) {
            guilty = rows.take(Layer::Function, || functions(inquiry, &sets))?;
        }
        if wanted(Layer::Statement) && !guilty.is_empty() {
            guilty = rows.take(Layer::Statement, || {
                let (row, narrow) = statements(inquiry, &guilty)?;
                Ok((checked(inquiry, row, &narrow)?, narrow))
            })?;
        }
        // Where no statement is named, the function's answer is the last: it is held to both directions too.
        if guilty.iter().any(|guilt| guilt.statements.is_none())
            && let Some(row) = rows.rows.remove(&Layer::Function)
        {
            let mut cost = row.cost;
            rows.take(Layer::Function, || Ok((checked(inquiry, row, &guilty)?, ())))?;
            if let Some(row) = rows.rows.get_mut(&Layer::Function) {
                cost += row.cost;
                row.cost = cost;
            }
        }
        if wanted(Layer::Pass) {
            rows.take(Layer::Pass, || Ok((pass(inquiry, &sets, &guilty)?, ())))?;
        }
        Ok((guilty, sets))
    }

    /// A known cause that shows this difference too, alone, and without which it is gone.
    fn recognise(&self, pair: &Pair, inquiry: &Inquiry<'_>) -> Result<Option<usize>, ExplainError> {
        for (at, known) in self.known.iter().enumerate().filter(|(_, known)| known.pair == *pair) {
            if known.ground.reference.build != inquiry.scene.reference.build
                || !inquiry.agrees(&known.cured)?
            {
                continue;
            }
            let mut all = true;
            for mix in &known.alone {
                all = all && inquiry.shows(mix)?;
            }
            if all {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The layers of a known cause, which cost nothing but trying it.
    fn as_known(
        &self,
        at: usize,
        mut rows: BTreeMap<Layer, LayerRow>,
        spent: Cost,
        fragility: Fragility,
    ) -> ExplainRow {
        let known = &self.known[at];
        for (&layer, row) in known.layers.iter().filter(|(layer, _)| **layer != Layer::Environment) {
            rows.insert(layer, LayerRow { cost: Cost::default(), ..row.clone() });
        }
        if let Some(row) = rows.get_mut(&Layer::File) {
            row.cost = spent;
            row.text = format!("{} (the cause of {})", row.text, known.cases[0].0.id);
        }
        ended(Explained::Yes, String::new(), Some(fragility), rows)
    }
}

/// What became of a finding's cause.
enum Recognised {
    Not,
    Old(usize, Yardstick),
    New(Box<Known>),
}

fn stopped(text: String) -> LayerRow {
    LayerRow { standing: Standing::Stopped, causes: Vec::new(), text, cost: Cost::default() }
}

fn ended(
    explained: Explained,
    reason: String,
    fragility: Option<Fragility>,
    layers: BTreeMap<Layer, LayerRow>,
) -> ExplainRow {
    ExplainRow { explained, reason, fragility, layers, ..ExplainRow::default() }
}

/// An answer counts as found only when the difference is gone without it too. What is left is told.
fn checked(inquiry: &Inquiry<'_>, row: LayerRow, guilty: &[Guilt]) -> Result<LayerRow, ExplainError> {
    if row.standing != Standing::Found {
        return Ok(row);
    }
    let without = cured(inquiry, guilty);
    // One that crashes or cannot be made proves nothing.
    if !inquiry.agrees(&without)? {
        let text = format!("{}; made precise alone it does not take the difference away", row.text);
        return Ok(LayerRow { standing: Standing::Likely, text, ..row });
    }
    let left = inquiry.bits(&without)?;
    let rest = if left > 0.0 { format!("; without it {left:.1} bits are left") } else { String::new() };
    Ok(LayerRow { text: row.text + &rest, ..row })
}

/// The narrowest layer of a finding that names something to blame.
pub fn narrowest(row: &ExplainRow) -> Option<(&LayerRow, &[Vec<Suspect>])> {
    let order = [Layer::Statement, Layer::Function, Layer::File, Layer::Environment];
    let named = order.iter().filter_map(|layer| row.layers.get(layer)).find(|row| !row.causes.is_empty())?;
    Some((named, &named.causes))
}
