//! The plan of a function: how its C parameters are made of coordinates, and where its results are found.

use std::collections::BTreeSet;

use super::function::{Named, Shape};
use super::place::{Place, Text};
use super::problem::{Problem, Problems};
use super::raw::RawFunction;
use super::signature::{Base, Declared, Form, parse_field};
use crate::model::{
    Callee, Interface, MAX_COORDINATES, MAX_RESULTS, Parameter, Passing, RETURNED, ResultValue, Results, Slot,
};

/// A scalar of a parameter or of a result.
#[derive(Clone)]
pub(super) struct Part {
    /// As a user names it: `p.x`, `z.re`, `v[2]`.
    pub name: String,
    pub slot: Slot,
    /// Which parameter it is a part of; None for what C returns.
    pub parameter: Option<usize>,
}

/// What C is called with, and what comes of it.
pub(super) struct Plan {
    pub interface: Interface,
    pub coordinates: Vec<Part>,
    pub results: Results,
}

/// The plan of a function; None when something is wrong with it.
pub(super) fn plan(raw: &RawFunction, shape: &Shape<'_>, problems: &mut Problems) -> Option<Plan> {
    let before = problems.len();
    let planner = Planner { raw, shape };
    planner.check_fields(problems);
    let values = planner.results(problems);
    let parameters: Vec<Parameter> =
        shape.params.iter().map(|param| planner.parameter(param, &values, problems)).collect();
    if problems.len() == before {
        planner.check_headers(problems);
    }
    let coordinates: Vec<Part> = (0..parameters.len())
        .flat_map(|index| if parameters[index].slots.is_empty() { Vec::new() } else { planner.parts(index) })
        .collect();
    if problems.len() > before {
        return None;
    }
    let count = coordinates.len();
    if !(1..=MAX_COORDINATES).contains(&count) {
        let problem = Problem::new(planner.place(), format!("the function takes {count} numbers"));
        problems.add(
            problem.label(format!("1 to {MAX_COORDINATES} can be searched over")).help(
                "fix some of them: use `name`, fewer `params`, and a `call` with constants for the rest",
            ),
        );
        return None;
    }
    let named = values.iter().map(|part| ResultValue { name: part.name.clone(), ty: part.slot.ty });
    let Some(results) = Results::new(named.collect()) else {
        let place = raw.results.as_ref().map_or_else(|| planner.place(), |results| results.place);
        let problem = Problem::new(place, format!("the function gives {} values", values.len()));
        problems.add(problem.label(format!("at most {MAX_RESULTS} can be compared")));
        return None;
    };
    let results_at = values.into_iter().map(|part| part.slot).collect();
    let returns = shape.result.0.c_type.clone();
    Some(Plan { interface: Interface { parameters, returns, results: results_at }, coordinates, results })
}

struct Planner<'a> {
    raw: &'a RawFunction,
    shape: &'a Shape<'a>,
}

