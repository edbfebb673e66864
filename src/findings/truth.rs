//! What is true of a function, as every input showed it: into its stored form and back.

use crate::fp::{AxisPoint, Scalar, Side};
use crate::model::{
    BuildId, BuildRow, Census, ComparisonResult, Domain, Function, FunctionResult, FunctionRow, HostRow,
    Number, Segment, TRUTH_SCHEMA, TruthCells, TruthComparison, TruthFile, TruthSegment,
};
use crate::ranges::Ladder;

/// What a truth file says beside the function.
pub struct TruthHead<'a> {
    pub lab: &'a str,
    pub host: HostRow,
    pub builds: &'a [BuildRow],
}

/// The truth file of a function whose every input was evaluated; None of any other. `row` is the
/// function's row made of the same result.
pub fn truth_file(
    head: &TruthHead<'_>,
    function: &Function,
    row: &FunctionRow,
    result: &FunctionResult,
) -> Option<TruthFile> {
    let build = |id: &BuildId| head.builds.iter().find(|b| b.id == *id).cloned();
    let swept = function.coordinates.iter().position(|p| !p.domain.is_fixed()).unwrap_or(0);
    let param = function.coordinates.get(swept)?;
    let mut baseline = None;
    let mut comparisons = Vec::new();
    for (row, ComparisonResult { census, .. }) in row.comparisons.iter().zip(&result.comparisons) {
        let Some(census) = census else { continue };
        baseline = baseline.or_else(|| build(&row.baseline));
        comparisons.push(TruthComparison {
            build: build(&row.build)?,
            inputs: census.inputs,
            inconsistent: census.inconsistent,
            max_bits: row.max_bits,
            at_max: census.at_max,
            witness: row.witness.clone(),
            cells: census.cells.len() as u64,
            cells_inconsistent: census.cells.iter().filter(|c| c.inconsistent > 0).count() as u64,
            counts: encode(census),
        });
    }
    Some(TruthFile {
        schema: TRUTH_SCHEMA.into(),
        bitrift: env!("CARGO_PKG_VERSION").into(),
        name: head.lab.into(),
        host: head.host.clone(),
        function: function.name.clone(),
        params: row.params.clone(),
        result: row.result,
        results: row.results.clone(),
        domains: row.domains.clone(),
        swept,
        segments: param.domain.segments.iter().map(|s| segment_row(param.ty, s)).collect(),
        baseline: baseline?,
        comparisons,
    })
}

fn segment_row(ty: Scalar, segment: &Segment) -> TruthSegment {
    let end = |mag| Number::new(ty, ty.at_axis(AxisPoint { side: segment.side, mag }));
    let (near, far) = (end(segment.lo), end(segment.hi));
    match segment.side {
        Side::Negative => TruthSegment { lo: far, hi: near },
        Side::Positive => TruthSegment { lo: near, hi: far },
    }
}

/// Every cell from the first to the last that holds inputs, in runs of equal words.
fn encode(census: &Census) -> Vec<TruthCells> {
    let mut sides = Vec::new();
    for side in [Side::Negative, Side::Positive] {
        let cells = || census.cells.iter().filter(move |cell| cell.side == side);
        let Some(first) = cells().next().map(|cell| cell.index) else { continue };
        let mut runs: Vec<(u64, String)> = Vec::new();
        let mut add = |count: u64, word: String| match runs.last_mut() {
            Some((many, last)) if *last == word => *many += count,
            _ => runs.push((count, word)),
        };
        let mut next = first;
        for cell in cells() {
            if cell.index > next {
                add(cell.index - next, "-".into());
            }
            add(
                1,
                match cell.inconsistent {
                    0 => "-".into(),
                    all if all == cell.inputs => "+".into(),
                    some => base36(some),
                },
            );
            next = cell.index + 1;
        }
        let words = runs.into_iter().map(|(n, word)| if n == 1 { word } else { format!("{n}*{word}") });
        sides.push(TruthCells { side, first, counts: words.collect::<Vec<_>>().join(" ") });
    }
    sides
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 {
        // A remainder of 36 is a digit.
        digits.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// Why a truth file cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the truth of {function}, at `{at}`: {message}")]
pub struct TruthError {
    pub function: String,
    pub at: String,
    pub message: String,
}

/// One side of the swept domain with its counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TruthSide {
    pub ladder: Ladder,
    pub first: u64,
    /// Inconsistent inputs of the cells from `first` on.
    pub counts: Vec<u64>,
}

/// A truth file that was understood, for one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    pub build: BuildId,
    pub inputs: u64,
    pub inconsistent: u64,
    pub max_bits: f64,
    pub(super) swept: usize,
    pub(super) ty: Scalar,
    pub(super) sides: Vec<TruthSide>,
}

impl Truth {
    /// The truths of a file, one per variant.
    pub fn read(file: &TruthFile) -> Result<Vec<Truth>, TruthError> {
        let wrong = |at: &str, message: String| TruthError {
            function: file.function.clone(),
            at: at.into(),
            message,
        };
        let ty = file.params.get(file.swept).map(|p| p.ty);
        let ty = ty.ok_or_else(|| wrong("swept", "there is no such parameter".into()))?;
        let mut segments = Vec::new();
        for row in &file.segments {
            let place = |end: Number| ty.axis(end.bits);
            let ends = place(row.lo).zip(place(row.hi)).filter(|(lo, hi)| lo.side == hi.side);
            let (lo, hi) = ends.ok_or_else(|| {
                wrong("segments", format!("{} to {} is no stretch of one side", row.lo.hex(), row.hi.hex()))
            })?;
            segments.push(Segment { side: lo.side, lo: lo.mag.min(hi.mag), hi: lo.mag.max(hi.mag) });
        }
        let domain = Domain::of(segments);
        let truth = |(index, comparison): (usize, &TruthComparison)| {
            let mut sides = Vec::new();
            for ladder in Ladder::both(ty, &domain) {
                let at = format!("comparisons[{index}].counts");
                let cells = comparison.counts.iter().find(|cells| cells.side == ladder.side());
                let cells = cells.ok_or_else(|| wrong(&at, "a side of the domain is missing".into()))?;
                let counts = decode(cells, &ladder).map_err(|message| wrong(&at, message))?;
                sides.push(TruthSide { ladder, first: cells.first, counts });
            }
            Ok(Truth {
                build: comparison.build.id.clone(),
                inputs: comparison.inputs,
                inconsistent: comparison.inconsistent,
                max_bits: comparison.max_bits,
                swept: file.swept,
                ty,
                sides,
            })
        };
        file.comparisons.iter().enumerate().map(truth).collect()
    }
}

fn decode(cells: &TruthCells, ladder: &Ladder) -> Result<Vec<u64>, String> {
    let last = ladder.cell(ladder.count() - 1);
    let room = last.saturating_sub(cells.first) + 1;
    let mut counts = Vec::new();
    for word in cells.counts.split(' ') {
        let (many, value) = word.split_once('*').unwrap_or(("1", word));
        let many = many.parse::<u64>().ok().filter(|&n| counts.len() as u64 + n <= room);
        let many = many.ok_or_else(|| format!("`{word}` reaches beyond the last cell of the domain"))?;
        for _ in 0..many {
            let (from, to) = ladder.rungs_of(cells.first + counts.len() as u64);
            let count = match value {
                "-" => Some(0),
                "+" => Some(to - from),
                digits => u64::from_str_radix(digits, 36).ok().filter(|&n| n <= to - from),
            };
            counts.push(count.ok_or_else(|| format!("`{word}` is no number of inputs of a cell"))?);
        }
    }
    Ok(counts)
}
