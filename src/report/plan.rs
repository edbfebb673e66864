//! `bitrift plan`: the builds and the exact command lines, ready to be pasted into a shell.

use std::fmt::Write;

use super::number::plural;
use crate::model::{BuildId, printable};

/// A build that is planned.
pub struct PlannedBuild {
    pub id: BuildId,
    /// What its libraries mean for how it is linked.
    pub note: Option<String>,
    /// What each step makes, and its command line.
    pub steps: Vec<(String, Vec<String>)>,
}

/// One block per build; the baseline is marked. Command lines are not wrapped.
pub fn render(builds: &[PlannedBuild], baseline: &BuildId) -> String {
    let mut text = String::new();
    for PlannedBuild { id, note, steps } in builds {
        let mark = if id == baseline { "  (baseline)" } else { "" };
        let _ = writeln!(text, "{}{mark}", printable(id.as_str()));
        if let Some(note) = note {
            let _ = writeln!(text, "  # {}", printable(note));
        }
        for (what, argv) in steps {
            let words: Vec<_> = argv.iter().map(|word| quoted(word)).collect();
            let _ = writeln!(text, "  # {}\n  {}", printable(what), words.join(" "));
        }
        text.push('\n');
    }
    let steps = builds.iter().map(|build| build.steps.len()).sum();
    let _ = writeln!(text, "{}, {}", plural(builds.len(), "build"), plural(steps, "command"));
    text
}

/// A word as a POSIX shell reads it back; with control characters, as bash does.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    if printable(word) == word {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => {
                text.push('\\');
                text.push(c);
            }
            c if printable(c.encode_utf8(&mut [0; 4])).starts_with(c) => text.push(c),
            c if u32::from(c) < 0x10000 => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => {
                let _ = write!(text, "\\U{:08x}", u32::from(c));
            }
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::HOSTILE;

    #[test]
    fn command_lines_can_be_pasted() {
        let step = |what: &str, argv: &[&str]| {
            (what.to_string(), argv.iter().map(|s| s.to_string()).collect::<Vec<_>>())
        };
        let baseline = BuildId::new("gcc", "O0", "native");
        let build = |id: &BuildId, steps| PlannedBuild { id: id.clone(), note: None, steps };
        let builds = vec![
            build(&baseline, vec![step("a.c", &["gcc", "-c", "-O0", "a b.c", "-DX='1'", ""])]),
            build(&BuildId(HOSTILE.into()), vec![step(HOSTILE, &["gcc", HOSTILE, "$(rm -rf x)"])]),
        ];
        insta::assert_snapshot!(render(&builds, &baseline));
    }

    #[test]
    fn bash_reads_the_same_words_back() {
        let words = ["plain", "", "it's", "$HOME `id` \\", "a\nb\t\u{1b}[0m", "\u{202e}\u{e0001}", "\\n'\n"];
        for word in words {
            let script = format!("printf %s {}", quoted(word));
            let Ok(output) =
                std::process::Command::new("bash").env("LC_ALL", "C.UTF-8").args(["-c", &script]).output()
            else {
                return;
            };
            assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{script}");
        }
    }
}
