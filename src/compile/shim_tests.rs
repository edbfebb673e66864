//! What shims look like for each kind of callee and parameter.

use super::*;
use crate::compile::samples;

fn text_of(function: &Function) -> String {
    let stem = format!("bitrift_shim_{}", function.name);
    file_text(&[(&Call::of(function, Implementation::named("", &[])), function.name.as_str())], &stem)
}

fn text(callee: Callee, params: &[(&str, &str, Scalar)]) -> String {
    text_of(&samples::function("airy", params, ("double", Scalar::F64), callee))
}

#[test]
fn a_signature_is_declared_under_another_name_for_the_same_symbol() {
    let text = text(
        Callee::Signature("extern double  remainder (double x, const double y) ;".into()),
        &[("double", "x", Scalar::F64), ("double", "y", Scalar::F64)],
    );
    let declared =
        "extern double  bitrift_target_airy (double x, const double y) __asm__(\"remainder\")\n;\n";
    assert!(text.contains(declared), "{text}");
    assert!(text.contains("double bitrift_result = bitrift_target_airy(x, y);"), "{text}");
}

#[test]
fn a_prototype_without_a_name_is_left_to_the_compiler() {
    for prototype in ["double", "(double x)", "", "f(double x)", "é(double)"] {
        let text = text(Callee::Signature(prototype.into()), &[]);
        assert!(text.contains("\nextern") && !text.contains("__asm__"), "{text}");
    }
}

#[test]
fn the_text_is_the_same_every_time_and_headers_come_first() {
    let mut function = samples::function(
        "f",
        &[("float", "x", Scalar::F32), ("size_t", "n", Scalar::U64)],
        ("int", Scalar::I32),
        Callee::Body("return n > 3 ? (int)x : 0;".into()),
    );
    function.headers = vec!["a.h".into(), "b/c.h".into()];
    let text = text_of(&function);
    assert!(text.starts_with("#include <a.h>\n#include <b/c.h>\n#include <stddef.h>\n"));
    assert_eq!(text, text_of(&function));
    insta::assert_snapshot!(text);
}

#[test]
fn names_that_are_no_identifiers_get_symbols_of_their_own() {
    let mut taken = BTreeSet::new();
    let long = "x".repeat(500);
    let tags: Vec<String> =
        ["a-b", "a b", "a_b_2", "ü", &long, &long].iter().map(|n| unique_tag(n, &mut taken)).collect();
    assert_eq!(&tags[..4], ["a_b", "a_b_2", "a_b_2_2", "_"]);
    assert!(tags[4..].iter().all(|t| t.len() < 130) && tags[4] != tags[5]);
}
