//! Domains against a direct evaluation of what their text means.

use proptest::prelude::*;

use super::*;

fn kind(ty: Scalar) -> Kind<'static> {
    Kind { ty, c_type: ty.c_name() }
}

fn domain(ty: Scalar, text: &str) -> Domain {
    parse(kind(ty), text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

fn holds(domain: &Domain, x: f64) -> bool {
    domain.contains(Scalar::F64.axis(x.to_bits()).unwrap())
}

fn holds_int(domain: &Domain, ty: Scalar, x: i64) -> bool {
    domain.contains(ty.axis(x.cast_unsigned()).unwrap())
}

/// A piece of a domain as data, with its text and its meaning side by side.
#[derive(Clone, Debug)]
enum Piece<T> {
    Interval(T, bool, T, bool),
    Values(Vec<T>),
    One(T),
    Compare(&'static str, T),
}

impl<T: Copy + PartialOrd> Piece<T> {
    fn text(&self, show: fn(T) -> String) -> String {
        match self {
            Piece::Interval(lo, lo_open, hi, hi_open) => {
                let (open, close) = (if *lo_open { '(' } else { '[' }, if *hi_open { ')' } else { ']' });
                format!("{open}{}, {}{close}", show(*lo), show(*hi))
            }
            Piece::Values(values) => {
                format!("{{{}}}", values.iter().map(|v| show(*v)).collect::<Vec<_>>().join(", "))
            }
            Piece::One(value) => show(*value),
            Piece::Compare(sign, value) => format!("{sign} {}", show(*value)),
        }
    }

    /// Whether a value is in this interval or list.
    fn adds(&self, x: T) -> bool {
        match self {
            Piece::Interval(lo, lo_open, hi, hi_open) => {
                (if *lo_open { x > *lo } else { x >= *lo }) && (if *hi_open { x < *hi } else { x <= *hi })
            }
            Piece::Values(values) => values.contains(&x),
            Piece::One(value) => x == *value,
            Piece::Compare(..) => false,
        }
    }

    fn permits(&self, x: T) -> bool {
        match self {
            Piece::Compare("<", value) => x < *value,
            Piece::Compare("<=", value) => x <= *value,
            Piece::Compare(">", value) => x > *value,
            Piece::Compare(">=", value) => x >= *value,
            Piece::Compare("==", value) => x == *value,
            Piece::Compare(_, value) => x != *value,
            _ => true,
        }
    }
}

fn means<T: Copy + PartialOrd>(pieces: &[Piece<T>], x: T) -> bool {
    let all = pieces.iter().all(|piece| matches!(piece, Piece::Compare(..)));
    (all || pieces.iter().any(|piece| piece.adds(x))) && pieces.iter().all(|piece| piece.permits(x))
}

/// Pieces over a few numbers, so that ends coincide often.
fn pieces<T: Copy + PartialOrd + std::fmt::Debug + 'static>(
    numbers: Vec<T>,
) -> impl Strategy<Value = Vec<Piece<T>>> {
    let number = prop::sample::select(numbers);
    let sign = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let interval = (number.clone(), any::<bool>(), number.clone(), any::<bool>())
        .prop_filter("ends in order", |(lo, _, hi, _)| lo < hi)
        .prop_map(|(lo, lo_open, hi, hi_open)| Piece::Interval(lo, lo_open, hi, hi_open));
    let piece = prop_oneof![
        3 => interval,
        1 => prop::collection::vec(number.clone(), 1..4).prop_map(Piece::Values),
        1 => number.clone().prop_map(Piece::One),
        3 => (sign, number).prop_map(|(sign, value)| Piece::Compare(sign, value)),
    ];
    prop::collection::vec(piece, 1..5)
}

fn doubles() -> Vec<f64> {
    vec![
        -1e300,
        -2.0,
        -1.0,
        -5e-324,
        0.0,
        -0.0,
        5e-324,
        1e-310,
        0.1,
        1.0,
        1.5,
        2.0,
        1e300,
        f64::MAX,
        f64::MIN,
    ]
}

proptest! {
    #[test]
    fn membership_of_doubles_is_what_the_text_says(parts in pieces(doubles()), bits: u64, hex: bool) {
        let show: fn(f64) -> String = if hex {
            |x| crate::fp::format_hex(Scalar::F64, x.to_bits())
        } else {
            |x| format!("{x:?}")
        };
        let text = parts.iter().map(|p| p.text(show)).collect::<Vec<_>>().join(", ");
        let random = f64::from_bits(bits);
        let candidates = doubles().into_iter().flat_map(|x| [x, x.next_up(), x.next_down()]).chain([random]);
        let candidates: Vec<f64> = candidates.filter(|x| x.is_finite()).collect();
        match parse(kind(Scalar::F64), &text) {
            Ok(domain) => {
                for x in candidates {
                    prop_assert_eq!(holds(&domain, x), means(&parts, x), "{} at {:?}", text, x);
                }
                check_shape(&domain);
            }
            // Only what holds no value at all may be refused.
            Err(fault) => {
                prop_assert!(fault.title.contains("empty"), "{}: {:?}", text, fault);
                let hollow = parts.iter().any(|p| {
                    matches!(p, Piece::Interval(..)) && !candidates.iter().any(|x| p.adds(*x))
                });
                prop_assert!(hollow || !candidates.iter().any(|x| means(&parts, *x)), "{}", text);
            }
        }
    }

    #[test]
    fn membership_of_integers_is_what_the_text_says(parts in pieces((-9i64..=9).collect()), any: i32) {
        let show: fn(i64) -> String = |x| x.to_string();
        let text = parts.iter().map(|p| p.text(show)).collect::<Vec<_>>().join(",");
        if let Ok(domain) = parse(kind(Scalar::I32), &text) {
            for x in (-12..=12).chain([i64::from(any), i32::MIN.into(), i32::MAX.into()]) {
                prop_assert_eq!(holds_int(&domain, Scalar::I32, x), means(&parts, x), "{} at {}", text, x);
            }
            check_shape(&domain);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[-\\[\\](){}0-9a-fpx.,<>=! é+]{0,30}", other in ".{0,30}") {
        for ty in Scalar::ALL {
            for text in [&text, &other] {
                if let Err(fault) = parse(kind(ty), text) {
                    prop_assert!(text.get(fault.range).is_some());
                }
            }
        }
    }
}

fn check_shape(domain: &Domain) {
    for pair in domain.segments.windows(2) {
        assert!(pair[0].side < pair[1].side || (pair[0].side == pair[1].side && pair[0].hi < pair[1].lo));
    }
    assert!(domain.segments.iter().all(|s| s.lo <= s.hi));
}

#[test]
fn zeros_come_and_go_together() {
    for (text, both) in
        [("[0, 1]", true), ("(0, 1]", false), ("!= 0", false), ("-0", true), (">= -0.0", true)]
    {
        let domain = domain(Scalar::F64, text);
        assert_eq!((holds(&domain, 0.0), holds(&domain, -0.0)), (both, both), "{text}");
    }
}

#[test]
fn infinity_is_there_only_when_an_end_is_closed_at_it() {
    for (text, above, below) in [
        ("[0, inf]", true, false),
        ("[0, inf)", false, false),
        ("> 0", false, false),
        ("<= inf", true, false),
        (">= -inf, <= inf", true, true),
        ("[-inf, inf], != inf", false, true),
        ("{-inf, 1}", false, true),
        ("== inf", true, false),
        ("(-inf, inf)", false, false),
    ] {
        let domain = domain(Scalar::F64, text);
        assert_eq!(
            (holds(&domain, f64::INFINITY), holds(&domain, f64::NEG_INFINITY)),
            (above, below),
            "{text}"
        );
    }
    assert_eq!(domain(Scalar::F64, "(-inf, inf)"), Domain::all(Scalar::F64));
    assert_eq!(domain(Scalar::F32, "< inf"), Domain::all(Scalar::F32));
}

#[test]
fn a_float_domain_is_rounded_to_float() {
    let domain = domain(Scalar::F32, "[0x1p-3, 0.1e1)");
    let below_one = u64::from(1.0f32.next_down().to_bits());
    assert!(domain.contains(Scalar::F32.axis(below_one).unwrap()));
    assert!(!domain.contains(Scalar::F32.axis(u64::from(1.0f32.to_bits())).unwrap()));
}

#[test]
fn an_endless_domain_is_refused() {
    let text = "!= 1,".repeat(5000) + "!= 2";
    assert!(parse(kind(Scalar::F64), &text).unwrap_err().title.contains("too many"));
    let list = |count: usize| format!("{{{}}}", vec!["1"; count].join(", "));
    assert!(parse(kind(Scalar::I32), &list(5000)).unwrap_err().title.contains("too many"));
    assert!(parse(kind(Scalar::I32), &list(4096)).is_ok());
}

#[test]
fn wrong_domains_are_pointed_at() {
    use Scalar::{F32, F64, I32, U8};
    for (ty, text, part, words) in [
        (F64, "", "", "empty"),
        (F64, "[1, 0]", "[1, 0]", "reversed"),
        (F64, "(1, 1)", "(1, 1)", "empty"),
        (F64, "[0, nan]", "nan", "NaN"),
        (F64, "[0, 1", "1", "not closed"),
        (F64, "[0 1]", "1", "two ends"),
        (F64, "[0, 1, 2]", ",", "not closed"),
        (F64, "x > 0", "x", "unexpected `x`"),
        (F64, "0 < x", "<", "unexpected `<`"),
        (F64, "= 3", "=", "single `=`"),
        (F64, "> 0,", ",", "ends too early"),
        (F64, "{}", "{}", "list is empty"),
        (F64, "{1; 2}", ";", "not closed"),
        (F64, "> 1, < 0", "> 1, < 0", "empty"),
        (F64, "[0, 1e400]", "1e400", "too large"),
        (F32, "< 1e39", "1e39", "too large"),
        (F64, "> 1e-400", "1e-400", "too small"),
        (F64, "1.5.2", "1.5.2", "not a number"),
        (F64, "--5", "-", "number"),
        (F64, "> ", " ", "number is missing"),
        (I32, "1.5", "1.5", "not an integer"),
        (I32, "[0, 3e9]", "3e9", "does not fit"),
        (I32, "[0, inf)", "inf", "no infinity"),
        (U8, "> -1", "-1", "does not fit"),
        (U8, "256", "256", "does not fit"),
        (I32, "(1, 2)", "(1, 2)", "empty"),
    ] {
        let fault = parse(kind(ty), text).unwrap_err();
        assert!(fault.title.contains(words), "{text}: {}", fault.title);
        assert_eq!(&text[fault.range.clone()], part, "{text}");
    }
}
