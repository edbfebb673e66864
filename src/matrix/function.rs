//! `[[function]]`: the C to call, its parameters and their domains.

use std::collections::BTreeMap;

use super::domain::{self, Kind};
use super::interface::{self, Part, Plan};
use super::names::{Unique, check_headers, check_name};
use super::place::{Place, Text};
use super::problem::{Problem, Problems};
use super::raw::RawFunction;
use super::raw_domain::RawDomain;
use super::signature::{Declared, Form, parse_param, parse_signature, parse_type};
use crate::c::{is_identifier, is_keyword};
use crate::model::{Callee, Coordinate, Domain, Function, Interface};

/// The functions of an experiment; names are unique over all files.
pub(super) fn resolve(raw: &[RawFunction], problems: &mut Problems) -> Vec<Function> {
    let mut unique = Unique::default();
    let mut functions = Vec::new();
    for entry in raw {
        if let Some((function, name_place)) = resolve_one(entry, problems) {
            let help = "a `name` of its own lets a function be tested twice, with another domain";
            unique.add("functions", &function.name, name_place, help, problems);
            functions.push(function);
        }
    }
    functions
}

/// A function, and the place of its name.
fn resolve_one(raw: &RawFunction, problems: &mut Problems) -> Option<(Function, Place)> {
    check_headers(&raw.headers, problems);
    let headers = raw.headers.iter().map(|header| header.value.clone()).collect();
    if let Some(name) = &raw.name {
        check_name("function", name, problems);
    }
    let shape = match one_callee(raw, problems)? {
        Source::Signature(text) => from_signature(raw, text, problems)?,
        Source::Code(callee) => from_code(raw, callee, problems)?,
    };
    let plan = interface::plan(raw, &shape, problems)?;
    let mut domains = domains(raw, &shape, &plan, problems);
    let coordinates = plan.coordinates.into_iter().map(|Part { name, slot, .. }| {
        let all = || (Domain::all(slot.ty), String::new());
        let (domain, domain_text) = domains.remove(&name).unwrap_or_else(all);
        Coordinate { name, ty: slot.ty, domain, domain_text }
    });
    let coordinates = coordinates.collect();
    let Shape { name, name_place, params, callee, .. } = shape;
    let callee = match callee {
        Callee::Signature(target) => Callee::Signature(prototype(&target, &plan.interface, &params)),
        code => code,
    };
    let function = Function {
        name,
        coordinates,
        results: plan.results,
        interface: plan.interface,
        callee,
        headers,
        within: None,
        declared: None,
    };
    Some((function, name_place))
}

enum Source<'a> {
    Signature(&'a Text),
    Code(Callee),
}

/// What a function is made of, however it was written.
pub(super) struct Shape<'a> {
    pub name: String,
    name_place: Place,
    pub params: Vec<Named<'a>>,
    /// What C returns, and the text that says so; a double where nothing does.
    pub result: (Declared, Option<&'a Text>),
    /// A signature is still only the name that the function has in C.
    pub callee: Callee,
}

/// A parameter with its name and the text that declares it.
pub(super) struct Named<'a> {
    pub name: String,
    pub declared: Declared,
    pub text: &'a Text,
}

/// Exactly one of `signature`, `call` and `body`.
fn one_callee<'a>(raw: &'a RawFunction, problems: &mut Problems) -> Option<Source<'a>> {
    let given: Vec<(&str, &Text)> = [("signature", &raw.signature), ("call", &raw.call), ("body", &raw.body)]
        .into_iter()
        .filter_map(|(key, text)| text.as_ref().map(|text| (key, text)))
        .collect();
    match given.as_slice() {
        [] if !raw.calls.is_empty() => Some(Source::Code(Callee::Elsewhere)),
        [] => {
            let problem = Problem::new(raw.place, "[[function]] does not say what to call")
                .label("expected `signature`, `call` or `body`");
            problems.add(problem.help(
                "for example `signature = \"double f(double x)\"`, or `name`, `params = [\"double x\"]` and \
                 `call = \"f(x, 2)\"`",
            ));
            None
        }
        [("signature", text)] => Some(Source::Signature(text)),
        [("call", text)] => expression("call", text, problems).map(Source::Code),
        [(_, text)] => checked_body(text, problems).map(Source::Code),
        [(first, one), (second, two), ..] => {
            let problem =
                Problem::new(two.place, format!("a function has `{first}` or `{second}`, not both"))
                    .label(format!("`{second}` here"))
                    .also(one.place, format!("`{first}` here"));
            problems.add(problem.help(
                "`signature` calls the function with its parameters in order; `call` and `body` need `name` and `params`",
            ));
            None
        }
    }
}

