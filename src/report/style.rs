//! How a report may look: decided once by the command, from the terminal and `NO_COLOR`.

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

/// What the output can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns to stay within.
    pub width: u16,
    pub color: bool,
    /// Line drawing outside ASCII.
    pub unicode: bool,
}

impl Style {
    /// For pipes and files: ASCII, no colour, a fixed width so that output does not depend on where
    /// it is made.
    pub const PLAIN: Style = Style { width: 100, color: false, unicode: false };

    /// For a terminal of so many columns. `no_color`: the variable `NO_COLOR` is set and not empty.
    pub fn terminal(width: u16, no_color: bool) -> Style {
        // Below 60 columns a table is unreadable whatever is done; let the terminal wrap it.
        Style { width: width.clamp(60, 200), color: !no_color, unicode: true }
    }

    /// An empty table with these headings, in this style.
    pub(super) fn table(self, headings: &[&str]) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(self.width);
        if self.color {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        use comfy_table::TableComponent::{HeaderLines, MiddleHeaderIntersections};
        let line = if self.unicode { '─' } else { '-' };
        table.set_style(HeaderLines, line);
        table.set_style(MiddleHeaderIntersections, line);
        table.set_header(headings.iter().map(|h| self.bold(h)).collect::<Vec<_>>());
        for column in table.column_iter_mut() {
            column.set_padding((0, 1));
        }
        table
    }

    pub(super) fn bold(self, text: &str) -> Cell {
        Cell::new(text).add_attribute(Attribute::Bold)
    }

    /// Bits of inconsistency, coloured by the paper's thresholds.
    pub(super) fn bits(self, bits: f64) -> Cell {
        let cell = Cell::new(format!("{bits:.1}"));
        match bits {
            b if b > 48.0 => cell.fg(Color::Red),
            b if b > 8.0 => cell.fg(Color::Yellow),
            _ => cell,
        }
    }

    /// `built`, `failed`, `held`, ...: good, bad or in between.
    pub(super) fn status(self, status: &str) -> Cell {
        let cell = Cell::new(status);
        match status {
            "built" | "ok" | "held" | "yes" => cell.fg(Color::Green),
            "failed" | "missing" | "moved" | "NO" => cell.fg(Color::Red),
            _ => cell.fg(Color::Yellow),
        }
    }
}

/// A table as text: no spaces at the ends of lines, one newline at the end.
pub(super) fn text_of(table: &Table) -> String {
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A paragraph below a heading.
pub(super) fn indented(text: &str, width: u16) -> String {
    wrap(text, width.saturating_sub(2)).lines().map(|line| format!("  {line}\n")).collect()
}

/// Breaks a paragraph at spaces; what follows the first line is indented.
pub(super) fn wrap(text: &str, width: u16) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > usize::from(width) {
            lines.push_str("\n  ");
            column = 2;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines.push('\n');
    lines
}
