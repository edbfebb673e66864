//! `bitrift doctor`: what of a matrix this machine can build and run.

use comfy_table::Cell;

use super::number::plural;
use super::style::{Style, text_of};
use crate::model::{printable, printable_lines};

/// A compiler or runner that builds need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// As the matrix says.
    pub command: String,
    /// Where it was found.
    pub path: Option<String>,
    /// First line of its `--version`.
    pub version: String,
    /// The Debian package that brings it.
    pub package: Option<String>,
}

/// How a build came out of its trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Ok,
    /// It was tried and failed, in the tool's own words.
    Broken(String),
    /// It could not be tried.
    Missing(String),
    /// It could not be tried, and the matrix says that is fine.
    Skipped(String),
}

impl Health {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Health::Ok => ("ok", ""),
            Health::Broken(why) => ("broken", why),
            Health::Missing(why) => ("missing", why),
            Health::Skipped(why) => ("skipped", why),
        }
    }
}

/// Every tool once, and every build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    pub tools: Vec<Tool>,
    /// Names with their health.
    pub builds: Vec<(String, Health)>,
}

/// The tools, the builds, and what to install.
pub fn render(checkup: &Checkup, style: Style) -> String {
    let mut table = style.table(&["tool", "found"]);
    for tool in &checkup.tools {
        let found = match (&tool.path, &tool.package) {
            (Some(path), _) if tool.version.is_empty() => printable(path),
            (Some(path), _) => format!("{}\n{}", printable(path), printable(&tool.version)),
            (None, Some(package)) => format!("no; apt-get install {}", printable(package)),
            (None, None) => "no; it is not in PATH".into(),
        };
        table.add_row([printable(&tool.command), found]);
    }
    let mut text = text_of(&table) + "\n";
    let mut table = style.table(&["build", "status", ""]);
    for (build, health) in &checkup.builds {
        let (status, why) = health.parts();
        table.add_row(vec![
            Cell::new(printable(build)),
            style.status(status),
            Cell::new(printable_lines(why)),
        ]);
    }
    text.push_str(&text_of(&table));
    let ok = checkup.builds.iter().filter(|(_, health)| *health == Health::Ok).count();
    let all = plural(checkup.builds.len(), "build");
    text.push_str(&format!("\n{ok} of {all} can be made and run on this machine\n"));
    let missing = checkup.tools.iter().filter(|tool| tool.path.is_none());
    let mut packages: Vec<_> = missing.filter_map(|tool| tool.package.as_deref()).map(printable).collect();
    packages.sort_unstable();
    packages.dedup();
    if !packages.is_empty() {
        text.push_str(&format!("to have what is missing: apt-get install {}\n", packages.join(" ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::HOSTILE;

    #[test]
    fn every_tool_is_named_once_and_every_build_has_its_health() {
        let tool = |command: &str, path: Option<&str>, package: Option<&str>| Tool {
            command: command.into(),
            path: path.map(Into::into),
            version: "gcc (Debian 12.2.0-14) 12.2.0".into(),
            package: package.map(Into::into),
        };
        let words = |text: &str| text.to_string();
        let checkup = Checkup {
            tools: vec![
                tool("gcc", Some("/usr/bin/gcc"), Some("gcc")),
                tool("clang-16", None, Some("clang-16")),
                tool("icx", None, None),
                tool(HOSTILE, Some("/tmp/x"), None),
            ],
            builds: vec![
                (words("gcc/O0/native"), Health::Ok),
                (words("gcc/bad/native"), Health::Broken(words("gcc: error: -fbad\ngcc: \u{1b}[2J"))),
                (words("clang/O0/native"), Health::Skipped(words("clang-16 not found"))),
                (words(HOSTILE), Health::Missing(words("icx not found"))),
            ],
        };
        insta::assert_snapshot!(render(&checkup, Style { width: 80, color: false, unicode: false }));
    }
}
