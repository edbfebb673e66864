//! Sources with their includes in place.

use super::*;

/// A folder with files.
fn files(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn expanded(folder: &Path, include: &[&str]) -> Expanded {
    let include: Vec<PathBuf> = include.iter().map(|name| folder.join(name)).collect();
    Expanded::read(&folder.join("src/main.c"), &IncludeFolders::new(&[], &include), &|_| true).unwrap()
}

#[test]
fn included_code_stands_in_place_and_lines_keep_their_origin() {
    let folder = files(&[
        ("src/types.h", "typedef double real;\n"),
        ("src/inner.h", "#include \"types.h\"\nstatic double half(double x) {\n  return x / 2;\n}"),
        (
            "src/main.c",
            "#include \"types.h\"\n# include \"inner.h\"\ndouble f(double x) {\n  return half(x);\n}\n",
        ),
    ]);
    let whole = expanded(folder.path(), &[]);
    let at = |words: &str| {
        let line = whole.text.lines().position(|l| l.contains(words)).unwrap() + 1;
        let (path, line) = whole.origin(line).unwrap();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), line)
    };
    assert_eq!(at("return x / 2"), ("inner.h".into(), 3));
    assert_eq!(at("return half"), ("main.c".into(), 4));
    assert!(whole.text.contains("#include \"types.h\""));
    assert_eq!(Source::new(&whole.text).functions().len(), 2);
}

#[test]
fn an_include_of_a_header_in_another_folder_names_the_file_it_found_there() {
    let folder = files(&[
        ("src/main.c", "#include \"a.h\"\n"),
        ("inc/a.h", "#include \"b/b.h\"\n#include <math.h>\n#include \"missing.h\"\n"),
        ("inc/b/b.h", "#include \"../types.h\"\n#include \"types.h\"\nstatic real f(real x) { return x; }\n"),
        ("inc/types.h", "typedef double real;\n"),
        ("inc/b/types.h", "typedef float small;\n"),
    ]);
    let text = expanded(folder.path(), &["inc"]).text;
    let inc = folder.path().join("inc");
    for name in ["b/../types.h", "b/types.h"] {
        assert!(text.contains(&format!("#include \"{}\"", inc.join(name).display())), "{text}");
    }
    assert!(text.contains("#include <math.h>\n#include \"missing.h\"\n"), "{text}");
}

#[test]
fn a_guarded_header_is_there_once_and_one_without_a_guard_each_time() {
    for (start, end, times) in
        [("#pragma once\n", "", 1), ("#ifndef S_H\n#define S_H\n", "#endif\n", 1), ("", "", 2)]
    {
        let shared = format!("{start}static double f(double x) {{ return x; }}\n{end}");
        let folder = files(&[
            ("src/main.c", "#include \"a.h\"\n#include \"shared.h\"\n"),
            ("src/a.h", "#include \"shared.h\"\n"),
            ("src/shared.h", &shared),
        ]);
        let text = expanded(folder.path(), &[]).text;
        assert_eq!(text.matches("return x;").count(), times, "{text}");
        assert!(!text.contains("#pragma once"), "{text}");
    }
}

#[test]
fn a_guarded_header_under_a_condition_stands_behind_it_again() {
    let folder = files(&[
        ("src/main.c", "#ifdef NOT_DEFINED\n#include \"once.h\"\n#endif\n#include \"once.h\"\n"),
        ("src/once.h", "#pragma once\nstatic double f(double x) { return x; }\n"),
    ]);
    let text = expanded(folder.path(), &[]).text;
    assert_eq!(text.matches("return x;").count(), 2, "{text}");
    assert_eq!(text.matches("#ifndef BITRIFT_ONCE_0\n").count(), 2, "{text}");
}

#[test]
fn headers_that_include_each_other_come_to_an_end() {
    let folder = files(&[
        ("src/main.c", "#include \"a.h\"\n"),
        ("src/a.h", "#pragma once\n#include \"b.h\"\n#include \"c.h\"\n"),
        ("src/b.h", "#pragma once\n#include \"a.h\"\n"),
        ("src/c.h", "#pragma once\n#include \"b.h\"\nstatic double f(double x) { return x; }\n"),
    ]);
    let text = expanded(folder.path(), &[]).text;
    assert_eq!(text.matches("return x;").count(), 1, "{text}");
}

#[test]
fn what_may_not_be_read_or_has_no_end_stays_a_name() {
    let folder = files(&[
        (
            "src/main.c",
            "#ifdef NEVER\n#include \"../keys/key.h\"\n#include \"/proc/self/pagemap\"\n#endif\nint f(void) {\n  return 1;\n}\n",
        ),
        ("keys/key.h", "static int secret(void) {\n  return 4711;\n}\n"),
    ]);
    let main = folder.path().join("src/main.c");
    let text =
        |may_read: MayRead<'_>| Expanded::read(&main, &IncludeFolders::default(), may_read).map(|e| e.text);
    assert!(text(&|_| true).unwrap().contains("4711"));
    let kept = text(&|path| !path.components().any(|part| part.as_os_str() == "keys")).unwrap();
    assert!(!kept.contains("4711") && kept.contains("key.h") && kept.contains("pagemap"), "{kept}");
    assert!(text(&|_| false).is_err(), "the source itself");
}