/// A C expression over the parameters, which `key` has.
pub(super) fn expression(key: &str, text: &Text, problems: &mut Problems) -> Option<Callee> {
    let call = text.value.trim();
    let statements = if key == "call" { ", or use `body` for statements" } else { "" };
    let complaint = if call.is_empty() {
        Some(("expected an expression such as \"f(x, 2)\"", ""))
    } else if call.ends_with(';') {
        Some(("leave out the `;`", statements))
    } else if has_word(call, "return") {
        Some(("leave out `return`", statements))
    } else {
        None
    };
    match complaint {
        Some((label, more)) => {
            let label = format!("{label}{more}");
            let title = match key {
                "calls" => "an entry of `calls` must be a C expression".to_owned(),
                _ => format!("`{key}` must be a C expression"),
            };
            problems.add(Problem::new(text.place, title).label(label));
            None
        }
        None => Some(Callee::Call(call.into())),
    }
}

fn checked_body(text: &Text, problems: &mut Problems) -> Option<Callee> {
    if !has_word(&text.value, "return") {
        problems.add(
            Problem::new(text.place, "`body` must return the result")
                .label("no `return` in these statements")
                .help("for example `body = \"double r; f(x, &r); return r;\"`"),
        );
        return None;
    }
    Some(Callee::Body(text.value.trim().into()))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

fn from_signature<'a>(raw: &'a RawFunction, text: &'a Text, problems: &mut Problems) -> Option<Shape<'a>> {
    for (key, place) in [
        ("params", raw.params.as_ref().map(|params| params.place)),
        ("result", raw.result.as_ref().map(|result| result.place)),
    ] {
        if let Some(place) = place {
            let problem = Problem::new(place, format!("`{key}` is already in the signature"));
            problems.add(problem.label(format!("leave `{key}` out")).also(text.place, "signature here"));
        }
    }
    let signature = match parse_signature(text.as_str()) {
        Ok(signature) => signature,
        Err(fault) => {
            problems.add(fault.within(text));
            return None;
        }
    };
    let declared: Vec<(&Text, Declared)> = signature.params.iter().map(|p| (text, p.clone())).collect();
    let params = named(declared, Some(&signature.name), problems)?;
    let (name, name_place) = match &raw.name {
        Some(name) => (name.value.clone(), name.place),
        None => (signature.name.clone(), text.place),
    };
    let result = (signature.result, Some(text));
    Some(Shape { name, name_place, params, result, callee: Callee::Signature(signature.name) })
}

/// The prototype in one spelling: every parameter named, no `const`, single spaces.
fn prototype(target: &str, interface: &Interface, params: &[Named<'_>]) -> String {
    let declared = |Named { name, declared, .. }: &Named<'_>| match declared.form {
        Form::Value => format!("{} {name}", declared.c_type),
        Form::Pointer => format!("{} *{name}", declared.c_type),
        Form::Array(length) => format!("{} {name}[{length}]", declared.c_type),
    };
    let list: Vec<String> = params.iter().map(declared).collect();
    format!("{} {target}({})", interface.returns, list.join(", "))
}

fn from_code<'a>(raw: &'a RawFunction, callee: Callee, problems: &mut Problems) -> Option<Shape<'a>> {
    let key = match callee {
        Callee::Call(_) | Callee::Signature(_) => "call",
        Callee::Body(_) => "body",
        Callee::Elsewhere => "calls",
    };
    if raw.name.is_none() {
        let problem = Problem::new(raw.place, format!("[[function]] with `{key}` needs a `name`"));
        problems.add(problem.label("no `name` here").help("for example `name = \"airy_ai\"`"));
    }
    let result = parse_type(raw.result.as_ref().map_or("double", Text::as_str));
    let result = match (result, &raw.result) {
        (Err(fault), Some(text)) => {
            problems.add(fault.within(text));
            None
        }
        (result, _) => result.ok(),
    };
    let Some(params) = &raw.params else {
        let problem = Problem::new(raw.place, format!("[[function]] with `{key}` needs `params`"));
        problems
            .add(problem.label("no `params` here").help("for example `params = [\"double x\", \"int n\"]`"));
        return None;
    };
    let count = params.value.len();
    if count == 0 {
        let problem = Problem::new(params.place, "a function needs at least one parameter");
        problems.add(problem.label("none here"));
        return None;
    }
    let mut declared = Vec::new();
    for text in &params.value {
        match parse_param(text.as_str()) {
            Ok(param) => declared.push((text, param)),
            Err(fault) => problems.add(fault.within(text)),
        }
    }
    if declared.len() < count {
        return None;
    }
    let params = named(declared, None, problems)?;
    let name = raw.name.as_ref()?;
    let result = (result?, raw.result.as_ref());
    Some(Shape { name: name.value.clone(), name_place: name.place, params, result, callee })
}

