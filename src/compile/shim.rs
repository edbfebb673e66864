//! The generated C through which a function under test is called: 64-bit words in, words out.
//!
//! A shim is compiled with the build's own flags. Its text depends on the function alone, is C89 but
//! for 64-bit integers, and keeps every name of its own under `bitrift_`.

use std::collections::BTreeSet;

use crate::fp::Scalar;
use crate::model::{Callee, Function, Implementation, Interface, Parameter, Passing, RETURNED, Slot};

/// The symbol of the setup function.
pub const SETUP_SYMBOL: &str = "bitrift_setup";

/// The longest tail of a symbol: file names must stay below 255 bytes.
const TAG_LIMIT: usize = 120;

/// One generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// What the file is for, in the user's words.
    pub what: String,
    /// File name without folder or extension.
    pub stem: String,
    pub text: String,
}

/// A function and how a build calls it.
#[derive(Clone)]
pub struct Call<'a> {
    pub function: &'a Function,
    /// None when nothing says how it is called.
    pub callee: Option<&'a Callee>,
    pub headers: Vec<String>,
    /// The source of the implementation at whose end the shim is compiled.
    pub within: Option<usize>,
}

impl<'a> Call<'a> {
    pub fn of(function: &'a Function, implementation: &'a Implementation) -> Call<'a> {
        let callee = implementation.callee(function);
        let files = &implementation.sources.files;
        let within = function.within.as_ref().and_then(|path| files.iter().position(|file| file == path));
        Call { function, callee, headers: implementation.headers(function), within }
    }
}

/// The shim that runs statements once.
pub fn setup_shim(statements: &str, headers: &[String]) -> Shim {
    let stem = format!("{SETUP_SYMBOL}_shim");
    let mut text = includes(headers);
    text.push_str(&format!(
        "void {SETUP_SYMBOL}(void);\n{EXPORT}void {SETUP_SYMBOL}(void)\n{{\n{}",
        quoted("setup", statements, "}", &stem)
    ));
    Shim { what: "setup".into(), stem, text }
}

/// A build's -fvisibility=hidden must not hide the shims.
const EXPORT: &str = "__attribute__((visibility(\"default\")))\n";

/// By name and not by number, so that adding a function leaves the other shims as they are.
pub fn unique_tag(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut tag: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    tag.truncate(TAG_LIMIT);
    let mut unique = tag.clone();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{tag}_{number}");
        number += 1;
    }
    unique
}

/// The function that calls a function under test.
pub fn symbol(tag: &str) -> String {
    format!("bitrift_call_{tag}")
}

/// The headers of a shim's file: the function's own, then those of its types.
pub fn all_headers(call: &Call<'_>) -> Vec<String> {
    call.headers.iter().cloned().chain(standard_headers(call.function)).collect()
}

/// Whether all that a shim does is call a function of another file: made from a prototype of names, stars and
/// parentheses alone, which cannot reach into what stands around it.
pub fn calls_elsewhere(call: &Call<'_>) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_ *(),[]".contains(c);
    match call.callee {
        _ if call.within.is_some() => false,
        Some(Callee::Signature(prototype)) => {
            name_in(bare(prototype)).is_some() && bare(prototype).chars().all(plain)
        }
        _ => false,
    }
}

