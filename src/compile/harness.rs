//! The C that turns a build into a program of its own: the runner, and a table of its functions.

use super::material::Material;
use super::shim::{SETUP_SYMBOL, Shim};
use crate::model::{Build, Libm};

/// The stem of the runner's file.
pub const RUNNER: &str = "bitrift_runner";
const TABLE: &str = "bitrift_table";

/// The runner in one file: an installed bitrift has no source tree.
fn runner_text() -> String {
    let text = include_str!("../../harness-c/runner.c");
    let text = text.replace("#include \"cases.h\"\n", include_str!("../../harness-c/cases.h"));
    let text = text.replace("#include \"pipes.h\"\n", include_str!("../../harness-c/pipes.h"));
    let text = text.replacen("#include \"runner.h\"\n", include_str!("../../harness-c/runner.h"), 1);
    let text = text.replace("#include \"runner.h\"\n", "");
    text.replace("#include \"control.h\"\n", include_str!("../../harness-c/control.h"))
}

/// The files beside the build's own.
pub fn harness(material: &Material<'_>) -> [Shim; 2] {
    let file = |stem: &str, what: &str, text| Shim { what: what.into(), stem: stem.into(), text };
    let runner = file(RUNNER, "runner", runner_text());
    [
        runner,
        file(TABLE, "table of functions", table_text(&material.shims.symbols(), material.setup.is_some())),
    ]
}

/// Weak, because a shim that could not be linked is left out.
fn table_text(shims: &[String], has_setup: bool) -> String {
    let mut text = String::from(
        "__extension__ typedef unsigned long long u64;\ntypedef void shim(const u64 *, u64 *);\n",
    );
    for symbol in shims {
        text.push_str(&format!("extern shim {symbol} __attribute__((weak));\n"));
    }
    text.push_str("shim *const bitrift_table[] = {\n");
    shims.iter().for_each(|symbol| text.push_str(&format!("    {symbol},\n")));
    text.push_str(&format!("    0}};\nconst u64 bitrift_functions = {};\n", shims.len()));
    if has_setup {
        text.push_str(&format!("void {SETUP_SYMBOL}(void);\n"));
    }
    let setup = if has_setup { SETUP_SYMBOL } else { "0" };
    text.push_str(&format!("void (*const bitrift_setup_function)(void) = {setup};\n"));
    text
}

/// What links a build with another libm, when that needs a program other than its compiler.
pub fn linker(build: &Build) -> Option<&'static str> {
    (build.environment.libm == Some(Libm::Musl)).then_some("musl-gcc")
}

/// The arguments that decide what code can be linked together and where its headers are: the harness
/// is compiled with these and no others, so that no build's flags touch it.
pub fn abi_args(args: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "-target" | "-isysroot" | "-arch" => {
                kept.push(arg.clone());
                kept.extend(rest.next().cloned());
            }
            "-mdaz-ftz" | "-mrecip" => {}
            _ if ["-m", "--target=", "--sysroot", "-B"].iter().any(|start| arg.starts_with(start)) => {
                kept.push(arg.clone());
            }
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::samples;

    #[test]
    fn the_runner_is_one_file_and_the_table_names_every_function() {
        let mut experiment = samples::experiment(&[], vec![samples::unary("sin"), samples::unary("cos")]);
        experiment.implementations[0].setup = Some("init();".into());
        let [runner, table] = harness(&Material::of(&experiment, &experiment.implementations[0]));
        assert!(!runner.text.contains("#include \""), "{}", runner.text);
        insta::assert_snapshot!(table.text);
    }

    #[test]
    fn only_what_decides_the_binary_interface_reaches_the_harness() {
        let args = ["-O3", "-ffast-math", "-m32", "-mfpmath=sse", "-isysroot", "/r", "--sysroot=/s", "-DX"];
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        assert_eq!(abi_args(&args), ["-m32", "-mfpmath=sse", "-isysroot", "/r", "--sysroot=/s"]);
    }
}
