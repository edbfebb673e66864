//! The stages of ARCHITECTURE.md, enforced: allowed imports, file lengths, purpose lines, named folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 450;
const MOST_FUNCTION_LINES: usize = 80;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| endings.iter().any(|want| e == *want)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The rows of the stage table: stage -> stages it may use.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut table: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let stage = cells[1].trim_matches('`').to_owned();
        let uses: BTreeSet<String> = match cells[3] {
            "all above" => table.keys().cloned().collect(),
            names => names.split_whitespace().map(str::to_owned).collect(),
        };
        for used in &uses {
            assert!(table.contains_key(used), "ARCHITECTURE.md: {stage} uses {used}, which is not above it");
        }
        table.insert(stage, uses);
    }
    table
}

/// The stage a source file belongs to; None for lib.rs and main.rs.
fn stage_of(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_str().unwrap().to_owned();
    (inside.components().count() > 1).then_some(first)
}

/// Every `crate::name` in a text, also inside `use crate::{a, b::c}`.
fn crate_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find("crate::") {
        let preceded = rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        rest = &rest[at + "crate::".len()..];
        if preceded {
            continue;
        }
        let head = |s: &str| -> String {
            s.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0usize;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '}' if depth == 0 => break,
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        names.insert(head(&std::mem::take(&mut item)));
                        continue;
                    }
                    _ => {}
                }
                item.push(c);
            }
            names.insert(head(&item));
        } else {
            names.insert(head(rest));
        }
    }
    names.remove("");
    names
}

#[test]
fn every_stage_uses_only_the_stages_it_may() {
    let allowed = allowed();
    let mut wrong = Vec::new();
    for path in files_below(&root().join("src"), &["rs"]) {
        let Some(stage) = stage_of(&path) else { continue };
        let text = fs::read_to_string(&path).unwrap();
        for used in crate_names(&text) {
            let known = allowed.contains_key(&used);
            let fine = used == stage || allowed.get(&stage).is_some_and(|a| a.contains(&used));
            if known && !fine {
                wrong.push(format!("{}: {stage} may not use {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_architecture_document_names_every_folder_and_no_other() {
    let named: BTreeSet<String> = allowed().into_keys().collect();
    let folders: BTreeSet<String> = fs::read_dir(root().join("src"))
        .unwrap()
        .map(|e| e.unwrap())
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    assert_eq!(named, folders);
}

#[test]
fn files_stay_short_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for (folder, endings) in
        [("src", &["rs"][..]), ("harness-c", &["c", "h"]), ("tests", &["rs"]), ("benches", &["rs"])]
    {
        for path in files_below(&root().join(folder), endings) {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().count();
            if lines > MOST_LINES {
                wrong.push(format!("{}: {lines} lines, at most {MOST_LINES}", path.display()));
            }
            if !text.starts_with("//!") && !text.starts_with("/*") {
                wrong.push(format!("{}: no purpose line at the top", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands before a name in a definition, without the words that say who may use it and how it is called.
fn definition<'a>(line: &'a str, kinds: &[&str]) -> Option<&'a str> {
    let mut rest = line;
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(within) => within.split_once(") ")?.1,
            None => after.trim_start(),
        };
    }
    for word in ["const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = kinds.iter().find_map(|kind| rest.strip_prefix(kind)?.strip_prefix(' '))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Types that a file defines at its own level, outside its tests.
fn types_of(text: &str) -> Vec<&str> {
    let mut types = Vec::new();
    let (mut marked, mut in_tests) = (false, false);
    for line in text.lines() {
        in_tests |= marked && line.contains("mod ") && line.ends_with('{');
        marked = line == "#[cfg(test)]";
        if !in_tests {
            types.extend(definition(line, &["struct", "enum", "trait", "type", "union"]));
        }
        in_tests &= line != "}";
    }
    types
}

/// Functions of a formatted file and how many lines each has, the signature included.
fn functions_of(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some(name) = definition(line.trim_start(), &["fn"]) else { continue };
        let ends = |line: &&str| {
            let code = line.get(indent..).filter(|_| line[..indent].trim().is_empty()).unwrap_or("");
            code.starts_with('}') || (code.starts_with(')') && code.ends_with(';'))
        };
        let more = match line.ends_with(['}', ';']) {
            true => 0,
            false => lines[i + 1..].iter().position(ends).map_or(0, |at| at + 1),
        };
        functions.push((name, 1 + more));
    }
    functions
}

#[test]
fn a_stage_defines_a_type_name_once() {
    let mut known: BTreeMap<(String, String), PathBuf> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in files_below(&root().join("src"), &["rs"]) {
        let Some(stage) = stage_of(&path) else { continue };
        if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests")) {
            continue;
        }
        for name in types_of(&fs::read_to_string(&path).unwrap()) {
            let key = (stage.clone(), name.to_owned());
            if let Some(first) = known.insert(key, path.clone()) {
                wrong.push(format!("{}: {name} is also defined in {}", path.display(), first.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_stay_short() {
    let mut wrong = Vec::new();
    for path in files_below(&root().join("src"), &["rs"]) {
        let inside = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for (name, lines) in functions_of(&text) {
            if lines > MOST_FUNCTION_LINES {
                wrong.push(format!("{inside}: {name} has {lines} lines, at most {MOST_FUNCTION_LINES}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn definitions_are_read_in_every_form() {
    let text = "pub(super) struct A;\npub enum B {\n    type C = D;\n}\n#[cfg(test)]\nmod tests {\n    x\n\
        struct E;\n}\ntype F = u8;\nlet struct_g = 1;";
    assert_eq!(types_of(text), ["A", "B", "F"]);
    let text = "fn a() {}\nimpl X {\n    pub const unsafe fn b(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n\
        \n    fn c(\n        self,\n    );\n}\n";
    assert_eq!(functions_of(text), [("a", 1), ("b", 5), ("c", 3)]);
}

#[test]
fn unsafe_stays_in_the_loading_and_guarded_call_code() {
    for path in files_below(&root().join("src"), &["rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        let uses = text
            .lines()
            .any(|l| l.contains("unsafe {") || l.contains("unsafe fn") || l.contains("unsafe impl"));
        let may = matches!(stage_of(&path).as_deref(), Some("eval" | "pool" | "sandbox"));
        assert!(!uses || may, "{}: unsafe outside eval, pool and sandbox", path.display());
    }
}

#[test]
fn import_lists_are_read_in_every_form() {
    let text = "use crate::{fp::{Scalar, Side}, model};\nlet x = crate::eval::y();\nuse mycrate::plan;";
    let names: Vec<String> = crate_names(text).into_iter().collect();
    assert_eq!(names, ["eval", "fp", "model"]);
}
