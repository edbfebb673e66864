//! A section of a report: a title, words, a table, words. As Markdown or for a terminal.

use crate::model::printable;
use crate::report::style::{Style, text_of, wrap};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Section {
    pub title: &'static str,
    /// Paragraphs above the table.
    pub before: Vec<String>,
    /// None: a section of words.
    pub headings: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Paragraphs below the table.
    pub after: Vec<String>,
}

/// A document with its title.
pub(super) fn markdown(title: &str, sections: &[Section]) -> String {
    let mut text = format!("# {}\n", escaped(title));
    for section in sections {
        text.push_str(&format!("\n## {}\n", section.title));
        let paragraph = |p: &String| format!("\n{}\n", escaped(p));
        text.extend(section.before.iter().map(paragraph));
        if !section.rows.is_empty() {
            let line = |cells: &[String]| {
                let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            text.push('\n');
            text.push_str(&line(&section.headings));
            text.push_str(&format!("|{}\n", "---|".repeat(section.headings.len())));
            text.extend(section.rows.iter().map(|row| line(row)));
        }
        text.extend(section.after.iter().map(paragraph));
    }
    text
}

pub(super) fn terminal(sections: &[Section], style: Style) -> String {
    let mut text = String::new();
    for (index, section) in sections.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let plain = |p: &String| wrap(&printable(&p.replace('`', "")), style.width);
        text.push_str(&format!("{}\n", section.title.to_uppercase()));
        text.extend(section.before.iter().map(plain));
        if !section.rows.is_empty() {
            let headings: Vec<String> = section.headings.iter().map(|h| printable(h)).collect();
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let mut table = style.table(&headings);
            for row in &section.rows {
                table.add_row(row.iter().map(|cell| printable(cell)));
            }
            text.push_str(&text_of(&table));
        }
        text.extend(section.after.iter().map(plain));
    }
    text
}

/// One line without what Markdown would take for the end of a cell or the start of HTML.
fn escaped(text: &str) -> String {
    let text = printable(text).replace('|', "\\|");
    let mut parts = text.split('<');
    let mut escaped = parts.next().unwrap_or_default().to_string();
    for part in parts {
        // Before a space, a digit or `=` it is only a sign.
        let plain = part.starts_with(|c: char| c.is_ascii_digit() || c == ' ' || c == '=');
        escaped.push_str(if plain { "<" } else { "&lt;" });
        escaped.push_str(part);
    }
    escaped
}
