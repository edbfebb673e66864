//! The table of ranges: the heart of a run's report.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table, Width};

use super::cause;
use super::confirm::mark;
use super::number::{exact, interval, plural, share, worst};
use super::style::{Style, text_of, wrap};
use super::table::TableOptions;
use crate::model::{
    CampRow, ComparisonRow, FindingId, FunctionRow, RangeRow, RunFile, WithoutFlushing, WitnessRow, printable,
};

/// Divisions of the builds shown of one function.
const CAMPS: usize = 2;

/// Ranges shown of one comparison unless all are asked for: one takes a line or two per parameter.
fn shown(options: TableOptions, params: usize) -> usize {
    match (options.all, params) {
        (true, _) => usize::MAX,
        (false, 0 | 1) => 3,
        (false, _) => 1,
    }
}

/// The ranges of every function that has any; nothing when no function does.
pub(super) fn render(run: &RunFile, options: TableOptions, style: Style) -> String {
    let functions: Vec<_> = run.functions.iter().filter(|f| is_inconsistent(f)).collect();
    if functions.is_empty() {
        return String::new();
    }
    let mut table = style.table(&["function, build", "share", "mean", "max", "range, witness, results"]);
    let room = set_widths(&mut table, &functions, style);
    let mut rows = Rows { run, table, room, options, style };
    for (index, function) in functions.into_iter().enumerate() {
        if index > 0 {
            rows.table.add_row(vec![""]);
        }
        rows.add_function(function);
    }
    text_of(&rows.table)
}

/// Whether any build disagrees with the baseline on it.
pub(super) fn is_inconsistent(function: &FunctionRow) -> bool {
    function.comparisons.iter().any(differs)
}

pub(super) fn differs(comparison: &ComparisonRow) -> bool {
    !comparison.ranges.is_empty() || comparison.witness.is_some()
}

/// Fixes the columns and returns the room left for the last one. Numbers keep their columns; the
/// names take at most a third, the rest is the range's.
fn set_widths(table: &mut Table, functions: &[&FunctionRow], style: Style) -> usize {
    let names = functions.iter().map(|f| printable(&f.name).chars().count());
    let builds =
        functions.iter().flat_map(|f| &f.comparisons).map(|c| printable(&c.build).chars().count() + 2);
    let longest = names.chain(builds).max().unwrap_or(0).clamp(15, 40) + 1;
    let names = u16::try_from(longest).unwrap_or(u16::MAX).min(style.width / 3);
    let widths = [names, 7, 5, 5];
    for (index, width) in widths.into_iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            if index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    // A column's width includes its padding; one more space parts it from the next.
    let taken = widths.iter().sum::<u16>() + 4 + 1;
    usize::from(style.width.saturating_sub(taken))
}

/// The table being filled.
struct Rows<'a> {
    run: &'a RunFile,
    table: Table,
    /// Columns of the last cell.
    room: usize,
    options: TableOptions<'a>,
    style: Style,
}

