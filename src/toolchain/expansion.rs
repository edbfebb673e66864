//! What a driver makes of arguments that stand for more than they say: `-march=native`, files of arguments, specs,
//! configuration files that it finds by itself.

use std::path::Path;
use std::time::Duration;

use super::compiler::{Compiler, Family, question};
use super::wrapper::Wrapping;

/// How long a driver may take to say what it would do.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Arguments that choose what others stand for, or the tools and files behind the driver.
const CHOOSING: [&str; 11] = [
    "-m",
    "-B",
    "@",
    "-specs",
    "--specs",
    "--config",
    "--target=",
    "--sysroot",
    "--gcc-",
    "-no-canonical-prefixes",
    "-nostdlibinc",
];
/// The same with the next argument.
const CHOOSING_NEXT: [&str; 5] = ["-target", "-isysroot", "-specs", "--sysroot", "-B"];
/// Arguments that hand the next one on, past the driver.
const PASSING_ON: [&str; 5] = ["-mllvm", "-Xclang", "-Xassembler", "-Xlinker", "-Xpreprocessor"];
/// Arguments that a driver replaces by something that depends on the machine or on files.
const VAGUE: [&str; 4] = ["@", "-specs", "--specs", "-B"];

/// The arguments of a line on which an expansion depends; None when the line says all there is to say.
pub fn vague_args(compiler: &Compiler, args: &[String]) -> Option<Vec<String>> {
    let mut choosing = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if PASSING_ON.contains(&arg.as_str()) {
            rest.next();
        } else if CHOOSING_NEXT.contains(&arg.as_str()) {
            choosing.push(arg.clone());
            choosing.extend(rest.next().cloned());
        } else if CHOOSING.iter().any(|head| arg.starts_with(head)) {
            choosing.push(arg.clone());
        }
    }
    let is_vague = |arg: &String| arg.contains("=native") || VAGUE.iter().any(|head| arg.starts_with(head));
    let asks = match compiler.family {
        // It looks for configuration files without being told.
        Family::Clang => true,
        Family::Gcc | Family::Other => {
            compiler.wrapping != Wrapping::Program || choosing.iter().any(is_vague)
        }
        Family::Tcc => false,
    };
    asks.then_some(choosing)
}

/// The line that the driver would give the compiler proper; None when it does not say.
pub fn expansion(compiler: &Compiler, args: &[String]) -> Option<String> {
    let mut argv = vec![compiler.path.display().to_string()];
    argv.extend(args.iter().cloned());
    // To standard output, because a driver makes up names of temporary files.
    argv.extend(["-###", "-S", "-x", "c", "/dev/null", "-o", "-"].map(String::from));
    // In a folder that is the same everywhere, because a driver names the one it is in.
    let done = question(&compiler.path, &argv, Path::new("/"), (&compiler.reach, TIMEOUT));
    done.success().then(|| done.stdout + &done.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{ToolReach, find};

    fn words(args: &[&str]) -> Vec<String> {
        args.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn native_is_told_by_what_it_stands_for() {
        for command in ["gcc", "clang-16"] {
            let compiler = find(command, &ToolReach::default()).unwrap();
            let vague = vague_args(&compiler, &words(&["-O2", "-march=native", "-c", "x.c"])).unwrap();
            assert_eq!(vague, ["-march=native"]);
            let native = expansion(&compiler, &vague).unwrap();
            let plain = expansion(&compiler, &words(&["-march=x86-64"])).unwrap();
            // A list of features, not the name that was asked for.
            assert!(native.len() > plain.len() + 100 && native.contains("avx"), "{native}");
            assert_eq!(expansion(&compiler, &vague).unwrap(), native, "the same every time");
        }
    }

    #[test]
    fn a_plain_line_of_gcc_asks_nobody() {
        let gcc = find("gcc", &ToolReach::default()).unwrap();
        assert_eq!(vague_args(&gcc, &words(&["-O3", "-ffast-math", "-march=haswell", "-c"])), None);
        assert!(vague_args(&gcc, &words(&["-specs=/x"])).is_some());
        let clang = find("clang-16", &ToolReach::default()).unwrap();
        let passed = words(&["-mllvm", "-opt-bisect-limit=3", "-Xclang", "-mreassociate", "-m64"]);
        assert_eq!(vague_args(&clang, &passed), Some(words(&["-m64"])));
        assert_eq!(expansion(&gcc, &words(&["-specs=/no/such"])), None);
    }
}