impl Planner<'_> {
    /// Where the function says what it takes.
    fn place(&self) -> Place {
        match (&self.raw.signature, &self.raw.params) {
            (Some(text), _) => text.place,
            (None, Some(params)) => params.place,
            (None, None) => self.raw.place,
        }
    }

    /// The fields that are listed for a parameter.
    fn fields(&self, name: &str) -> Option<&[Text]> {
        self.raw.fields.iter().find(|(of, _)| of.as_str() == name).map(|(_, fields)| fields.as_slice())
    }

    fn check_fields(&self, problems: &mut Problems) {
        for (name, fields) in &self.raw.fields {
            let Some(param) = self.shape.params.iter().find(|param| param.name == name.value) else {
                let names = self.shape.params.iter().map(|param| param.name.as_str());
                let title = format!("the function has no parameter `{}`", name.as_str());
                let problem = Problem::new(name.place, title);
                problems.add(problem.meant(name.as_str(), names, "not a parameter", "parameters"));
                continue;
            };
            if !matches!(param.declared.base, Base::Record(_)) {
                let title = format!("`{}` is no struct", name.as_str());
                let label = format!("it is declared as `{}`", param.declared.c_type);
                problems.add(Problem::new(name.place, title).label(label).help("leave its fields out"));
            }
            if fields.is_empty() {
                let problem = Problem::new(name.place, format!("`{}` has no fields", name.as_str()));
                problems.add(problem.label("list them: [\"float x\", \"float y\"]"));
            }
            check_list(fields, problems);
            for field in fields {
                if let Err(fault) = parse_field(field.as_str()) {
                    problems.add(fault.within(field));
                }
            }
        }
    }

    /// A struct is known by the header that defines it.
    fn check_headers(&self, problems: &mut Problems) {
        let records = self.shape.params.iter().map(|param| &param.declared).chain([&self.shape.result.0]);
        let mut records = records.filter(|declared| matches!(declared.base, Base::Record(_)));
        if let (Some(record), true) = (records.next(), self.raw.headers.is_empty()) {
            let title = format!("nothing says what `{}` is", record.c_type);
            let problem = Problem::new(self.place(), title).label("it is used here");
            problems.add(problem.help("name the header that defines it: `headers = [\"geometry.h\"]`"));
        }
    }

    /// The scalars of a parameter.
    fn parts(&self, index: usize) -> Vec<Part> {
        let Named { name, declared, .. } = &self.shape.params[index];
        let pointed = || format!("(*{name})");
        let place = if declared.form == Form::Pointer { pointed() } else { name.clone() };
        let mut parts = parts_of(name, &place, declared, self.fields(name));
        parts.iter_mut().for_each(|part| part.parameter = Some(index));
        parts
    }

    /// Whether `results` names a parameter, be it rightly or not.
    fn is_listed(&self, name: &str) -> bool {
        let listed = self.raw.results.iter().flat_map(|results| &results.value);
        listed.map(|entry| entry.value.trim().trim_start_matches('*')).any(|entry| entry == name)
    }

    /// Whether a domain asks for a parameter that is also a result to go in.
    fn has_domain(&self, index: usize) -> bool {
        let name = &self.shape.params[index].name;
        let parts = self.parts(index);
        let is_it = |given: &Text| given.value == *name || parts.iter().any(|part| part.name == given.value);
        self.raw.domain.iter().any(|(given, _)| is_it(given))
    }

    fn parameter(&self, param: &Named<'_>, values: &[Part], problems: &mut Problems) -> Parameter {
        let Named { name, declared, .. } = param;
        let index = self.shape.params.iter().position(|other| other.name == *name).unwrap_or(0);
        let is_result = values.iter().any(|part| part.parameter == Some(index)) || self.is_listed(name);
        let passing = match declared.form {
            Form::Value => Passing::Value,
            Form::Pointer => Passing::Pointer,
            Form::Array(length) => Passing::Array(length),
        };
        if let Some(problem) = self.refusal(param, is_result) {
            problems.add(problem);
            return Parameter {
                name: name.clone(),
                c_type: declared.c_type.clone(),
                passing,
                slots: Vec::new(),
            };
        }
        let goes_in = !is_result || self.has_domain(index);
        let slots =
            if goes_in { self.parts(index).into_iter().map(|part| part.slot).collect() } else { Vec::new() };
        Parameter { name: name.clone(), c_type: declared.c_type.clone(), passing, slots }
    }

    /// Why a parameter cannot be made.
    fn refusal(&self, Named { name, declared, text }: &Named<'_>, is_result: bool) -> Option<Problem> {
        let fields = self.fields(name);
        match &declared.base {
            Base::Void => {
                let problem =
                    Problem::new(text.part(declared.type_range.clone()), "a parameter cannot be `void`");
                return Some(problem.label("not a type bitrift samples").help(super::c_type::USE_BODY));
            }
            Base::Record(fault) if fields.is_none() && !declared.c_type.starts_with("struct") => {
                return Some(fault.at(declared.type_range.clone()).within(text).help(format!(
                    "of a struct list the fields: `fields = {{ {name} = [\"double x\", \"double y\"] }}`"
                )));
            }
            Base::Record(_) if fields.is_none() => {
                let title = format!("`{}` has fields that nobody lists", declared.c_type);
                let problem = Problem::new(text.part(declared.type_range.clone()), title);
                return Some(problem.label("which of them are there?").help(format!(
                    "list them: `fields = {{ {name} = [\"double x\", \"double y\"] }}`, and name its header in `headers`"
                )));
            }
            _ => {}
        }
        if declared.form != Form::Pointer || is_result {
            return None;
        }
        let place = text.part(declared.range.clone());
        if matches!(self.shape.callee, Callee::Call(_) | Callee::Body(_)) {
            let problem =
                Problem::new(place, "a pointer cannot be in `params`").label("C needs something to point to");
            return Some(
                problem.help("make the object in a `body`, or take an array with its length: `double x[3]`"),
            );
        }
        if declared.constant && matches!(declared.base, Base::Record(_)) {
            return None;
        }
        let problem = Problem::new(place, format!("nobody says what `{name}` points to"));
        let problem =
            problem.label(if declared.constant { "how many elements?" } else { "input or result?" });
        let c_type = &declared.c_type;
        Some(match declared.constant {
            true => problem.help(format!("write an array with its length: `const {c_type} {name}[3]`")),
            false => problem.help(format!(
                "a result of the function: `results = [\"*{name}\"]`; an array that it reads: `const {c_type} {name}[3]`; \
                 otherwise {}",
                super::c_type::USE_BODY
            )),
        })
    }

    /// The values of the function, in the order of `results`.
    fn results(&self, problems: &mut Problems) -> Vec<Part> {
        let (returned, text) = &self.shape.result;
        let place = text.map_or_else(|| self.place(), |text| text.part(returned.type_range.clone()));
        let Some(list) = &self.raw.results else {
            return match &returned.base {
                Base::Scalar(_) | Base::Complex(_) => self.returned(true),
                Base::Void => {
                    problems.add(
                        Problem::new(place, "the function returns nothing").label("nothing to compare").help(
                            "list the out-parameters that have its results: `results = [\"*s\", \"*c\"]`",
                        ),
                    );
                    Vec::new()
                }
                Base::Record(fault) => {
                    let problem = match returned.c_type.starts_with("struct") {
                        true => {
                            Problem::new(place, format!("`{}` has fields that nobody lists", returned.c_type))
                                .label("which of them are there?")
                        }
                        false => match text {
                            Some(text) => fault.at(returned.type_range.clone()).within(text),
                            None => Problem::new(place, fault.title.clone()),
                        },
                    };
                    problems.add(
                        problem.help("of a struct list the fields: `results = [\"float x\", \"float y\"]`"),
                    );
                    Vec::new()
                }
            };
        };
        check_list(&list.value, problems);
        if list.value.is_empty() {
            let problem = Problem::new(list.place, "`results` is empty").label("nothing to compare");
            problems.add(problem.help("leave it out to compare what the function returns"));
        }
        let alone = list.value.len() == 1;
        list.value.iter().flat_map(|entry| self.result(entry, alone, problems)).collect()
    }

    /// The values of one entry: `return`, an out-parameter, or a field of the returned struct.
    fn result(&self, entry: &Text, alone: bool, problems: &mut Problems) -> Vec<Part> {
        let word = entry.value.trim();
        if word == "return" {
            let base = &self.shape.result.0.base;
            if matches!(base, Base::Scalar(_) | Base::Complex(_)) {
                return self.returned(alone);
            }
            let void = *base == Base::Void;
            let title =
                if void { "the function returns nothing" } else { "a struct is compared by its fields" };
            let problem = Problem::new(entry.place, title);
            problems.add(problem.label(if void { "leave it out" } else { "list them: \"float x\"" }));
            return Vec::new();
        }
        let name = word.strip_prefix('*').unwrap_or(word).trim_start();
        if let Some(index) = self.shape.params.iter().position(|param| param.name == name) {
            return self.out_parameter(entry, index, problems);
        }
        if !word.contains(char::is_whitespace) {
            let names = self.shape.params.iter().filter(|param| param.declared.form != Form::Value);
            let names: Vec<&str> = names.map(|param| param.name.as_str()).chain(["return"]).collect();
            let problem = Problem::new(entry.place, format!("`{word}` is no result"));
            problems.add(problem.meant(
                name,
                names,
                "no out-parameter",
                "results are a field with its type, or",
            ));
            return Vec::new();
        }
        match parse_field(word) {
            Ok(_) if !matches!(self.shape.result.0.base, Base::Record(_)) => {
                let title =
                    format!("the function returns `{}`, which has no fields", self.shape.result.0.c_type);
                problems.add(Problem::new(entry.place, title).label("a field of what?"));
                Vec::new()
            }
            Ok(field) => {
                let name = field.name.clone().unwrap_or_default();
                parts_of(&name, &format!("{RETURNED}.{name}"), &field, None)
            }
            Err(fault) => {
                problems.add(fault.within(entry));
                Vec::new()
            }
        }
    }

    fn out_parameter(&self, entry: &Text, index: usize, problems: &mut Problems) -> Vec<Part> {
        let Named { name, declared, .. } = &self.shape.params[index];
        let complaint = match declared.form {
            _ if !matches!(self.shape.callee, Callee::Signature(_)) => {
                Some(("a `call` or a `body` returns its results", "only a `signature` has out-parameters"))
            }
            Form::Value => {
                Some(("C cannot write to a parameter that is passed by value", "not a pointer, not an array"))
            }
            _ if declared.constant => Some(("C cannot write to what is `const`", "declared `const`")),
            _ => None,
        };
        if let Some((title, label)) = complaint {
            problems
                .add(Problem::new(entry.place, title).label(label).help("list what the function writes to"));
            return Vec::new();
        }
        let mut parts = self.parts(index);
        if let (Form::Pointer, [part]) = (declared.form, parts.as_mut_slice()) {
            part.name = format!("*{name}");
        }
        parts
    }

    /// What C returns; `alone` when that is all there is.
    fn returned(&self, alone: bool) -> Vec<Part> {
        let declared = &self.shape.result.0;
        let mut parts = parts_of("return", RETURNED, declared, None);
        if alone && parts.len() > 1 {
            parts.iter_mut().for_each(|part| part.name = part.name.replace("return.", ""));
        }
        parts
    }
}

