//! Findings with one cause are one line.

use std::collections::BTreeMap;

use super::answer::narrowest;
use crate::model::{
    BuildId, CauseRow, ExplainFile, ExplainRow, FindingId, Layer, LayerRow, Standing, Suspect,
};

/// The causes of explained findings, those of most findings first. `builds` names the builds of a finding,
/// baseline and variant.
fn group<'a>(
    rows: impl Iterator<Item = (&'a FindingId, &'a ExplainRow)>,
    builds: impl Fn(&FindingId) -> Option<(BuildId, BuildId)>,
) -> Vec<CauseRow> {
    let mut causes: BTreeMap<(BuildId, BuildId, Vec<Vec<Suspect>>), CauseRow> = BTreeMap::new();
    for (id, row) in rows {
        let (Some((layer, suspects)), Some((baseline, build))) = (narrowest(row), builds(id)) else {
            continue;
        };
        let mut key = suspects.to_vec();
        key.sort();
        let cause = causes.entry((baseline.clone(), build.clone(), key)).or_insert_with(|| CauseRow {
            baseline,
            build,
            causes: suspects.to_vec(),
            text: line(row, layer),
            certain: false,
            findings: Vec::new(),
            fix: None,
        });
        // One proof is enough for the cause, whatever another finding could show.
        cause.certain |= layer.standing == Standing::Found;
        cause.findings.push(id.clone());
    }
    let mut causes: Vec<CauseRow> = causes.into_values().collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.findings.len()));
    causes
}

/// Groups all findings of a file by cause; a fix that is known stays with its cause.
pub fn regroup(file: &mut ExplainFile, builds: impl Fn(&FindingId) -> Option<(BuildId, BuildId)>) {
    let mut causes = group(file.findings.iter(), builds);
    for cause in &mut causes {
        let old = file.causes.iter().find(|old| {
            (&old.causes, &old.build, &old.baseline) == (&cause.causes, &cause.build, &cause.baseline)
        });
        cause.fix = old.and_then(|old| old.fix.clone());
    }
    file.causes = causes;
}

/// A cause in one line: what is guilty, then which flags and which pass.
fn line(row: &ExplainRow, narrowest: &LayerRow) -> String {
    let of = |layer: Layer| {
        let row = row.layers.get(&layer).filter(|row| !row.causes.is_empty())?;
        let name = |s: &Suspect| [&s.flag, &s.pass].into_iter().find(|text| !text.is_empty()).cloned();
        let set = |set: &Vec<Suspect>| set.iter().filter_map(name).collect::<Vec<_>>().join(" ");
        Some(row.causes.iter().map(set).collect::<Vec<_>>().join(" | "))
    };
    let sets: Vec<String> =
        narrowest.causes.iter().map(|set| set.iter().map(place).collect::<Vec<_>>().join(" + ")).collect();
    let what = sets.join(" | ");
    let by: Vec<String> = [of(Layer::Flags), of(Layer::Pass)].into_iter().flatten().collect();
    if by.is_empty() { what } else { format!("{what}  [{}]", by.join("; ")) }
}

fn place(suspect: &Suspect) -> String {
    let Suspect { environment, file, function, line, column, text, .. } = suspect;
    match (environment.is_empty(), *line > 0, function.is_empty()) {
        (false, ..) => environment.clone(),
        (_, true, _) => format!("{file}:{line}:{column} in {function}: {text}"),
        (_, _, false) => format!("{file}, function {function}"),
        _ => file.clone(),
    }
}
