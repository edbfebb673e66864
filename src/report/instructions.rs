//! The instructions that decide bits: which builds have them in which functions, and what of that
//! cannot show on this machine.

use std::collections::BTreeSet;

use comfy_table::{Cell, CellAlignment};

use super::number::{count, plural};
use super::style::{Style, text_of, wrap};
use super::table::TableOptions;
use crate::model::{InstructionCounts, RunFile, printable};

/// Rows shown unless all are asked for.
const ROWS: usize = 8;
/// Names shown in a cell unless all are asked for.
const NAMES: usize = 3;

/// Functions that have instructions of the same kinds in the same builds.
struct Group<'a> {
    builds: Vec<&'a str>,
    functions: Vec<&'a str>,
    /// Of each kind the fewest and the most that one of the functions has.
    counts: [(u64, u64); 4],
    by_maker: &'a BTreeSet<String>,
}

impl<'a> Group<'a> {
    fn new(build: &'a str, function: &'a str, counts: &'a InstructionCounts) -> Group<'a> {
        let InstructionCounts { fma, approximate, x87, vector_math, by_maker } = counts;
        let counts = [fma, approximate, x87, vector_math].map(|n| (*n, *n));
        Group { builds: vec![build], functions: vec![function], counts, by_maker }
    }

    /// Takes a function in if it is of the same kinds, with the same numbers when they are to be exact.
    fn takes(&mut self, new: &Group<'a>, exact: bool) -> bool {
        let pairs = || self.counts.iter().zip(&new.counts);
        let alike = pairs().all(|(a, b)| if exact { a == b } else { (a.1 > 0) == (b.1 > 0) });
        if !alike || self.by_maker != new.by_maker {
            return false;
        }
        self.functions.extend(&new.functions);
        for (old, new) in self.counts.iter_mut().zip(&new.counts) {
            *old = (old.0.min(new.0), old.1.max(new.1));
        }
        true
    }
}

/// Nothing when no function has any of them and all could be counted.
pub(super) fn render(run: &RunFile, options: TableOptions, style: Style) -> String {
    let groups = groups(run, options.all);
    let mut text = String::new();
    if !groups.is_empty() {
        text.push_str(&table(&groups, options, style));
        text.push_str(&remark(&groups, style));
    }
    for build in run.builds.iter().filter(|b| !b.unaudited.is_empty()) {
        let words =
            format!("instructions of {} not counted: {}", printable(&build.id), printable(&build.unaudited));
        text.push_str(&wrap(&words, style.width));
    }
    text
}

/// What the maker decides comes first; else in the order of the builds.
fn groups(run: &RunFile, exact: bool) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for build in &run.builds {
        let mut of_build: Vec<Group> = Vec::new();
        for (name, counts) in &build.audit {
            let new = Group::new(&build.id, name, counts);
            if !of_build.iter_mut().any(|group| group.takes(&new, exact)) {
                of_build.push(new);
            }
        }
        for new in of_build {
            let same = |g: &&mut Group| {
                (g.counts, &g.functions, g.by_maker) == (new.counts, &new.functions, new.by_maker)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.builds.extend(new.builds),
                None => groups.push(new),
            }
        }
    }
    groups.sort_by_key(|group| group.by_maker.is_empty());
    groups
}

fn table(groups: &[Group], options: TableOptions, style: Style) -> String {
    let headings = ["instructions in", "of function", "fma", "approx.", "x87", "vector calls"];
    let mut table = style.table(&headings);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let shown = if options.all { usize::MAX } else { ROWS };
    for Group { builds, functions, counts, .. } in groups.iter().take(shown) {
        let number = |(fewest, most): (u64, u64)| match most {
            0 => Cell::new(""),
            _ if fewest == most => Cell::new(count(most)),
            _ => Cell::new(format!("{}-{}", count(fewest), count(most))),
        };
        let mut row = vec![Cell::new(names(builds, options.all)), Cell::new(names(functions, options.all))];
        row.extend(counts.map(number));
        table.add_row(row);
    }
    let mut text = text_of(&table);
    if groups.len() > shown {
        let more = plural(groups.len() - shown, "more row");
        let run = options.run.map(|run| format!(" {}", printable(run))).unwrap_or_default();
        text.push_str(&format!("+ {more}: bitrift show{run} --all\n"));
    }
    text
}

