//! JSON that people read: short lists and objects stand on one line.

/// The longest line that a list or an object is put on.
const LINE: usize = 140;
/// How deep a range lies in a lock and in `run.json`: in the list of a build of a function.
const RANGE: usize = 6;

/// Puts every list and object that fits on one line there, and a range whose own lists do not fit on one line of its own:
/// with eight parameters it would be fifty lines. `text` is as serde_json writes it: a line opens one, closes one, or
/// holds one value.
pub(super) fn fold(text: &str) -> String {
    // Where each open one begins among the folded lines.
    let mut open: Vec<usize> = Vec::new();
    let mut folded: Vec<String> = Vec::new();
    for line in text.lines() {
        let body = line.trim_start();
        folded.push(line.into());
        if body.ends_with(['{', '[']) {
            open.push(folded.len() - 1);
        } else if body.starts_with(['}', ']'])
            && let Some(start) = open.pop()
        {
            let inside: Vec<&str> = folded[start + 1..].iter().map(|l| l.trim_start()).collect();
            let (closing, parts) = (body, &inside[..inside.len() - 1]);
            let is_long = parts.iter().any(|part| part.ends_with(['{', '[']));
            // A list that does not fit is one of many parameters; objects that do not fit are every witness.
            let is_row = open.len() == RANGE && parts.iter().any(|part| part.ends_with('['));
            // What is inside is on one line each, or else this would not fit either.
            if start == 0 || (is_long && !is_row) {
                continue;
            }
            let one = match folded[start].ends_with('{') {
                true => format!("{} {} {closing}", folded[start], parts.join(" ")),
                false => format!("{}{}{closing}", folded[start], parts.join(" ")),
            };
            if one.len() <= LINE || is_row {
                folded.truncate(start);
                folded.push(one);
            }
        }
    }
    folded.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn short_lists_and_objects_stand_on_one_line_and_mean_the_same() {
        let value = json!({
            "a": [1, 2, {"b": "}"}], "s": "[\n{", "empty": [], "none": {},
            "long": (0..60).collect::<Vec<_>>(), "deep": [[{"x": "y".repeat(100)}], [{"x": "z".repeat(100)}]],
        });
        let text = fold(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains("\n  \"a\": [1, 2, { \"b\": \"}\" }],\n"), "{text}");
        assert!(text.lines().count() > 60, "{text}");
    }

    #[test]
    fn a_range_of_many_parameters_is_one_line_and_one_of_few_has_a_line_for_each_field() {
        let number = |i: usize| json!({"hex": format!("0x1.{}p+{i}", "8".repeat(9)), "dec": i.to_string()});
        let range = |params: usize| {
            let list: Vec<Value> = (0..params).map(number).collect();
            json!({"lo": list, "hi": list, "max_bits": 52.5, "witness": {"inputs": list, "baseline": number(1)}})
        };
        let lines = |params: usize| {
            let value =
                json!({"functions": {"f": {"builds": {"b": {"ranges": [range(params), range(params)]}}}}});
            let text = fold(&serde_json::to_string_pretty(&value).unwrap());
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            text.lines().count()
        };
        assert_eq!((lines(1), lines(8)), (12 + 2 * 6, 12 + 2));
    }
}
