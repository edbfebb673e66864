//! A patch that makes the findings of a cause go away, by the narrowest pragma or attribute; tried on every one
//! of them before it is offered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::answer::{Explainer, Known, since};
use super::case::Trial;
use super::error::ExplainError;
use super::file::shown;
use super::scene::{Desk, Scene};
use crate::c::{Remedy, Source, unified_diff};
use crate::compile::Part;
use crate::model::{BuiltObject, Cost, ExplainFile, FixRow, Layer, LayerRow, Sources, Standing};

/// A patch that was tried, with what its speed can be measured on.
pub struct Fixed {
    pub row: FixRow,
    pub variant: BuiltObject,
    pub object: BuiltObject,
}

/// Puts a patch for every cause that an explainer found into the file. `time` measures a call of a function without a
/// patch and with it; `keep` has the file after each of them.
pub fn fix_all<E: From<ExplainError>>(
    explainer: &Explainer<'_>,
    file: &mut ExplainFile,
    time: impl Fn(usize, &Fixed) -> Result<Option<(f64, f64)>, E>,
    keep: impl Fn(&ExplainFile) -> Result<(), E>,
) -> Result<(), E> {
    for known in &explainer.known {
        let Some(first) = known.cases.first().map(|(case, _)| case) else { continue };
        (explainer.progress)(&first.id, Layer::Fix);
        let before = explainer.spent();
        let fixed = fix(explainer.desk, known)?;
        let cost = since(explainer.spent(), before);
        let ns = fixed.as_ref().ok().map(|fixed| time(first.function, fixed)).transpose()?.flatten();
        let (standing, text) = match &fixed {
            Ok(fixed) => (Standing::Found, fixed.row.what.clone()),
            Err(why) => (Standing::Stopped, why.clone()),
        };
        let layer = LayerRow { standing, causes: Vec::new(), text, cost };
        for (case, _) in &known.cases {
            let cost = if case.id == first.id { cost } else { Cost::default() };
            if let Some(row) = file.findings.get_mut(&case.id) {
                row.layers.insert(Layer::Fix, LayerRow { cost, ..layer.clone() });
            }
        }
        let cause = file.causes.iter_mut().find(|cause| cause.findings.contains(&first.id));
        if let (Some(cause), Ok(fixed)) = (cause, fixed) {
            cause.fix = Some(FixRow { ns, ..fixed.row });
        }
        keep(file)?;
    }
    Ok(())
}

/// The outer error ends everything, the inner one says why there is no patch.
fn fix(desk: &Desk<'_>, known: &Known) -> Result<Result<Fixed, String>, ExplainError> {
    let mut why = String::new();
    // No more is forbidden than has to be.
    for remedy in Remedy::ALL {
        match attempt(desk, known, remedy)? {
            Ok(fixed) if fixed.row.cured == fixed.row.of => return Ok(Ok(fixed)),
            Ok(fixed) if remedy == Remedy::WithoutBuiltins && fixed.row.cured > 0 => return Ok(Ok(fixed)),
            Ok(_) => why = "the narrowest pragma or attribute does not take the difference away".into(),
            Err(words) => why = words,
        }
    }
    Ok(Err(why))
}

fn attempt(desk: &Desk<'_>, known: &Known, remedy: Remedy) -> Result<Result<Fixed, String>, ExplainError> {
    let ground = &known.ground;
    let scene = Scene { desk, reference: ground.reference.clone(), variant: ground.variant.clone() };
    let (texts, what) = match texts(scene.sources(), known, remedy) {
        Ok(texts) => texts,
        Err(why) => return Ok(Err(why)),
    };
    let mut mix = scene.guilty();
    let mut patch = String::new();
    for (&file, (before, after)) in &texts {
        mix.sources[file] = Part { text: Some(Arc::from(after.as_str())), ..Part::of(&ground.variant.build) };
        patch.push_str(&unified_diff(&shown(&scene, file), before, after));
    }
    let (object, variant) = match (scene.object(&mix)?, scene.object(&scene.guilty())?) {
        (Ok(object), Ok(variant)) => (object, variant),
        (Err(words), _) | (_, Err(words)) => {
            return Ok(Err(format!("the patched source does not build: {words}")));
        }
    };
    let mut cured = 0;
    for (case, yardstick) in &known.cases {
        cured += usize::from(scene.try_mix(&mix, case, yardstick)? == Trial::Agrees);
    }
    let row = FixRow { patch, what, cured, of: known.cases.len(), ns: None };
    Ok(Ok(Fixed { row, variant, object }))
}

/// The files before and after, and what was done to them.
type PatchTexts = (BTreeMap<usize, (String, String)>, String);

fn texts(sources: &Sources, known: &Known, remedy: Remedy) -> Result<PatchTexts, String> {
    let mut wanted: BTreeMap<usize, BTreeMap<usize, BTreeSet<usize>>> = BTreeMap::new();
    for guilt in &known.guilty {
        for &(file, function) in &guilt.functions {
            wanted.entry(file).or_default().entry(function).or_default();
        }
        for &(file, function, statement) in guilt.statements.iter().flatten() {
            wanted.entry(file).or_default().entry(function).or_default().insert(statement);
        }
    }
    let (mut texts, mut done) = (BTreeMap::new(), Vec::new());
    for (file, functions) in wanted {
        let parsed = known.guilty.iter().find_map(|g| Some((g.texts.files.get(&file)?, g.texts.dialect)));
        let (parsed, dialect) = parsed.ok_or("a file that was not taken apart")?;
        let before = std::fs::read_to_string(&sources.files[file]).map_err(|e| e.to_string())?;
        let own = Source::new(&before);
        let mut after = before.clone();
        // From the end, so that the functions before keep their places.
        for (function, statements) in functions.into_iter().rev() {
            let name = &parsed.functions()[function].name;
            // In the text with its includes in place a function may have another number.
            let number = own.functions().iter().position(|f| f.name == *name && f.obstacle.is_none());
            let same = number.filter(|&n| {
                own.functions()[n].statements.len() == parsed.functions()[function].statements.len()
            });
            let number =
                same.ok_or_else(|| format!("{name} stands in a file that is included: no patch is made"))?;
            let fixed = Source::new(&after).fixed(dialect, number, &statements, remedy);
            let fixed = fixed.ok_or_else(|| format!("{name} cannot be patched"))?;
            after = fixed.text;
            done.push(fixed.what);
        }
        texts.insert(file, (before, after));
    }
    Ok((texts, done.join("; ")))
}
