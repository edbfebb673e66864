//! `bitrift doctor`: what of a matrix this machine can build and run.

use comfy_table::Cell;

use super::number::plural;
use super::style::{Style, text_of};
use crate::lab::{Checkup, FailedCall, Health};
use crate::model::{printable, printable_lines};

/// A health in a word, and why.
fn parts(health: &Health) -> (&'static str, &str) {
    match health {
        Health::Ok => ("ok", ""),
        Health::Broken(why) => ("broken", why),
        Health::Missing(why) => ("missing", why),
        Health::Skipped(why) => ("skipped", why),
    }
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
        let (status, why) = parts(health);
        table.add_row(vec![
            Cell::new(printable(build.as_str())),
            style.status(status),
            Cell::new(printable_lines(why)),
        ]);
    }
    text.push_str(&text_of(&table));
    let ok = checkup.builds.iter().filter(|(_, health)| *health == Health::Ok).count();
    let all = plural(checkup.builds.len(), "build");
    text.push_str(&format!("\n{ok} of {all} can be made and run on this machine\n"));
    text.push_str(&functions(checkup, style));
    text.push_str(&sandbox(checkup, style));
    let missing = checkup.tools.iter().filter(|tool| tool.path.is_none());
    let mut packages: Vec<_> = missing.filter_map(|tool| tool.package.as_deref()).map(printable).collect();
    packages.sort_unstable();
    packages.dedup();
    if !packages.is_empty() {
        text.push_str(&format!("to have what is missing: apt-get install {}\n", packages.join(" ")));
    }
    checkup.notes.iter().for_each(|note| text.push_str(&format!("note: {}\n", printable(note))));
    text
}

/// What does not work and should, and how to mend it; None where all works that the matrix cannot do without.
pub fn shortfall(checkup: &Checkup) -> Option<String> {
    let (builds, calls) = (checkup.wanting().count(), checkup.failed.len());
    let mut parts = Vec::new();
    if builds > 0 {
        parts.push(format!(
            "{} cannot be made or run (install what is missing, mend the flags, or say `optional = true` of a compiler, target \
             or environment)",
            plural(builds, "build")
        ));
    }
    if calls > 0 {
        parts.push(format!(
            "{} of functions failed (mend the sources, or the `signature` or `domain` of the function)",
            plural(calls, "trial")
        ));
    }
    (!parts.is_empty()).then(|| format!("not all of the matrix works on this machine: {}", parts.join("; ")))
}

/// What holds code under test here, and what does not.
fn sandbox(checkup: &Checkup, style: Style) -> String {
    if checkup.sandbox.is_empty() {
        return "nothing confines compilers and code under test (--no-sandbox)\n".into();
    }
    let mut table = style.table(&["code under test", "held by"]);
    for promise in &checkup.sandbox {
        let held = promise.by.clone().unwrap_or_else(|| format!("nothing: it can {}", promise.otherwise));
        table.add_row([promise.holds.to_string(), held]);
    }
    format!("\n{}\n", text_of(&table))
}

/// The functions that cannot be called, and how many can.
fn functions(checkup: &Checkup, style: Style) -> String {
    let mut table = style.table(&["function", "build", "why it gives no value"]);
    // One reason that several builds share is said once.
    let mut reasons: Vec<(&Option<String>, &str, Vec<String>)> = Vec::new();
    for FailedCall { function, build, why } in &checkup.failed {
        let build = printable(build.as_str());
        match reasons.iter_mut().find(|(of, known, _)| *of == function && known == why) {
            Some((_, _, builds)) => builds.push(build),
            None => reasons.push((function, why, vec![build])),
        }
    }
    for (function, why, builds) in reasons {
        let function = function.as_ref().map_or_else(|| "all: the sources".into(), |name| printable(name));
        table.add_row([function, builds.join("\n"), printable_lines(why)]);
    }
    let mut text = if table.is_empty() { String::new() } else { format!("\n{}\n", text_of(&table)) };
    if checkup.calls > 0 {
        let calls = plural(checkup.calls, "call");
        text.push_str(&format!(
            "{} of {calls}, one of each function in each build, gave a value\n",
            checkup.answered
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Promise, Tool};
    use crate::model::BuildId;
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
        let build = |name: &str| BuildId(name.into());
        let checkup = Checkup {
            tools: vec![
                tool("gcc", Some("/usr/bin/gcc"), Some("gcc")),
                tool("clang-16", None, Some("clang-16")),
                tool("icx", None, None),
                tool(HOSTILE, Some("/tmp/x"), None),
            ],
            builds: vec![
                (build("gcc/O0/native"), Health::Ok),
                (build("gcc/bad/native"), Health::Broken(words("gcc: error: -fbad\ngcc: \u{1b}[2J"))),
                (build("clang/O0/native"), Health::Skipped(words("clang-16 not found"))),
                (build(HOSTILE), Health::Missing(words("icx not found"))),
            ],
            optional: Default::default(),
            calls: 3,
            answered: 2,
            failed: vec![FailedCall {
                function: Some(HOSTILE.into()),
                build: build("gcc/O0/native"),
                why: words("SIGFPE at n = 0"),
            }],
            sandbox: vec![
                Promise { holds: "sees no others", otherwise: "see others", by: Some(words("namespaces")) },
                Promise { holds: "reads no files", otherwise: "read files", by: None },
            ],
            notes: vec![words("the same machine code in gcc/O2/native, gcc/O3/native: `f`")],
        };
        insta::assert_snapshot!(render(&checkup, Style { width: 80, color: false, unicode: false }));
    }
}