/// Some shims as the end of a source, with the headers of all of them; each call comes with its tag.
pub fn tail_text(calls: &[(&Call<'_>, &str)], stem: &str) -> String {
    let headers: BTreeSet<String> = calls.iter().flat_map(|(call, _)| all_headers(call)).collect();
    let headers: Vec<String> = headers.into_iter().collect();
    let shims: String = calls.iter().map(|(call, tag)| call_text(call, tag, stem)).collect();
    format!("\n#line 1 \"{stem}.c\"\n{}{PRELUDE}{shims}", includes(&headers))
}

/// A file with some shims, which have the same headers; each call comes with its tag.
pub fn file_text(calls: &[(&Call<'_>, &str)], stem: &str) -> String {
    let mut text = calls.first().map(|(call, _)| includes(&all_headers(call))).unwrap_or_default();
    text.push_str(PRELUDE);
    calls.iter().for_each(|(call, tag)| text.push_str(&call_text(call, tag, stem)));
    text
}

/// A call that nothing is known of has no text.
fn call_text(Call { function, callee, within, .. }: &Call<'_>, tag: &str, stem: &str) -> String {
    let Some(callee) = callee else { return String::new() };
    let symbol = symbol(tag);
    let interface = &function.interface;
    let result = &interface.returns;
    let arguments = interface.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
    let (before, value) = match callee {
        Callee::Signature(prototype) if within.is_some() => {
            let name = name_in(bare(prototype)).map_or("", |(start, end)| &bare(prototype)[start..end]);
            let target = format!("typedef __typeof__({name}) bitrift_target_{tag}");
            let lines = quoted(&format!("signature of {}", function.name), &target, ";", stem);
            (lines, format!("{name}({arguments});\n"))
        }
        Callee::Signature(prototype) => {
            let target = format!("bitrift_target_{tag}");
            (declaration(function, prototype, &target, stem), format!("{target}({arguments});\n"))
        }
        Callee::Call(expression) => {
            let lines = quoted(&format!("call of {}", function.name), expression, ");", stem);
            (String::new(), format!("(\n{lines}"))
        }
        Callee::Body(statements) => {
            let body = format!("bitrift_body_{tag}");
            let lines = quoted(&format!("body of {}", function.name), statements, "}", stem);
            let text = format!("static {result} {body}({})\n{{\n{lines}", parameters(interface));
            (text, format!("{body}({arguments});\n"))
        }
        Callee::Elsewhere => return String::new(),
    };
    let mut text = before;
    let head = format!("void {symbol}(const bitrift_u64 *bitrift_in, bitrift_u64 *bitrift_out)");
    // In its own source a function is what that source says, whatever a compiler knows by its name.
    let no_builtin = if within.is_some() { String::new() } else { no_builtin(callee) };
    text.push_str(&format!("{head};\n{no_builtin}{EXPORT}{head}\n{{\n{}", unpack(interface)));
    text.push_str(&match result.as_str() {
        VOID => format!("        {value}"),
        _ if is_plain(interface) => format!("        {result} {RETURNED} = {value}"),
        _ => format!("        {RETURNED} = {value}"),
    });
    text.push_str(&pack(interface));
    text.push_str("    }\n}\n");
    text
}

/// Unions, because they are free at -O0 too and no compiler may look through them by type.
const PRELUDE: &str = "\
__extension__ typedef unsigned long long bitrift_u64;
__extension__ typedef long long bitrift_i64;
union bitrift_f64 { bitrift_u64 bitrift_bits; double bitrift_value; };
union bitrift_f32 { unsigned int bitrift_bits; float bitrift_value; };
";

fn includes(headers: &[String]) -> String {
    headers.iter().map(|h| format!("#include <{h}>\n")).collect()
}

/// The headers of the standard types that parameters and result are written with: nobody should
/// have to name a header to say `size_t`.
fn standard_headers(function: &Function) -> Vec<String> {
    let Interface { parameters, returns, results } = &function.interface;
    let slots = parameters.iter().flat_map(|p| &p.slots).chain(results);
    let types = parameters.iter().map(|p| &p.c_type).chain([returns]).chain(slots.map(|slot| &slot.c_type));
    let header = |word: &str| match word {
        "size_t" | "ptrdiff_t" => Some("stddef.h"),
        "ssize_t" => Some("sys/types.h"),
        "bool" => Some("stdbool.h"),
        "complex" => Some("complex.h"),
        word if word.trim_start_matches('u').starts_with("int") && word.ends_with("_t") => Some("stdint.h"),
        _ => None,
    };
    let found: BTreeSet<&str> = types.flat_map(|t| t.split_whitespace()).filter_map(header).collect();
    found.into_iter().map(String::from).collect()
}

/// The user's own text and what closes it, with its own name in the compiler's messages. The close
/// comes under that name too, because tcc complains about a token only after reading the next.
fn quoted(name: &str, text: &str, close: &str, stem: &str) -> String {
    let plain = |c: char| if c == '"' || c == '\\' || c.is_control() { '_' } else { c };
    let name: String = name.chars().map(plain).collect();
    format!("#line 1 \"{name}\"\n{}\n{close}\n#line 1 \"{stem}.c\"\n", text.trim_end())
}

/// The returned type of a function whose results are all in parameters.
const VOID: &str = "void";

/// The parameters as C declares them.
pub fn parameters(interface: &Interface) -> String {
    let declared = |p: &Parameter| match p.passing {
        Passing::Value => format!("{} {}", p.c_type, p.name),
        Passing::Array(length) => format!("{} {}[{length}]", p.c_type, p.name),
        Passing::Pointer => format!("{} *{}", p.c_type, p.name),
    };
    if interface.parameters.is_empty() {
        return VOID.into();
    }
    interface.parameters.iter().map(declared).collect::<Vec<_>>().join(", ")
}

/// Declares the function under another name for the same symbol: under its own, a compiler that
/// knows a library function of that name puts its own code in place of the call.
fn declaration(function: &Function, prototype: &str, target: &str, stem: &str) -> String {
    let prototype = bare(prototype);
    let renamed = match name_in(prototype) {
        Some((start, end)) => {
            let name = &prototype[start..end];
            format!("extern {}{target}{} __asm__(\"{name}\")", &prototype[..start], &prototype[end..])
        }
        // Not a prototype: let the compiler say so.
        None => format!("extern {prototype}"),
    };
    quoted(&format!("signature of {}", function.name), &renamed, ";", stem)
}

/// Clang goes by the symbol, whatever the name, unless it is told not to in the caller.
fn no_builtin(callee: &Callee) -> String {
    let Callee::Signature(prototype) = callee else { return String::new() };
    let prototype = bare(prototype);
    let Some((start, end)) = name_in(prototype) else { return String::new() };
    format!(
        "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Winvalid-no-builtin-names\"\n\
         __attribute__((no_builtin(\"{}\")))\n#endif\n",
        &prototype[start..end]
    )
}

/// A prototype without what may stand around it.
fn bare(prototype: &str) -> &str {
    let prototype = prototype.trim().trim_end_matches(';').trim_end();
    prototype.strip_prefix("extern ").unwrap_or(prototype)
}

/// A prototype as what stands before the name, the name, and what stands behind it.
pub fn name_in_prototype(prototype: &str) -> Option<(&str, &str, &str)> {
    let prototype = bare(prototype);
    let (start, end) = name_in(prototype)?;
    Some((&prototype[..start], &prototype[start..end], &prototype[end..]))
}

/// Where the function's name stands: the identifier in front of the first parenthesis.
fn name_in(prototype: &str) -> Option<(usize, usize)> {
    let head = prototype[..prototype.find('(')?].trim_end();
    let start = head
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
    (start > 0 && start < head.len()).then_some((start, head.len()))
}

/// Floats go through unions, whose bits are set before the parameters are declared.
fn unpack(interface: &Interface) -> String {
    let (mut unions, mut bits, mut values) = (String::new(), String::new(), String::new());
    let mut puts = String::new();
    let mut word = 0;
    for parameter in &interface.parameters {
        let Parameter { name, c_type, passing, slots } = parameter;
        let mut from = Vec::new();
        for slot in slots {
            if let Some((union, int)) = union_of(slot.ty) {
                unions.push_str(&format!("    union {union} bitrift_p{word};\n"));
                bits.push_str(&format!("    bitrift_p{word}.bitrift_bits = ({int})bitrift_in[{word}];\n"));
                from.push(format!("bitrift_p{word}.bitrift_value"));
            } else {
                from.push(format!("({})({})bitrift_in[{word}]", slot.c_type, integer_type(slot.ty)));
            }
            word += 1;
        }
        match (passing, slots.as_slice(), from.as_slice()) {
            (Passing::Value, [slot], [value]) if slot.place == *name => {
                values.push_str(&format!("        {c_type} {name} = {value};\n"));
            }
            _ => {
                // What no word is put into is the same in every build.
                values.push_str(&object(parameter));
                let put = |(slot, value): (&Slot, &String)| format!("        {} = {value};\n", slot.place);
                puts.extend(slots.iter().zip(&from).map(put));
            }
        }
    }
    if word == 0 {
        bits.push_str("    (void)bitrift_in;\n");
    }
    // In C89 declarations stand before all statements.
    if !is_plain(interface) && interface.returns != VOID {
        values.push_str(&format!("        {} {RETURNED};\n", interface.returns));
    }
    format!("{unions}{bits}    {{\n{values}{puts}")
}

/// Whether scalars go in and one comes out: then each is declared with its value.
fn is_plain(interface: &Interface) -> bool {
    let is_scalar = |p: &Parameter| matches!(p.slots.as_slice(), [slot] if slot.place == p.name);
    let returned = |slot: &Slot| slot.place == RETURNED;
    interface.parameters.iter().all(is_scalar)
        && matches!(interface.results.as_slice(), [one] if returned(one))
}

/// The object of the caller that a parameter is, or points to; its name has the type that was declared, so that an
/// expression in `calls` is written as C programmers write it.
fn object(Parameter { name, c_type, passing, .. }: &Parameter) -> String {
    match passing {
        Passing::Array(length) => format!("        {c_type} {name}[{length}] = {{0}};\n"),
        Passing::Value => format!("        {c_type} {name} = {{0}};\n"),
        Passing::Pointer => format!(
            "        {c_type} bitrift_at_{name} = {{0}};\n        {c_type} *{name} = &bitrift_at_{name};\n"
        ),
    }
}

/// The union through which a float goes, and the integer type of its bits.
fn union_of(ty: Scalar) -> Option<(&'static str, &'static str)> {
    match ty {
        Scalar::F64 => Some(("bitrift_f64", "bitrift_u64")),
        Scalar::F32 => Some(("bitrift_f32", "unsigned int")),
        _ => None,
    }
}

/// Puts the results into words.
fn pack(interface: &Interface) -> String {
    let plain = is_plain(interface);
    let each = |(k, slot): (usize, &Slot)| {
        let place = &slot.place;
        let out = if k == 0 { "*bitrift_out".to_string() } else { format!("bitrift_out[{k}]") };
        match union_of(slot.ty) {
            Some((union, _)) => {
                let lines = format!(
                    "        union {union} bitrift_word;\n        bitrift_word.bitrift_value = {place};\n        \
                     {out} = bitrift_word.bitrift_bits;\n"
                );
                if plain { lines } else { format!("        {{\n{lines}        }}\n") }
            }
            None if slot.ty.is_signed() => {
                let c_type = integer_type(slot.ty);
                format!("        {out} = (bitrift_u64)(bitrift_i64)({c_type}){place};\n")
            }
            None => format!("        {out} = (bitrift_u64)({}){place};\n", integer_type(slot.ty)),
        }
    };
    interface.results.iter().enumerate().map(each).collect()
}

/// The C type of an integer's width on every target.
fn integer_type(ty: Scalar) -> &'static str {
    match ty {
        Scalar::I8 => "signed char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned int",
        Scalar::I64 => "bitrift_i64",
        Scalar::U64 | Scalar::F64 | Scalar::F32 => "bitrift_u64",
    }
}

#[cfg(test)]
#[path = "shim_tests.rs"]
mod tests;
