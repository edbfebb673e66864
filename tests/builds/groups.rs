//! Shims that share a file: what is compiled again, and what a function that does not work costs the others.

use std::collections::BTreeSet;
use std::fs;

use bitrift::matrix;
use bitrift::model::{Build, Function};
use bitrift::plan;

use crate::lab::{Lab, build, every_compiler, load, missing, object, unary};

/// A source with functions `f0`, `f1`, ... that add their number, and the functions.
fn many(count: usize) -> (String, Vec<Function>) {
    let source = (0..count).map(|n| format!("double f{n}(double x) {{ return x + {n}; }}\n"));
    (source.collect(), (0..count).map(|n| unary(&format!("f{n}"))).collect())
}

/// Builds whose shims share files, and one whose shims do not.
fn builds() -> Vec<Build> {
    let mut builds = every_compiler();
    builds.push(build("gcc", &["-O2", "-fuse-ld=gold"]));
    builds.push(build("clang-16", &["-O0"]));
    builds.push(build("gcc", &["-O2", "-g"]));
    builds.push(build("gcc", &["-O2", "-flto"]));
    builds.push(build("gcc", &["-O2"]).plainly());
    builds
}

#[test]
fn a_broken_function_costs_its_own_row_alone() {
    let (source, mut functions) = many(100);
    functions[7] = unary("nowhere");
    functions[42].interface.parameters[0].c_type = "no_such_type".into();
    let lab = Lab::new(&[("a.c", &source)], functions);
    let builds = builds();
    let compiled = lab.compile(&builds);
    for (build, artifact) in builds.iter().zip(&compiled.artifacts) {
        let built = object(artifact);
        assert!(missing(built, 7).contains("nowhere"), "{}: {}", build.id, missing(built, 7));
        assert!(missing(built, 42).contains("no_such_type"), "{}: {}", build.id, missing(built, 42));
        for other in [7, 42] {
            let words = missing(built, other);
            assert!(!words.contains("call_f41") && !words.contains("cache/tmp"), "{}: {words}", build.id);
        }
        let lacking =
            built.functions.iter().filter(|f| matches!(f, bitrift::model::FunctionStatus::Missing { .. }));
        assert_eq!(lacking.count(), 2, "{}", build.id);
        if build.is_loaded() {
            let loaded = load(artifact);
            for number in (0..100).filter(|n| ![7, 42].contains(n)) {
                assert_eq!(loaded.call_f64(number, &[0.5]), 0.5 + number as f64, "{}", build.id);
            }
        }
    }
    assert_eq!(lab.compile(&builds).artifacts, compiled.artifacts);
}

#[test]
fn many_missing_functions_leave_the_others() {
    let (_, functions) = many(100);
    let source =
        (0..100).filter(|n| n % 3 == 0).map(|n| format!("double f{n}(double x) {{ return x + {n}; }}\n"));
    let lab = Lab::new(&[("a.c", &source.collect::<String>())], functions);
    for artifact in &lab.compile(&builds()[..5]).artifacts {
        let loaded = load(artifact);
        for number in 0..100 {
            match number % 3 {
                0 => assert_eq!(loaded.call_f64(number, &[0.5]), 0.5 + number as f64),
                _ => assert!(missing(object(artifact), number).contains(&format!("f{number}"))),
            }
        }
    }
}

#[test]
fn a_new_function_recompiles_its_own_group_alone() {
    let (source, functions) = many(200);
    let mut lab = Lab::new(&[("a.c", &source)], functions[1..].to_vec());
    let builds = [build("gcc", &["-O2"])];
    lab.compile(&builds);
    let groups = lab.steps_run().iter().filter(|step| step.starts_with("shims ")).count();
    assert!(groups >= 4, "{:?}", lab.steps_run());
    lab.experiment.functions = functions;
    let compiled = lab.compile(&builds);
    // One group, or two where it had become too large.
    let steps = lab.steps_run();
    assert!(steps.len() <= 3 && steps[0] == "link", "{steps:?}");
    assert_eq!(load(&compiled.artifacts[0]).call_f64(0, &[0.5]), 0.5);
}

#[test]
fn functions_that_were_left_out_change_no_file() {
    let (source, functions) = many(200);
    let mut lab = Lab::new(&[("a.c", &source)], functions.clone());
    lab.experiment.declared = functions.clone();
    let builds = every_compiler();
    lab.compile(&builds);
    lab.experiment.functions = functions[3..5].to_vec();
    let compiled = lab.compile(&builds);
    assert_eq!(lab.steps_run(), ["link", "link", "link"]);
    for artifact in &compiled.artifacts {
        assert_eq!(object(artifact).functions.len(), 2);
        assert_eq!(load(artifact).call_f64(1, &[0.5]), 4.5);
    }
}

#[test]
fn a_matrix_has_its_functions_in_the_same_files_whatever_is_asked_for() {
    let (source, functions) = many(100);
    let mut text = String::from(
        "[lab]\nname = \"groups\"\n[sources]\nfiles = [\"a.c\"]\n[[compiler]]\nname = \"gcc\"\n\
         [[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n",
    );
    for function in &functions {
        text.push_str(&format!("[[function]]\nsignature = \"double {}(double x)\"\n", function.name));
    }
    text.push_str("[[function]]\nsignature = \"double nowhere(double x)\"\n");
    let mut lab = Lab::new(&[("a.c", &source)], Vec::new());
    let path = lab.write("matrix.toml", &text);
    lab.experiment = matrix::load(&path).unwrap();
    let builds = plan::expand(&lab.experiment).unwrap().builds;
    let all = lab.compile(&builds);
    assert!(missing(object(&all.artifacts[0]), 100).contains("nowhere"));
    lab.experiment.functions.retain(|f| f.name == "f9");
    let one = lab.compile(&builds);
    assert!(
        lab.steps_run().iter().all(|step| step == "link" || step.starts_with("shims ")),
        "{:?}",
        lab.steps_run()
    );
    assert_eq!(load(&one.artifacts[0]).call_f64(0, &[0.5]), 9.5);
    let kept: BTreeSet<_> = all.objects[0].shims.iter().collect();
    assert!(kept.contains(&one.objects[0].shims[0]));
    assert!(fs::metadata(one.objects[0].shims[0].as_ref().unwrap()).is_ok());
}
