//! `bitrift explain` on libraries of several folders: headers that are put in place read as they did from their own.

use crate::common::Desk;
use serde_json::Value;

/// Headers that include each other beside themselves, above and below; the guilty statement stands three deep.
const LIBRARY: [(&str, &str); 8] = [
    (
        "src/a.c",
        "#include \"a.h\"\n#include \"detail/once.h\"\n\
         double top(double a, double b) { return outer(a, b) * 2 + once(0) + again(0); }\n",
    ),
    (
        "inc/a.h",
        "#ifndef A_H\n#define A_H\n#include \"detail/b.h\"\n#include \"detail/once.h\"\n\
         static inline double outer(double a, double b) { return error_of(a, b); }\n#endif\n",
    ),
    (
        "inc/detail/b.h",
        "#pragma once\n#include \"../c.h\" /* above */\n#include \"d.h\"\n#ifdef NOWHERE\n#include \"nowhere.h\"\n\
         #endif\nstatic inline real error_of(real a, real b)\n{\n    real s = a + b;\n    real t = s - a;\n    \
         return helped(b - t);\n}\n",
    ),
    ("inc/c.h", "#pragma once\ntypedef double real;\n"),
    (
        "inc/detail/d.h",
        "#pragma once\n#include \"../c.h\"\n#include \"once.h\"\n\
         static inline real helped(real x) { return x * 0.5; }\n",
    ),
    (
        "inc/detail/once.h",
        "#pragma once\n#include \"../c.h\"\n#include \"../deep/../again.h\"\n\
         static inline real once(real x) { return x * 0.25; }\n",
    ),
    (
        "inc/again.h",
        "#ifndef AGAIN_H\n#define AGAIN_H\n#include \"detail/once.h\"\nstatic inline double again(double x) { return x * 4; }\n\
         #endif\n",
    ),
    // A header of the same name in another folder: not the one that anybody means.
    ("src/d.h", "#error \"the wrong d.h\"\n"),
];

fn matrix(compiler: &str) -> String {
    format!(
        "[lab]\nname = \"folders\"\nbaseline = \"c/O0/native\"\n\n[search]\nbudget = 4000\n\n[sources]\nfiles = [\"src/*.c\"]\n\
         include = [\"inc\"]\nlibs = [\"m\"]\n\n[[compiler]]\nname = \"c\"\ncommand = \"{compiler}\"\n\n\
         [[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n\n[[flags]]\nname = \"fast\"\nargs = [\"-O3\", \"-ffast-math\"]\n\n\
         [[function]]\nsignature = \"double top(double a, double b)\"\ndomain = {{ a = \"[1e3, 1e6]\", b = \"[1e-3, 1]\" }}\n"
    )
}

/// The row of the one finding of a library.
fn row(files: &[(&str, &str)], compiler: &str) -> Value {
    let desk = Desk::new();
    for (name, text) in files {
        desk.write(name, text);
    }
    desk.write("inc/deep/here", "").write("matrix.toml", &matrix(compiler));
    desk.expect(0, &["run", "--quiet", "--out", "run"]);
    let file = desk.expect(0, &["explain", "run", "--quiet", "--json"]).json();
    file["findings"].as_object().unwrap().values().next().expect("a finding").clone()
}

/// The same, of a library whose every mix can be made.
fn explained(files: &[(&str, &str)], compiler: &str) -> Value {
    let row = row(files, compiler);
    let texts = row["layers"].as_object().unwrap().values().map(|layer| layer["text"].as_str().unwrap());
    let failed: Vec<&str> = texts.filter(|text| text.contains("could not be made")).collect();
    assert!(failed.is_empty(), "{compiler}: {failed:?}");
    row
}

fn suspects(row: &Value, layer: &str) -> Vec<Value> {
    let sets = row["layers"][layer]["causes"].as_array().unwrap();
    sets.iter().flat_map(|set| set.as_array().unwrap().clone()).collect()
}

#[test]
fn a_header_in_another_folder_is_taken_apart_with_the_headers_beside_it() {
    for compiler in ["clang-16", "gcc"] {
        let row = explained(&LIBRARY, compiler);
        assert_eq!(row["layers"]["function"]["standing"], "found", "{compiler}: {row:#}");
        for suspect in suspects(&row, "function") {
            assert_eq!(suspect["file"], "inc/detail/b.h", "{compiler}: {row:#}");
            assert_eq!(suspect["function"], "error_of", "{compiler}: {row:#}");
        }
        if compiler == "clang-16" {
            let statements = suspects(&row, "statement");
            assert!(!statements.is_empty(), "{row:#}");
            assert!(statements.iter().all(|s| (9..=11).contains(&s["line"].as_u64().unwrap())), "{row:#}");
        }
    }
}

#[test]
fn a_header_says_the_same_file_and_line_of_itself_in_place() {
    // Its result depends on both: in a mix in which one of them were another, nothing would agree.
    let told = "#pragma once\n#include \"../c.h\"\nstatic inline real helped(real x)\n{\n    \
                return x * __LINE__ * (real)sizeof __FILE__;\n}\n";
    let mut files = LIBRARY.to_vec();
    files[4].1 = told;
    for compiler in ["clang-16", "gcc"] {
        let row = explained(&files, compiler);
        assert_eq!(row["layers"]["function"]["standing"], "found", "{compiler}: {row:#}");
        assert_eq!(suspects(&row, "function")[0]["function"], "error_of", "{compiler}: {row:#}");
    }
}

#[test]
fn a_header_that_finds_its_includes_by_a_macro_stays_where_it_is() {
    let macros = "#pragma once\n#define TYPES \"../c.h\"\n#include TYPES\n\
                  static inline real helped(real x) { return x * 0.5; }\n";
    let mut files = LIBRARY.to_vec();
    files[4].1 = macros;
    for compiler in ["clang-16", "gcc"] {
        let row = explained(&files, compiler);
        assert_eq!(row["layers"]["function"]["standing"], "found", "{compiler}: {row:#}");
        assert_eq!(suspects(&row, "function")[0]["function"], "error_of", "{compiler}: {row:#}");
    }
}

#[test]
fn code_that_does_not_compile_in_place_blames_nobody_and_says_why() {
    let told = "#pragma once\n#if __INCLUDE_LEVEL__ == 0\n#error \"this is a header\"\n#endif\n#include \"../c.h\"\n\
                static inline real helped(real x) { return x * 0.5; }\n";
    let mut files = LIBRARY.to_vec();
    files[4].1 = told;
    let row = row(&files, "clang-16");
    let function = &row["layers"]["function"];
    assert_eq!(function["standing"], "stopped", "{row:#}");
    assert!(function["causes"].as_array().is_none_or(Vec::is_empty), "{row:#}");
    assert!(function["text"].as_str().unwrap().contains("this is a header"), "{row:#}");
}
