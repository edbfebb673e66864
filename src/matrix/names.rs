//! Names the user chose: which characters they may have, and that each is given once.

use std::collections::BTreeMap;

use super::place::{Place, Text};
use super::problem::{Problem, Problems};

const LONGEST: usize = 100;

/// Complains about a name that cannot be part of a build's or a function's id.
pub(super) fn check_name(kind: &str, name: &Text, problems: &mut Problems) {
    let text = name.as_str();
    let help = "names have letters, digits and `.`, `_`, `+`, `-`, such as `clang-16` or `O3-fast`";
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let title = format!("{text:?} cannot be the name of {article} {kind}");
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let problem = if text.is_empty() || text == "." || text == ".." {
        Problem::new(name.place, title)
    } else if text.len() > LONGEST {
        Problem::new(name.place, format!("the name of this {kind} is too long"))
            .label(format!("{} characters; at most {LONGEST} are allowed", text.chars().count()))
    } else if let Some((at, c)) = text.char_indices().find(|(_, c)| !allowed(*c)) {
        let problem =
            Problem::new(name.part(at..at + c.len_utf8()), title).label(format!("{c:?} is not allowed"));
        if c == '/' && kind == "compiler" { problem.help("a path goes into `command`") } else { problem }
    } else {
        return;
    };
    problems.add(problem.help(help));
}

/// Names given so far, each with its place.
#[derive(Default)]
pub(super) struct Unique(BTreeMap<String, Place>);

impl Unique {
    /// Notes a name, or complains that it was there before.
    pub fn add(&mut self, kind: &str, name: &str, place: Place, help: &str, problems: &mut Problems) {
        if let Some(first) = self.0.get(name) {
            let problem = Problem::new(place, format!("two {kind} are named `{name}`"))
                .label("again here")
                .also(*first, "first here");
            problems.add(if help.is_empty() { problem } else { problem.help(help) });
        } else {
            self.0.insert(name.to_owned(), place);
        }
    }
}

/// Headers are written as after `#include`, without brackets or quotes.
pub(super) fn check_headers(headers: &[Text], problems: &mut Problems) {
    for header in headers {
        let text = header.as_str();
        let bare = text.trim_matches(['<', '>', '"', ' ']);
        if bare.is_empty() || text.contains(['\n', '\r']) {
            problems.add(Problem::new(header.place, "this is no header").label("for example \"math.h\""));
        } else if bare != text || text.starts_with('#') {
            let name = bare.trim_start_matches("#include").trim_matches(['<', '>', '"', ' ']);
            let problem = Problem::new(header.place, "a header is named without brackets or quotes");
            problems.add(problem.label(format!("write \"{name}\"")));
        }
    }
}
