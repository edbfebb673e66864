//! A bench as tables: the same sections on the terminal and as Markdown.
//!
//! * `section` is what a section is and how it becomes text, `sections` makes them, `compare` those
//!   that hold other measurements beside it, `cell` how numbers look in them.

mod cell;
mod compare;
mod section;
mod sections;

use super::style::Style;
use crate::bench::Grid;
use crate::model::BenchFile;

/// What to report.
#[derive(Clone, Copy, Debug)]
pub struct BenchReport<'a> {
    pub file: &'a BenchFile,
    /// Another bench, with its name.
    pub against: Option<(&'a str, &'a BenchFile)>,
    /// Every function, not only those on which strategies differ.
    pub all: bool,
}

impl BenchReport<'_> {
    /// For a file.
    pub fn markdown(&self) -> String {
        section::markdown(&format!("Bench: {}", self.file.name), &self.sections())
    }

    pub fn terminal(&self, style: Style) -> String {
        section::terminal(&self.sections(), style)
    }

    fn sections(&self) -> Vec<section::Section> {
        let grid = Grid::new(self.file);
        let parts = [
            Some(sections::setting(self.file)),
            Some(sections::tally(self.file, &grid)),
            sections::stability(&grid),
            sections::contest(&grid),
            sections::behind(&grid),
            compare::truth(&grid),
            self.against.map(|(name, other)| compare::against(&grid, name, other)),
            compare::speed(self.file, &grid),
            sections::functions(&grid, self.all),
            Some(sections::stops(&grid)),
            Some(sections::builds(self.file)),
        ];
        parts.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;
    use crate::model::TruthScore;

    fn full() -> BenchFile {
        let mut file = sample::bench();
        file.reference = Some(sample::reference());
        let score = TruthScore { true_max_bits: 60.0, covered: 0.995, filled: 0.9, density: 12.0 };
        for row in file.rows.iter_mut().filter(|row| row.function == "airy") {
            row.truth = Some(score);
        }
        file
    }

    #[test]
    fn the_markdown_has_every_section() {
        let file = full();
        let long = sample::bench();
        let report = BenchReport { file: &file, against: Some(("long.json", &long)), all: false };
        insta::assert_snapshot!(report.markdown());
    }

    #[test]
    fn the_terminal_shows_the_same_sections_within_its_width() {
        let file = full();
        let report = BenchReport { file: &file, against: None, all: true };
        let text = report.terminal(Style::PLAIN);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_strategy_and_one_seed_are_still_a_report() {
        let mut file = sample::bench();
        file.strategies.truncate(1);
        file.seeds.truncate(1);
        let text = BenchReport { file: &file, against: None, all: false }.markdown();
        assert!(text.contains("| mcmc | 2 | 2 | 2 | 3 | 28.00 |"), "{text}");
        assert!(!text.contains("Who wins") && !text.contains("Stability"), "{text}");
    }

    #[test]
    fn names_cannot_break_a_table_or_the_terminal() {
        let mut file = sample::bench();
        let hostile = "a|b\u{1b}[31m\n# c`<img src=x>";
        file.builds[0].version = hostile.into();
        file.name = hostile.into();
        let report = BenchReport { file: &file, against: Some((hostile, &file)), all: true };
        for text in [report.markdown(), report.terminal(Style::PLAIN)] {
            assert!(!text.contains('\u{1b}') && !text.contains("\n# c"), "{text}");
        }
        let text = report.markdown();
        assert!(text.contains("a\\|b") && !text.contains("<img"), "{text}");
    }

    #[test]
    fn published_rows_of_another_set_of_functions_are_not_shown_beside_it() {
        let mut file = full();
        file.functions.pop();
        let text = BenchReport { file: &file, against: None, all: false }.markdown();
        assert!(text.contains("of 4 functions, this bench is of 3") && !text.contains("| OLD"), "{text}");
    }
}
