//! The stages of ARCHITECTURE.md, enforced: allowed imports, file lengths, purpose lines, named folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 450;

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

#[test]
fn unsafe_stays_in_the_loading_and_guarded_call_code() {
    for path in files_below(&root().join("src"), &["rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        let uses = text
            .lines()
            .any(|l| l.contains("unsafe {") || l.contains("unsafe fn") || l.contains("unsafe impl"));
        let may = matches!(stage_of(&path).as_deref(), Some("eval" | "pool"));
        assert!(!uses || may, "{}: unsafe outside eval and pool", path.display());
    }
}

#[test]
fn import_lists_are_read_in_every_form() {
    let text = "use crate::{fp::{Scalar, Side}, model};\nlet x = crate::eval::y();\nuse mycrate::plan;";
    let names: Vec<String> = crate_names(text).into_iter().collect();
    assert_eq!(names, ["eval", "fp", "model"]);
}
