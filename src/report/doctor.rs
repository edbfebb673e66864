//! `bitrift doctor`: what of a matrix this machine can build and run.

use comfy_table::Cell;

use super::number::plural;
use super::style::{Style, text_of};
use crate::model::printable;

/// One compiler, runner or other tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoctorRow {
    /// The build or compiler that needs it.
    pub name: String,
    /// As the matrix says.
    pub command: String,
    /// Where it was found.
    pub path: Option<String>,
    /// First line of its `--version`.
    pub version: String,
    /// Not found, and the matrix says that is fine.
    pub optional: bool,
    /// Found but not usable, in the tool's own words.
    pub problem: Option<String>,
    /// The Debian package that brings it.
    pub package: Option<String>,
}

impl DoctorRow {
    /// `ok`, `broken`, `missing`, or `skipped` for a missing optional one.
    pub fn status(&self) -> &'static str {
        match (&self.path, &self.problem) {
            (Some(_), None) => "ok",
            (Some(_), Some(_)) => "broken",
            (None, _) if self.optional => "skipped",
            (None, _) => "missing",
        }
    }
}

/// A table of the tools, and what to install.
pub fn render(rows: &[DoctorRow], style: Style) -> String {
    let mut table = style.table(&["needed by", "command", "status", "found"]);
    for row in rows {
        let found = match (&row.path, &row.problem) {
            (Some(path), None) => format!("{}\n{}", printable(path), printable(&row.version)),
            (Some(path), Some(problem)) => format!("{}\n{}", printable(path), printable(problem)),
            (None, _) => match &row.package {
                Some(package) => format!("apt-get install {}", printable(package)),
                None => "not in PATH".into(),
            },
        };
        table.add_row(vec![
            Cell::new(printable(&row.name)),
            Cell::new(printable(&row.command)),
            style.status(row.status()),
            Cell::new(found),
        ]);
    }
    let ok = rows.iter().filter(|r| r.status() == "ok").count();
    let mut text = text_of(&table);
    text.push_str(&format!("\n{ok} of {} usable\n", plural(rows.len(), "tool")));
    let mut packages: Vec<_> =
        rows.iter().filter(|r| r.path.is_none()).filter_map(|r| r.package.as_deref()).collect();
    packages.sort_unstable();
    packages.dedup();
    if !packages.is_empty() {
        text.push_str(&format!("to have them all: apt-get install {}\n", printable(&packages.join(" "))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::HOSTILE;

    #[test]
    fn every_tool_is_shown_as_found_or_with_the_package_that_brings_it() {
        let row = |name: &str, path: Option<&str>| DoctorRow {
            name: name.into(),
            command: name.into(),
            path: path.map(Into::into),
            version: "gcc (Debian 12.2.0-14) 12.2.0".into(),
            ..Default::default()
        };
        let rows = [
            row("gcc", Some("/usr/bin/gcc")),
            DoctorRow { optional: true, package: Some("clang-16".into()), ..row("clang-16", None) },
            DoctorRow { package: Some("clang-16".into()), ..row("clang++-16", None) },
            row("icx", None),
            DoctorRow { problem: Some("cannot execute: \u{1b}[2J".into()), ..row(HOSTILE, Some("/tmp/x")) },
        ];
        insta::assert_snapshot!(render(&rows, Style { width: 80, color: false, unicode: false }));
    }
}