impl Rows<'_> {
    fn add_function(&mut self, function: &FunctionRow) {
        let params: Vec<_> = function.params.iter().map(|p| printable(&p.name)).collect();
        let domains = function.domains.iter().zip(&params).filter(|(d, _)| !d.is_empty());
        let domains: Vec<_> = domains.map(|(d, p)| format!("{p}: {}", printable(d))).collect();
        let mut about = format!("({})", params.join(", "));
        let mut column = about.chars().count();
        for (index, domain) in domains.iter().enumerate() {
            let word = if index == 0 { " with" } else { ";" };
            // Broken between domains and not inside one.
            let fits = column + word.len() + 2 + domain.chars().count() <= self.room;
            column = if fits { column + word.len() + 1 } else { 0 } + domain.chars().count();
            about.push_str(&format!("{word}{}{domain}", if fits { " " } else { "\n" }));
        }
        let name = self.style.bold(&printable(&function.name));
        self.add(name, ["", "", ""].map(Cell::new), about);
        for comparison in function.comparisons.iter().filter(|c| differs(c)) {
            self.add_comparison(function, comparison);
        }
        let same = function.comparisons.iter().filter(|c| !differs(c)).map(|c| printable(&c.build));
        let same: Vec<_> = same.collect();
        if !same.is_empty() {
            self.add(Cell::new("  no difference"), ["", "", ""].map(Cell::new), same.join(", "));
        }
        self.add_camps(function);
    }

    /// What divides the builds, where there are more than two sides to it.
    fn add_camps(&mut self, function: &FunctionRow) {
        let mut camps: Vec<&CampRow> = function.camps.iter().filter(|c| !c.divided_by.is_empty()).collect();
        // What holds on most ranges first.
        camps.sort_by_key(|camp| std::cmp::Reverse(camp.ranges.len()));
        let shown = if self.options.all { usize::MAX } else { CAMPS };
        for camp in camps.into_iter().take(shown) {
            let ranges = plural(camp.ranges.len(), "range");
            let text = format!("{} ({ranges})", printable(&camp.divided_by));
            self.add(Cell::new("  divided"), ["", "", ""].map(Cell::new), text);
        }
    }

    fn add_comparison(&mut self, function: &FunctionRow, comparison: &ComparisonRow) {
        let mut ranges: Vec<&RangeRow> = comparison.ranges.iter().collect();
        // Most bits first; ranges of equal bits keep the order of the run.
        ranges.sort_by(|a, b| b.max_bits.total_cmp(&a.max_bits));
        let shown = shown(self.options, function.params.len());
        let stamp = if self.run.is_emulated(&comparison.build) { "\n    emulated" } else { "" };
        let build = printable(&comparison.build);
        for (index, range) in ranges.iter().take(shown).enumerate() {
            let name = if index == 0 { format!("  {build}\n") } else { String::new() };
            let stamp = if index == 0 { stamp } else { "" };
            let name = Cell::new(format!("{name}    {}{stamp}", range.category.as_str()));
            let numbers = [
                Cell::new(share(range.inconsistent, range.samples)),
                Cell::new(format!("{:.1}", range.mean_bits)),
                self.style.bits(range.max_bits),
            ];
            let lines = (0..function.params.len()).flat_map(|p| self.param_lines(function, range, p));
            let gone = (range.without_flushing == Some(WithoutFlushing::Agrees))
                .then(|| "  gone with subnormals kept (FTZ, DAZ off)".into());
            let lines = lines.chain([result_lines(&range.witness, self.room)]).chain(gone);
            let lines = lines.chain(mark(self.options.confirm, &range.id)).chain(self.cause(&range.id));
            let lines: Vec<_> = lines.collect();
            self.add(name, numbers, lines.join("\n"));
        }
        if let (true, Some(witness)) = (ranges.is_empty(), &comparison.witness) {
            let numbers = [Cell::new(""), Cell::new(""), self.style.bits(comparison.max_bits)];
            let own = FindingId::of_max(&function.name, &comparison.build);
            let about = [lone_witness(function, witness, self.room)].into_iter();
            let about = about.chain(mark(self.options.confirm, &own)).chain(self.cause(&own));
            let about: Vec<_> = about.collect();
            self.add(Cell::new(format!("  {build}{stamp}")), numbers, about.join("\n"));
        }
        if ranges.len() > shown {
            let more = plural(ranges.len() - shown, "more range");
            let run = self.options.run.map(|run| format!(" {}", printable(run))).unwrap_or_default();
            let text = format!("+ {more}: bitrift show{run} --all");
            self.add(Cell::new(""), ["", "", ""].map(Cell::new), text);
        }
    }

    /// The cause of a finding, on as many lines as it takes.
    fn cause(&self, finding: &FindingId) -> Option<String> {
        let (_, found) = self.options.explain?.cause(finding)?;
        let room = u16::try_from(self.room.saturating_sub(2)).unwrap_or(u16::MAX);
        let text = wrap(&format!("cause: {}", cause::line(found)), room);
        Some(text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
    }

    fn add(&mut self, name: Cell, numbers: [Cell; 3], about: String) {
        let mut row = vec![name];
        row.extend(numbers);
        row.push(Cell::new(about));
        self.table.add_row(row);
    }

    /// The interval of one parameter and the witness in it, on as few lines as there is room for.
    fn param_lines(&self, function: &FunctionRow, range: &RangeRow, param: usize) -> Vec<String> {
        let name = function.params.get(param).map(|p| printable(&p.name)).unwrap_or_default();
        let (Some(lo), Some(hi), Some(at)) =
            (range.lo.get(param), range.hi.get(param), range.witness.inputs.get(param))
        else {
            return vec![name];
        };
        if lo == hi {
            return vec![format!("{name} = {}", exact(lo))];
        }
        let bounds = format!("{name} in {}", interval(lo, hi));
        let fits = |line: &str| line.chars().count() <= self.room;
        // The longest exact pair has 51 characters: with room for it, witnesses line up.
        let wide = format!("{bounds:<30}  at {}", exact(at));
        if self.room >= 86 && fits(&wide) {
            return vec![wide];
        }
        let witness = format!("  at {}", exact(at));
        if fits(&witness) || at.hex() == at.dec() {
            return vec![bounds, witness];
        }
        vec![bounds, format!("  at {}", at.hex()), format!("   = {}", at.dec())]
    }
}

fn lone_witness(function: &FunctionRow, witness: &WitnessRow, room: usize) -> String {
    let inputs = function.params.iter().zip(&witness.inputs);
    let inputs = inputs.map(|(p, x)| format!("{} = {}", printable(&p.name), exact(x)));
    let lines: Vec<_> = inputs.chain([result_lines(witness, room)]).collect();
    format!("one input, in no range\n{}", lines.join("\n"))
}

fn result_lines(witness: &WitnessRow, room: usize) -> String {
    let (baseline, variant) = (witness.baseline.dec(), witness.variant.dec());
    let name = worst(witness);
    let line = format!("  {name}{baseline} -> {variant}");
    if line.chars().count() <= room { line } else { format!("  {name}{baseline}\n    -> {variant}") }
}