/// Every entry once, and of those with a type each readable.
fn check_list(entries: &[Text], problems: &mut Problems) {
    let mut known = BTreeSet::new();
    for entry in entries {
        let word = entry.value.split_whitespace().last().unwrap_or_default();
        if !known.insert(word.trim_start_matches('*')) {
            problems.add(Problem::new(entry.place, format!("`{word}` is listed twice")).label("again here"));
        }
    }
}

/// The scalars that a declared object is made of. What has no scalars, because its fields are not listed or cannot be
/// read, has no parts; the checks say so.
fn parts_of(name: &str, place: &str, declared: &Declared, fields: Option<&[Text]>) -> Vec<Part> {
    if let Form::Array(length) = declared.form {
        let element = Declared { form: Form::Value, ..declared.clone() };
        let each = |k: usize| parts_of(&format!("{name}[{k}]"), &format!("{place}[{k}]"), &element, fields);
        return (0..length).flat_map(each).collect();
    }
    let part = |name: String, place: String, c_type: &str, ty| Part {
        name,
        slot: Slot { place, c_type: c_type.into(), ty },
        parameter: None,
    };
    match declared.base {
        Base::Scalar(ty) => vec![part(name.into(), place.into(), &declared.c_type, ty)],
        Base::Complex(ty) => vec![
            part(format!("{name}.re"), format!("__real__ {place}"), ty.c_name(), ty),
            part(format!("{name}.im"), format!("__imag__ {place}"), ty.c_name(), ty),
        ],
        Base::Record(_) => {
            let fields = fields.unwrap_or_default().iter().filter_map(|text| parse_field(text.as_str()).ok());
            let each = |field: Declared| {
                let own = field.name.clone().unwrap_or_default();
                parts_of(&format!("{name}.{own}"), &format!("{place}.{own}"), &field, None)
            };
            fields.flat_map(each).collect()
        }
        Base::Void => Vec::new(),
    }
}
