//! A problem of a matrix and its rendering: file, line, column, the text, what was expected.

use std::collections::BTreeSet;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::place::{Place, SourceFile, Text};
use crate::model::{nearest, quoted};

/// One thing that is wrong, and where.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    title: String,
    place: Place,
    label: String,
    also: Option<Box<(Place, String)>>,
    help: Vec<String>,
}

impl Problem {
    pub fn new(place: Place, title: impl Into<String>) -> Problem {
        Problem { title: title.into(), place, label: String::new(), also: None, help: Vec::new() }
    }

    pub fn label(mut self, label: impl Into<String>) -> Problem {
        self.label = label.into();
        self
    }

    /// Another place the reader should see, such as a first definition.
    pub fn also(mut self, place: Place, label: impl Into<String>) -> Problem {
        self.also = Some(Box::new((place, label.into())));
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help.push(help.into());
        self
    }

    /// The label asks for the nearest of `allowed`, or is `otherwise`; the help lists all of them.
    pub fn meant<'a, I>(self, word: &str, allowed: I, otherwise: &str, list: &str) -> Problem
    where
        I: IntoIterator<Item = &'a str> + Clone,
    {
        let label = match nearest(word, allowed.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => otherwise.to_owned(),
        };
        self.label(label).help(format!("{list}: {}", quoted(allowed)))
    }
}

/// A problem inside a string, in the string's own positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub range: Range<usize>,
    pub title: String,
    pub label: String,
    pub help: Option<String>,
}

impl Fault {
    pub fn new(range: Range<usize>, title: impl Into<String>) -> Fault {
        Fault { range, title: title.into(), label: String::new(), help: None }
    }

    pub fn label(mut self, label: impl Into<String>) -> Fault {
        self.label = label.into();
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }

    /// The problem in the file that the string stands in.
    pub fn within(self, text: &Text) -> Problem {
        let mut problem = Problem::new(text.part(self.range), self.title).label(self.label);
        problem.help.extend(self.help);
        problem
    }
}

/// The problems found so far.
#[derive(Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    pub fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All problems in the order of their places, as plain text.
    pub fn render(mut self, files: &[SourceFile]) -> String {
        const SHOWN: usize = 20;
        self.0.sort_by_key(|problem| (problem.place.file, problem.place.start));
        let is_shown = |place: Place| files.get(place.file).is_none_or(|file| file.is_shown);
        let (mut hidden, mut seen) = (Vec::new(), BTreeSet::new());
        self.0.retain(|problem| {
            let places = [Some(problem.place), problem.also.as_deref().map(|(also, _)| *also)];
            let Some(place) = places.into_iter().flatten().find(|place| !is_shown(*place)) else {
                return true;
            };
            let file = seen.insert(place.file).then(|| &files[place.file]);
            hidden.extend(file.map(|file| hidden_problem(file, place)));
            false
        });
        let mut parts: Vec<String> = self.0.iter().take(SHOWN).map(|p| render(p, files)).collect();
        if self.0.len() > SHOWN {
            parts.push(format!("error: {} more errors are not shown", self.0.len() - SHOWN));
        }
        parts.extend(hidden);
        parts.join("\n\n")
    }
}

/// All that is said of a file whose lines are not shown: not even a message, which has words of it.
fn hidden_problem(file: &SourceFile, place: Place) -> String {
    let line = file.line_starts().partition_point(|start| *start <= place.start).max(1);
    let title = format!("`{}` cannot be used: its line {line} is not as bitrift expects it", file.name);
    let help = "nothing of it is shown, because it lies outside the project of the matrix: whoever may change the matrix could have any \
        file of yours shown; put it beside the matrix to see what is wrong";
    render_plain(&title, Some(help))
}

/// A line of a file that a message shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub text: String,
    pub label: String,
}

/// A problem between lines of several files.
pub fn point(title: &str, spots: &[Spot], help: &str) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(title));
    for (number, Spot { file, line, text, label }) in spots.iter().enumerate() {
        let kind = if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let mark = kind.span(0..text.len()).label(label.as_str());
        let snippet = Snippet::source(text.as_str()).line_start(*line).path(file.as_str());
        group = group.element(snippet.annotation(mark));
    }
    group = group.element(Level::HELP.message(help));
    Renderer::plain().render(&[group])
}

/// A problem that has no place, such as a file that is not there.
pub(super) fn render_plain(title: &str, help: Option<&str>) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(title));
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    Renderer::plain().render(&[group])
}

fn render(problem: &Problem, files: &[SourceFile]) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(problem.title.as_str()));
    let place = problem.place;
    if let Some(file) = files.get(place.file) {
        if place.start == place.end && place.end == 0 {
            group = group.element(Origin::path(file.name.as_str()));
        } else {
            let mut snippet = Snippet::source(file.text.as_str()).path(file.name.as_str()).annotation(
                AnnotationKind::Primary.span(within(&file.text, place)).label(label(&problem.label)),
            );
            if let Some((also, text)) = problem.also.as_deref().filter(|(also, _)| also.file == place.file) {
                let span = within(&file.text, *also);
                snippet = snippet.annotation(AnnotationKind::Context.span(span).label(label(text)));
            }
            group = group.element(snippet);
        }
    }
    if let Some((also, text)) = problem.also.as_deref().filter(|(also, _)| also.file != place.file)
        && let Some(file) = files.get(also.file)
    {
        let mark = AnnotationKind::Context.span(within(&file.text, *also)).label(label(text));
        group = group.element(Snippet::source(file.text.as_str()).path(file.name.as_str()).annotation(mark));
    }
    for help in &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Renderer::plain().render(&[group])
}

fn label(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A span the renderer can mark: inside the text, on characters, on one line, not empty if it can be.
fn within(text: &str, place: Place) -> Range<usize> {
    let start = floor(text, place.start.min(text.len()));
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let end = floor(text, place.end.min(text.len())).clamp(start, line_end.max(start));
    if start < end || start == line_end {
        return start..end;
    }
    let width = text[start..].chars().next().map_or(0, char::len_utf8);
    start..start + width
}

fn floor(text: &str, index: usize) -> usize {
    (0..=index).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_span_can_be_rendered() {
        let files =
            [SourceFile { name: "m.toml".into(), text: "ä = \"ö\"\n\n[lab]\n".into(), is_shown: true }];
        for start in 0..25 {
            for end in 0..25 {
                let mut problems = Problems::default();
                problems.add(Problem::new(Place::new(0, start..end), "wrong").label("here"));
                assert!(problems.render(&files).contains("m.toml"));
            }
        }
    }
}
