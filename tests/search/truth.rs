//! What a search found, held against a truth made by hand.

use bitrift::findings::{Truth, TruthCount, score};
use bitrift::model::TruthFile;
use serde_json::{Value, json};

/// Inputs of a cell of 1/16 binade.
const CELL: u64 = 1 << 19;

/// The floats from 1 up to 2, and -1 alone: 17 cells. Cells 4 and 5 are all inconsistent, cell 8 has ten
/// inconsistent inputs, and -1 is one.
fn file() -> Value {
    let number = |hex: &str| json!({"hex": hex, "dec": ""});
    let build = |id: &str| {
        json!({"id": id, "compiler": "c", "version": "1", "flags": [], "target": "native", "fpenv": "ieee",
            "emulated": false, "status": "built", "reason": ""})
    };
    // Binades count from the smallest subnormal: 1 lies 127 + 22 of them and one for zero away from it.
    let first = (127 + 23) * 16;
    json!({
        "schema": "bitrift.truth/1", "bitrift": "0", "name": "hand", "host": {"cpu": "", "libm": ""},
        "function": "f", "params": [{"name": "x", "type": "float"}], "result": "float", "domains": [""],
        "swept": 0,
        "segments": [
            {"lo": number("-0x1p+0"), "hi": number("-0x1p+0")},
            {"lo": number("0x1p+0"), "hi": number("0x1.fffffep+0")},
        ],
        "baseline": build("c/O0/native"),
        "comparisons": [{
            "build": build("c/O3/native"), "inputs": 16 * CELL + 1, "inconsistent": 2 * CELL + 11,
            "max_bits": 20.0, "at_max": 1, "witness": null, "cells": 17, "cells_inconsistent": 4,
            "counts": [
                {"side": "negative", "first": first, "counts": "+"},
                {"side": "positive", "first": first, "counts": "4*- 2*+ 2*- a 7*-"},
            ],
        }],
    })
}

fn truth() -> Truth {
    let file: TruthFile = serde_json::from_value(file()).unwrap();
    let [truth] = Truth::read(&file).unwrap().try_into().unwrap();
    truth
}

fn scored(ranges: &[(f32, f32)]) -> TruthCount {
    let bits = |x: f32| u64::from(x.to_bits());
    let ranges: Vec<(u64, u64)> = ranges.iter().map(|&(lo, hi)| (bits(lo), bits(hi))).collect();
    score(&truth(), 19.5, &ranges)
}

#[test]
fn a_range_of_exactly_the_inconsistent_cells_holds_them_and_nothing_else() {
    let found = scored(&[(1.25, 1.375f32.next_down()), (-1.0, -1.0)]);
    assert_eq!((found.inputs_in, found.inconsistent_in), (2 * CELL + 1, [2 * CELL + 1; 2]));
    assert_eq!((found.cells_in, found.cells_held, found.cells_inconsistent), (3, 3, 4));
    assert_eq!((found.tightness(), found.density(), found.shortfall()), (1.0, 1.0, 0.5));
    assert_eq!(found.recall(), (2 * CELL + 1) as f64 / (2 * CELL + 11) as f64);
    let domain = (2 * CELL + 11) as f64 / (16 * CELL + 1) as f64;
    assert!((found.gain().unwrap() * domain - 1.0).abs() < 1e-12);
}

#[test]
fn one_range_over_everything_holds_all_and_is_not_tight() {
    let found = scored(&[(-2.0, 4.0)]);
    assert_eq!((found.recall(), found.inputs_in), (1.0, 16 * CELL + 1));
    assert_eq!((found.cells_in, found.cells_held), (17, 4));
    assert!((found.gain().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn a_cell_that_a_range_cuts_counts_for_what_must_lie_inside() {
    // All but the last input of cell 4, then half of cell 8.
    let end = f32::from_bits(1.3125f32.to_bits() - 2);
    let found = scored(&[(1.25, end), (1.5, 1.53125f32.next_down())]);
    assert_eq!(found.inputs_in, CELL - 1 + CELL / 2);
    assert_eq!(found.inconsistent_in, [CELL - 1, CELL - 1 + 10]);
    assert_eq!((found.cells_in, found.cells_held), (2, 2));
    // All but five of cell 8: at least five of its ten are inside.
    let found = scored(&[(1.5, f32::from_bits(1.5625f32.to_bits() - 6))]);
    assert_eq!(found.inconsistent_in, [5, 10]);
}

#[test]
fn ranges_that_overlap_count_once_and_none_is_no_range() {
    let twice = scored(&[(1.25, 1.3), (1.2, 1.375), (1.25, 1.3)]);
    assert_eq!(twice, scored(&[(1.2, 1.375)]));
    let none = scored(&[]);
    assert_eq!((none.recall(), none.tightness(), none.gain()), (0.0, 1.0, None));
}

#[test]
fn a_truth_that_makes_no_sense_is_refused_with_the_place() {
    for (at, value, words) in [
        ("/comparisons/0/counts/1/counts", json!("99*-"), "`99*-` reaches beyond the last cell"),
        ("/comparisons/0/counts/1/counts", json!("zzzzzz"), "`zzzzzz` is no number of inputs"),
        ("/comparisons/0/counts/1/side", json!("negative"), "a side of the domain is missing"),
        ("/segments/0/hi/hex", json!("0x1p+0"), "-0x1p+0 to 0x1p+0 is no stretch of one side"),
        ("/swept", json!(3), "there is no such parameter"),
    ] {
        let mut file = file();
        *file.pointer_mut(at).unwrap() = value;
        let error = match serde_json::from_value::<TruthFile>(file) {
            Ok(file) => Truth::read(&file).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        let named = error.starts_with("the truth of f, at `") || error.starts_with("swept: ");
        assert!(error.contains(words) && named, "{error}");
    }
}
