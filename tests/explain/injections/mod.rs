//! Statements put into fixtures/explain, one at a time, that alone differ between `-O0` and `-O3 -ffast-math -mfma`.
#![allow(dead_code)] // Each test program uses a part of it.

mod lab;
mod sites;
mod special;
mod terms;
mod tree;

#[allow(unused_imports)] // Each test program uses a part of it.
pub use lab::{Compiler, Lab, Mode, inputs, share};
pub use special::{Nature, Special, specials};
pub use tree::{Edit, Tree};

use sites::Site;

/// The licence of fast-math that changes a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Reassociation,
    Contraction,
    Reciprocal,
}

/// Where in its function a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    First,
    Middle,
    Last,
    Loop,
    Branch,
}

/// What the statement looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Declaration,
    Assignment,
    Compound,
    Condition,
    Ternary,
    Return,
}

/// The statement that is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guilty {
    pub file: &'static str,
    pub function: &'static str,
    /// As it stands in the file, without indentation of its first line.
    pub statement: String,
}

/// One statement, and how it gets into the fixture.
#[derive(Clone, Debug)]
pub struct Injection {
    pub id: String,
    pub kind: Kind,
    pub form: Form,
    pub place: Place,
    pub guilty: Guilty,
    pub edit: Edit,
    /// Of the statement, in the file it was put into.
    pub line: usize,
}

impl Injection {
    /// The fixture with this statement in it.
    pub fn tree(&self) -> Tree {
        Tree::fixture().with(std::slice::from_ref(&self.edit))
    }
}

const KINDS: [Kind; 3] = [Kind::Reassociation, Kind::Contraction, Kind::Reciprocal];
const FORMS: [Form; 5] =
    [Form::Declaration, Form::Assignment, Form::Compound, Form::Condition, Form::Ternary];

/// All injections: each kind at each site, with forms and expressions taking turns. Both compilers show each of them.
pub fn injections() -> Vec<Injection> {
    let clean = Tree::fixture();
    let mut all = Vec::new();
    for (index, site) in sites::sites().iter().enumerate() {
        for (turn, kind) in KINDS.into_iter().enumerate() {
            let form =
                if site.into.is_some() { FORMS[(index + 2 * turn) % FORMS.len()] } else { Form::Return };
            all.push(injection(&clean, all.len(), site, kind, form, index / 2 + turn));
        }
    }
    all
}

fn injection(clean: &Tree, number: usize, site: &Site, kind: Kind, form: Form, variant: usize) -> Injection {
    let statement = statement(site, kind, form, variant);
    let mut lines: Vec<String> = statement.lines().map(str::to_owned).collect();
    if let (Form::Declaration, Some(into)) = (form, site.into) {
        lines.push(format!("{into} += injected;"));
    }
    let Site { file, function, place, anchor, .. } = *site;
    let edit = Edit { file, function: Some(function), anchor, instead: form == Form::Return, lines };
    let guilty = Guilty { file, function, statement };
    let line = clean.clone().with(std::slice::from_ref(&edit)).line(&guilty);
    let stem = file.trim_end_matches(".c");
    let id = format!("{number:03}-{stem}-{function}-{kind:?}-{form:?}").to_lowercase();
    Injection { id, kind, form, place, guilty, edit, line }
}

fn statement(site: &Site, kind: Kind, form: Form, variant: usize) -> String {
    let term = terms::term(kind, variant, site.operands);
    let condition = terms::condition(kind, variant, site.operands);
    let into = site.into.unwrap_or_default();
    match form {
        Form::Declaration => format!("double injected = {term};"),
        Form::Assignment => format!("{into} = {into} + ({term});"),
        Form::Compound => format!("{into} += {term};"),
        Form::Condition => format!("if ({condition}) {{\n    {into} += 3.0;\n}}"),
        Form::Ternary => format!("{into} += {condition} ? 3.0 : 1.0;"),
        Form::Return => format!("return ({}) + {term};", returned(site.anchor)),
    }
}

fn returned(statement: &str) -> &str {
    statement.strip_prefix("return ").unwrap().strip_suffix(';').unwrap()
}
