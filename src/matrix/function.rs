//! `[[function]]`: the C to call, its parameters and their domains.

use std::collections::BTreeMap;

use super::domain::{self, Kind};
use super::names::{Unique, check_headers, check_name};
use super::place::{Place, Text};
use super::problem::{Problem, Problems};
use super::raw::{RawDomain, RawFunction};
use super::signature::{Declared, Signature, parse_param, parse_signature, parse_type};
use crate::c::{is_identifier, is_keyword};
use crate::fp::Scalar;
use crate::model::{Callee, Domain, Function, MAX_PARAMS, Param};

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
    let domains = domains(raw, &shape.params, problems);
    let params = shape.params.into_iter().map(|(name, declared)| {
        let (domain, domain_text) =
            domains.get(&name).cloned().unwrap_or_else(|| (Domain::all(declared.ty), String::new()));
        Param { name, c_type: declared.c_type, ty: declared.ty, domain, domain_text }
    });
    let function = Function {
        name: shape.name,
        params: params.collect(),
        result: shape.result.0,
        result_c_type: shape.result.1,
        callee: shape.callee,
        headers,
    };
    Some((function, shape.name_place))
}

enum Source<'a> {
    Signature(&'a Text),
    Code(Callee),
}

/// What a function is made of, however it was written.
struct Shape {
    name: String,
    name_place: Place,
    params: Vec<(String, Declared)>,
    result: (Scalar, String),
    callee: Callee,
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

fn from_signature(raw: &RawFunction, text: &Text, problems: &mut Problems) -> Option<Shape> {
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
    let callee = Callee::Signature(prototype(&signature, &params));
    Some(Shape { name, name_place, params, result: (signature.result, signature.result_c_type), callee })
}

/// The prototype in one spelling: every parameter named, no `const`, single spaces.
fn prototype(signature: &Signature, params: &[(String, Declared)]) -> String {
    let list: Vec<String> = params.iter().map(|(name, p)| format!("{} {name}", p.c_type)).collect();
    format!("{} {}({})", signature.result_c_type, signature.name, list.join(", "))
}

fn from_code(raw: &RawFunction, callee: Callee, problems: &mut Problems) -> Option<Shape> {
    let key = match callee {
        Callee::Call(_) | Callee::Signature(_) => "call",
        Callee::Body(_) => "body",
        Callee::Elsewhere => "calls",
    };
    if raw.name.is_none() {
        let problem = Problem::new(raw.place, format!("[[function]] with `{key}` needs a `name`"));
        problems.add(problem.label("no `name` here").help("for example `name = \"airy_ai\"`"));
    }
    let result = match &raw.result {
        None => Some((Scalar::F64, "double".to_owned())),
        Some(text) => parse_type(text.as_str()).map_err(|fault| problems.add(fault.within(text))).ok(),
    };
    let Some(params) = &raw.params else {
        let problem = Problem::new(raw.place, format!("[[function]] with `{key}` needs `params`"));
        problems
            .add(problem.label("no `params` here").help("for example `params = [\"double x\", \"int n\"]`"));
        return None;
    };
    let count = params.value.len();
    if count == 0 || count > MAX_PARAMS {
        let problem = Problem::new(params.place, format!("a function needs 1 to {MAX_PARAMS} parameters"));
        problems.add(problem.label(format!("{count} here")));
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
    Some(Shape { name: name.value.clone(), name_place: name.place, params, result: result?, callee })
}

/// Gives every parameter its name (`x1`, `x2`, ... where there is none) and checks the names.
fn named(
    declared: Vec<(&Text, Declared)>,
    function: Option<&str>,
    problems: &mut Problems,
) -> Option<Vec<(String, Declared)>> {
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
        named.push((name, param));
    }
    (problems.len() == before).then_some(named)
}

/// The domains that are given, by parameter, with their text.
fn domains(
    raw: &RawFunction,
    params: &[(String, Declared)],
    problems: &mut Problems,
) -> BTreeMap<String, (Domain, String)> {
    let mut domains = BTreeMap::new();
    for (name, written) in &raw.domain {
        let Some((_, param)) = params.iter().find(|(param, _)| param == name.as_str()) else {
            let title = format!("the function has no parameter `{}`", name.as_str());
            let names = params.iter().map(|(param, _)| param.as_str());
            let unnamed = params.iter().any(|(_, declared)| declared.name.is_none());
            let list = if unnamed { "parameters without a name are numbered" } else { "parameters" };
            problems.add(Problem::new(name.place, title).meant(
                name.as_str(),
                names,
                "not a parameter",
                list,
            ));
            continue;
        };
        let kind = Kind { ty: param.ty, c_type: &param.c_type };
        match read_domain(kind, written) {
            Ok(domain) => {
                domains.insert(name.value.clone(), domain);
            }
            Err(problem) => problems.add(problem),
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
        RawDomain::Numbers(numbers) => {
            let texts = || numbers.value.iter().map(Text::as_str);
            let domain = domain::of_numbers(kind, texts()).map_err(|(index, fault)| {
                match numbers.value.get(index) {
                    Some(text) => fault.within(text),
                    None => Problem::new(numbers.place, fault.title).label(fault.label),
                }
            })?;
            // As the text form of the same domain: an array in brackets would read as an interval.
            let list = texts().collect::<Vec<_>>().join(", ");
            Ok((domain, if numbers.value.len() == 1 { list } else { format!("{{{list}}}") }))
        }
    }
}
