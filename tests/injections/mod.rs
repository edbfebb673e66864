//! Statements put into fixtures/explain, one at a time, that alone differ between `-O0` and `-O3 -ffast-math -mfma`.
#![allow(dead_code)] // Each test program uses a part of it.

mod lab;
mod sites;
mod special;
mod terms;
mod tree;

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

/// All injections: each kind at each site, with forms and expressions taking turns.
pub fn injections() -> Vec<Injection> {
    let clean = Tree::fixture();
    let mut all = Vec::new();
    for (index, site) in sites::sites().iter().enumerate() {
        for (turn, kind) in KINDS.into_iter().enumerate() {
            let form = if site.into.is_some() { FORMS[(index + 2 * turn) % FORMS.len()] } else { Form::Return };
            let mut injection = injection(site, kind, form, index / 2 + turn);
            injection.id = format!("{:03}-{}", all.len(), injection.id);
            injection.line = clean.clone().with(std::slice::from_ref(&injection.edit)).line(&injection.guilty);
            all.push(injection);
        }
    }
    all
}

fn injection(site: &Site, kind: Kind, form: Form, variant: usize) -> Injection {
    let term = terms::term(kind, variant, site.operands);
    let condition = terms::condition(kind, variant, site.operands);
    let into = site.into.unwrap_or_default();
    let statement = match form {
        Form::Declaration => format!("double injected = {term};"),
        Form::Assignment => format!("{into} = {into} + ({term});"),
        Form::Compound => format!("{into} += {term};"),
        Form::Condition => format!("if ({condition}) {{\n    {into} += 3.0;\n}}"),
        Form::Ternary => format!("{into} += {condition} ? 3.0 : 1.0;"),
        Form::Return => format!("return ({}) + ({term});", returned(site.anchor)),
    };
    let mut lines: Vec<String> = statement.lines().map(str::to_owned).collect();
    if form == Form::Declaration {
        lines.push(format!("{into} += injected;"));
    }
    Injection {
        id: format!("{}-{}-{kind:?}-{form:?}", site.file.trim_end_matches(".c"), site.function).to_lowercase(),
        kind,
        form,
        place: site.place,
        guilty: Guilty { file: site.file, function: site.function, statement },
        edit: Edit {
            file: site.file,
            function: Some(site.function),
            anchor: site.anchor,
            instead: form == Form::Return,
            lines,
        },
        line: 0,
    }
}

fn returned(statement: &str) -> &str {
    statement.strip_prefix("return ").unwrap().strip_suffix(';').unwrap()
}