fn names(names: &[&str], all: bool) -> String {
    // One name takes no more room than what would stand for it.
    let shown = if all || names.len() <= NAMES + 1 { names.len() } else { NAMES };
    let mut words: Vec<String> = names.iter().take(shown).map(|name| printable(name)).collect();
    if names.len() > shown {
        words.push(format!("{} more", names.len() - shown));
    }
    words.join(", ")
}

fn remark(groups: &[Group], style: Style) -> String {
    let by_maker: BTreeSet<String> =
        groups.iter().flat_map(|g| g.by_maker).map(|name| printable(name)).collect();
    if by_maker.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = by_maker.iter().map(String::as_str).collect();
    let (give, they) = if names.len() == 1 { ("gives", "it changes") } else { ("give", "they change") };
    let words = format!(
        "{} {give} different bits on processors of other makers: what {they} cannot be seen on this machine alone",
        names.join(", ")
    );
    wrap(&words, style.width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const NARROW: Style = Style { width: 80, color: false, unicode: false };

    fn counts(fma: u64, approximate: u64, x87: u64, by_maker: &[&str]) -> InstructionCounts {
        let by_maker = by_maker.iter().map(ToString::to_string).collect();
        InstructionCounts { fma, approximate, x87, vector_math: fma / 10, by_maker }
    }

    #[test]
    fn a_run_without_such_instructions_has_no_section() {
        assert_eq!(render(&sample::run(), TableOptions::default(), NARROW), "");
    }

    #[test]
    fn what_the_maker_decides_comes_first_and_is_named() {
        let mut run = sample::run();
        let functions = ["airy_ai", "kahan_sum", "log_sum_exp", "lone", "quadratic_root"];
        for build in [1, 3] {
            run.builds[build].audit = functions.map(|f| (f.to_string(), counts(12, 0, 0, &[]))).into();
        }
        run.builds[2].audit = [
            (sample::HOSTILE.to_string(), counts(0, 2, 0, &["rcpss", "rsqrtss"])),
            ("lone".to_string(), counts(0, 0, 1234, &[])),
        ]
        .into();
        run.builds[0].unaudited = "objdump not found; Debian package binutils".into();
        let text = render(&run, TableOptions::default(), NARROW);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn functions_of_one_kind_share_a_row_unless_all_is_asked_for() {
        let mut run = sample::run();
        run.builds[0].audit = (0..20).map(|n| (format!("f{n:02}"), counts(1 + n / 3, 0, 0, &[]))).collect();
        let text = render(&run, TableOptions::default(), NARROW);
        assert!(text.contains("f00, f01, f02, 17 more") && text.contains(" 1-7"), "{text}");
        let all = render(&run, TableOptions { all: true, ..TableOptions::default() }, NARROW);
        assert!((0..20).all(|n| all.contains(&format!("f{n:02}"))) && !all.contains("more"), "{all}");
        assert!(all.contains("f18, f19"), "{all}");
    }

    #[test]
    fn what_is_left_out_says_how_to_see_it() {
        let mut run = sample::run();
        for (n, build) in (1u64..).zip(&mut run.builds) {
            build.audit =
                [("f".to_string(), counts(n, 0, 0, &[])), ("g".to_string(), counts(0, 0, n, &[]))].into();
        }
        let text = render(&run, TableOptions { run: Some("7"), ..TableOptions::default() }, NARROW);
        assert!(text.ends_with("+ 6 more rows: bitrift show 7 --all\n"), "{text}");
    }
}