/// Gives every parameter its name (`x1`, `x2`, ... where there is none) and checks the names.
fn named<'a>(
    declared: Vec<(&'a Text, Declared)>,
    function: Option<&str>,
    problems: &mut Problems,
) -> Option<Vec<Named<'a>>> {
    let before = problems.len();
    let mut unique = Unique::default();
    let mut named = Vec::new();
    for (index, (text, param)) in declared.into_iter().enumerate() {
        let name = param.name.clone().unwrap_or_else(|| format!("x{}", index + 1));
        let place = text.part(param.range.clone());
        let complaint = if is_keyword(&name) {
            Some("a keyword of C")
        } else if !is_identifier(&name) {
            Some("not a C identifier")
        } else if function == Some(name.as_str()) {
            Some("the name of the function, which it would hide")
        } else {
            None
        };
        if let Some(label) = complaint {
            let problem = Problem::new(place, format!("a parameter cannot be named `{name}`"));
            problems.add(problem.label(label).help("choose another name"));
        }
        unique.add("parameters", &name, place, "", problems);
        named.push(Named { name, declared: param, text });
    }
    (problems.len() == before).then_some(named)
}

/// The domains that are given, by coordinate, with their text. The name of a parameter stands for all its coordinates.
fn domains(
    raw: &RawFunction,
    shape: &Shape<'_>,
    plan: &Plan,
    problems: &mut Problems,
) -> BTreeMap<String, (Domain, String)> {
    let mut domains = BTreeMap::new();
    for (name, written) in &raw.domain {
        let is_named = |part: &&Part| part.name == name.value;
        let is_part = |part: &&Part| {
            part.parameter.is_some_and(|index| plan.interface.parameters[index].name == name.value)
        };
        let mut parts: Vec<&Part> = plan.coordinates.iter().filter(is_named).collect();
        if parts.is_empty() {
            parts = plan.coordinates.iter().filter(is_part).collect();
        }
        if parts.is_empty() {
            let title = format!("the function has no parameter `{}`", name.as_str());
            let names = plan.coordinates.iter().map(|part| part.name.as_str());
            let unnamed = shape.params.iter().any(|param| param.declared.name.is_none());
            let list = if unnamed { "parameters without a name are numbered" } else { "parameters" };
            let problem = Problem::new(name.place, title);
            problems.add(problem.meant(name.as_str(), names, "not a parameter", list));
        }
        for part in parts {
            match read_domain(Kind { ty: part.slot.ty, c_type: &part.slot.c_type }, written) {
                Ok(domain) => {
                    domains.insert(part.name.clone(), domain);
                }
                Err(problem) => {
                    problems.add(problem);
                    break;
                }
            }
        }
    }
    domains
}

fn read_domain(kind: Kind<'_>, written: &RawDomain) -> Result<(Domain, String), Problem> {
    match written {
        RawDomain::Text(text) => {
            let domain = domain::parse(kind, text.as_str()).map_err(|fault| fault.within(text))?;
            Ok((domain, text.value.trim().to_owned()))
        }
        RawDomain::Number(number) => {
            let domain = domain::of_number(kind, number.as_str()).map_err(|fault| fault.within(number))?;
            Ok((domain, number.value.clone()))
        }
    }
}
