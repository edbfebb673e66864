//! Why findings differ, as far as that was found out: causes, safe sets of flags, what is open.

use std::collections::BTreeMap;

use serde::Serialize;

use super::value::bits;
use crate::model::{
    CauseRow, ExplainFile, ExplainRow, Explained, FindingId, FixRow, Layer, RunFile, SafeRow, Standing,
    Suspect,
};
use crate::report::Material;
use crate::report::cause::{explained_word, fix_words, layer, named, spent};
use crate::report::plan::quoted;

/// What the page needs at once.
#[derive(Debug, Serialize)]
pub(super) struct Why<'a> {
    causes: Vec<CauseData<'a>>,
    open: Vec<OpenData<'a>>,
    safe: Vec<SafeData<'a>>,
}

#[derive(Debug, Serialize)]
struct CauseData<'a> {
    build: &'a str,
    certain: bool,
    /// Each is enough; the parts of one are needed together.
    sets: &'a [Vec<Suspect>],
    line: &'a str,
    flags: Vec<String>,
    pass: Vec<String>,
    /// What the environment has to do with it, in words.
    because: &'a str,
    findings: Vec<Spot<'a>>,
    fragile: usize,
    fix: Option<FixData<'a>>,
}

/// Where a finding is on the page.
#[derive(Clone, Debug, Serialize)]
struct Spot<'a> {
    /// The place of its function.
    f: usize,
    build: &'a str,
    /// The number of its range, 0 for the one input in no range.
    range: usize,
    bits: f64,
}

#[derive(Debug, Serialize)]
struct FixData<'a> {
    words: String,
    patch: &'a str,
}

#[derive(Debug, Serialize)]
struct OpenData<'a> {
    at: Spot<'a>,
    word: &'static str,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct SafeData<'a> {
    build: &'a str,
    limit: f64,
    /// As a shell takes them.
    args: String,
    kept: &'a [String],
    given: &'a [String],
    within: usize,
    of: usize,
    ns: Option<[f64; 3]>,
    cost: String,
}

/// What a function's block says of one finding.
#[derive(Debug, Serialize)]
pub(super) struct FindingWhy<'a> {
    /// The place of its cause in the list of causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<usize>,
    /// How it ended and why, where there is no cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<(&'static str, &'a str)>,
    fragile: bool,
    layers: Vec<LayerData<'a>>,
}

#[derive(Debug, Serialize)]
struct LayerData<'a> {
    layer: Layer,
    standing: Standing,
    text: &'a str,
    cost: String,
}

impl<'a> Why<'a> {
    pub(super) fn new(material: &'a Material) -> Option<Why<'a>> {
        let file = material.explain.as_ref()?;
        let spots = spots(&material.run);
        let open = file.findings.iter().filter(|(_, row)| row.explained != Explained::Yes);
        let open = open.filter_map(|(id, row)| {
            let at = spots.get(id)?.clone();
            Some(OpenData { at, word: explained_word(row.explained), reason: &row.reason })
        });
        Some(Why {
            causes: file.causes.iter().map(|cause| cause_data(file, cause, &spots)).collect(),
            open: open.collect(),
            safe: file.safe.iter().map(safe_data).collect(),
        })
    }
}

impl<'a> FindingWhy<'a> {
    pub(super) fn new(file: &'a ExplainFile, id: &FindingId) -> Option<FindingWhy<'a>> {
        let row = file.findings.get(id)?;
        let cause = file.cause(id).map(|(index, _)| index);
        let layers = row.layers.iter().map(|(layer, answer)| LayerData {
            layer: *layer,
            standing: answer.standing,
            text: &answer.text,
            cost: spent(answer.cost),
        });
        let open = cause.is_none().then(|| (explained_word(row.explained), row.reason.as_str()));
        Some(FindingWhy { cause, open, fragile: is_fragile(row), layers: layers.collect() })
    }
}

fn is_fragile(row: &ExplainRow) -> bool {
    row.fragility.as_ref().is_some_and(|fragility| fragility.ill_conditioned)
}

/// Every finding of a run by its id.
fn spots(run: &RunFile) -> BTreeMap<FindingId, Spot<'_>> {
    let mut spots = BTreeMap::new();
    for (f, function) in run.functions.iter().enumerate() {
        for comparison in &function.comparisons {
            let spot =
                |range: usize, most: f64| Spot { f, build: &comparison.build, range, bits: bits(most) };
            for (index, range) in comparison.ranges.iter().enumerate() {
                spots.insert(range.id.clone(), spot(index + 1, range.max_bits));
            }
            let own = FindingId::of_max(&function.name, &comparison.build);
            spots.insert(own, spot(0, comparison.max_bits));
        }
    }
    spots
}

fn cause_data<'a>(
    file: &'a ExplainFile,
    cause: &'a CauseRow,
    spots: &BTreeMap<FindingId, Spot<'a>>,
) -> CauseData<'a> {
    let environment = layer(file, cause, Layer::Environment).filter(|row| !row.causes.is_empty());
    let fragile = |id: &&FindingId| file.findings.get(*id).is_some_and(is_fragile);
    let fix = |fix: &'a FixRow| FixData { words: fix_words(fix), patch: &fix.patch };
    CauseData {
        build: &cause.build,
        certain: cause.certain,
        sets: &cause.causes,
        line: &cause.text,
        flags: named(file, cause, Layer::Flags),
        pass: named(file, cause, Layer::Pass),
        because: environment.map_or("", |row| &row.text),
        findings: cause.findings.iter().filter_map(|id| spots.get(id).cloned()).collect(),
        fragile: cause.findings.iter().filter(fragile).count(),
        fix: cause.fix.as_ref().map(fix),
    }
}

fn safe_data(safe: &SafeRow) -> SafeData<'_> {
    let args: Vec<String> = safe.args.iter().map(|arg| quoted(arg)).collect();
    SafeData {
        build: &safe.build,
        limit: safe.limit,
        args: args.join(" "),
        kept: &safe.kept,
        given: &safe.given_up,
        within: safe.within,
        of: safe.of,
        ns: safe.ns,
        cost: spent(safe.cost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn causes_know_where_their_findings_are_on_the_page() {
        let material = sample::material();
        let why = Why::new(&material).unwrap();
        let spots: Vec<_> = why.causes[0].findings.iter().map(|s| (s.f, s.range, s.bits)).collect();
        assert_eq!(spots, [(0, 1, 63.16), (0, 2, 1.0)]);
        assert_eq!((why.open[0].at.f, why.open[0].word), (6, "unavailable"));
        assert_eq!(why.safe[0].args, "-O3 -fno-math-errno '-DNAME=a b'");
    }

    #[test]
    fn a_finding_has_its_cause_or_the_reason_why_not() {
        let file = sample::material().explain.unwrap();
        let with = FindingWhy::new(&file, &"quadratic_root#gcc/O3-fast/native.1".parse().unwrap()).unwrap();
        assert_eq!((with.cause, with.open, with.layers.len()), (Some(1), None, 1));
        let id = FindingId::of_range(sample::HOSTILE, &sample::HOSTILE.into(), 0);
        let without = FindingWhy::new(&file, &id).unwrap();
        assert!(without.cause.is_none() && without.open.unwrap().1.starts_with("no such build"));
        assert!(FindingWhy::new(&file, &"lone#gcc/O3-fast/native.max".parse().unwrap()).is_none());
    }
}
