//! One finding without bitrift: a C file that calls the function at the witness and prints the bits of
//! the result, and the command lines that make a program of it and of the sources.

use std::path::Path;

use super::command::{CommandLine, Lines, SourceLine, source_args};
use super::harness::RUNNER;
use super::material::Material;
use super::shim::SETUP_SYMBOL;
use super::shims::MOST_TOGETHER;
use crate::fp::{NanPolicy, Scalar};
use crate::model::{Build, Experiment, FpSetting, Implementation, Results};
use crate::toolchain::Family;

/// The name of the C file.
pub const REPRO_FILE: &str = "repro.c";
const CONTROL: &str = include_str!("../../harness-c/control.h");

/// What the C file is to do. The experiment has the one function.
pub struct ReproCall<'a> {
    pub experiment: &'a Experiment,
    /// Whose code is called.
    pub implementation: &'a Implementation,
    pub inputs: &'a [u64],
    /// Some build's environment is set and not just what its program starts with.
    pub forced: bool,
    /// The wall time after which a call is given up, in milliseconds.
    pub limit_ms: u64,
    /// Stands at the top, as a comment.
    pub about: &'a str,
}

/// The text of the C file; None when the experiment has no function.
pub fn repro_text(call: &ReproCall) -> Option<String> {
    let function = call.experiment.functions.first()?;
    let Material { shims, setup, .. } = Material::of(call.experiment, call.implementation);
    let number = *shims.asked().first()?;
    let symbol = shims.symbol(number);
    let about = call.about.replace("*/", "* /").replace("/*", "/ *").replace('\\', "\\ ");
    let within = (0..call.implementation.sources.files.len()).find(|n| shims.within(*n).contains(&number));
    // A function that only its own source knows is called at the end of that source.
    let shim = match within.map(|source| &call.implementation.sources.files[source]) {
        Some(source) => format!("#include \"{}\"{}", source.display(), shims.tail(&[number])),
        None => shims.file(&[number]).text,
    };
    let mut text = format!("/* {about} */\n{shim}");
    if let Some(setup) = &setup {
        text.push_str(&setup.text);
    }
    text.push_str("#include <stdio.h>\n#include <string.h>\n#include <sys/time.h>\n#undef main\n");
    if call.forced {
        // Older languages know the word in this spelling alone.
        text.push_str("#define inline __inline__\n");
        text.push_str(CONTROL);
        text.push_str("#undef inline\n");
        text.push_str(SETTLE);
    }
    let half = |word: u64| format!("{:#010x}u", word & 0xffff_ffff);
    let word = |&word: &u64| format!("{{{}, {}}}", half(word >> 32), half(word));
    // At least one, so that the list is never empty.
    let words: Vec<String> = call.inputs.iter().map(word).chain(["{0, 0}".into()]).collect();
    let count = words.len();
    // Volatile: no compiler may know the input, or which function is called with it.
    text.push_str(&format!(
        "/* The witness, in bits. */\nstatic volatile unsigned int bitrift_witness[{count}][2] = {{\n    {}}};\n\
         static void (*volatile bitrift_call)(const bitrift_u64 *, bitrift_u64 *) = {symbol};\n",
        words.join(",\n    ")
    ));
    let out = match function.results.width() {
        1 => "out = 0".to_string(),
        width => format!("out[{width}] = {{0}}"),
    };
    text.push_str(&format!(
        "int main(int argc, char **argv)\n{{\n    bitrift_u64 in[{count}], {out};\n    struct itimerval limit;\n    \
         int i;\n    for (i = 0; i < {count}; i++)\n        in[i] = (bitrift_u64)bitrift_witness[i][0] << 32 | \
         bitrift_witness[i][1];\n    memset(&limit, 0, sizeof limit);\n    limit.it_value.tv_sec = {};\n    \
         limit.it_value.tv_usec = {};\n    setitimer(ITIMER_REAL, &limit, 0);\n",
        call.limit_ms / 1000,
        call.limit_ms % 1000 * 1000
    ));
    text.push_str(if call.forced {
        "    if (bitrift_settle(argc, argv))\n        return 125;\n"
    } else {
        IGNORED
    });
    if setup.is_some() {
        text.push_str(&format!("    {SETUP_SYMBOL}();\n"));
    }
    if call.forced {
        text.push_str("    control_write(bitrift_setting);\n");
    }
    text.push_str(&ending(&function.results, call.experiment.search.nan));
    Some(text)
}

const IGNORED: &str = "    (void)argc;\n    (void)argv;\n";

/// Calls the function and prints the bits of its results, on one line.
fn ending(results: &Results, nan: NanPolicy) -> String {
    let halves = |out: &str| format!("(unsigned long)({out} >> 32), (unsigned long)({out} & 0xffffffffu)");
    if !results.is_wide() {
        let (essence, halves) = (essence("out", results.ty(0), nan), halves("out"));
        return format!(
            "    bitrift_call(in, &out);\n{essence}    printf(\"\\nbits %08lx%08lx\\n\", {halves});\n    return 0;\n}}\n"
        );
    }
    let values = results.values().iter().enumerate();
    let essences: String = values.map(|(k, value)| essence(&format!("out[{k}]"), value.ty, nan)).collect();
    format!(
        "    bitrift_call(in, out);\n{essences}    printf(\"\\nbits\");\n    for (i = 0; i < {}; i++)\n        \
         printf(\" %08lx%08lx\", {});\n    printf(\"\\n\");\n    return 0;\n}}\n",
        results.width(),
        halves("out[i]")
    )
}

/// Sets what the arguments say, the way the lab does.
const SETTLE: &str = "\
static struct control bitrift_setting;

/* flush=0, flush=1, rounding=nearest, up, down or zero, precision=24, 53 or 64; 1 when this machine cannot. */
static int bitrift_settle(int argc, char **argv)
{
    int i, done = 1;
    for (i = 1; i < argc && done; i++) {
#ifdef FE_TONEAREST
        if (strcmp(argv[i], \"rounding=nearest\") == 0)
            done = fesetround(FE_TONEAREST) == 0;
#endif
#ifdef FE_UPWARD
        if (strcmp(argv[i], \"rounding=up\") == 0)
            done = fesetround(FE_UPWARD) == 0;
#endif
#ifdef FE_DOWNWARD
        if (strcmp(argv[i], \"rounding=down\") == 0)
            done = fesetround(FE_DOWNWARD) == 0;
#endif
#ifdef FE_TOWARDZERO
        if (strcmp(argv[i], \"rounding=zero\") == 0)
            done = fesetround(FE_TOWARDZERO) == 0;
#endif
    }
    bitrift_setting = control_read();
    for (i = 1; i < argc && done; i++) {
        if (strncmp(argv[i], \"flush=\", 6) == 0)
            done = control_set_flush(&bitrift_setting, argv[i][6] == '1');
        if (strncmp(argv[i], \"precision=\", 10) == 0)
            done = control_set_precision(&bitrift_setting,
                                         argv[i][10] == '2' ? 24u : argv[i][10] == '5' ? 53u : 64u);
    }
    return !done;
}
";

/// The arguments of the program for a setting; none when the program is to run as it starts.
pub fn setting_words(setting: &FpSetting) -> Vec<String> {
    let flush = setting.flush.map(|flush| format!("flush={}", u8::from(flush)));
    let rounding = setting.rounding.map(|rounding| format!("rounding={}", rounding.as_str()));
    let precision = setting.precision.map(|precision| format!("precision={}", precision.bits()));
    [flush, rounding, precision].into_iter().flatten().collect()
}

/// C that keeps of a NaN what counts.
fn essence(out: &str, result: Scalar, nan: NanPolicy) -> String {
    let (Some(infinity), false) = (result.infinity_bits(), nan == NanPolicy::Payload) else {
        return String::new();
    };
    let constant =
        |bits: u64| format!("((bitrift_u64){:#x}u << 32 | {:#x}u)", bits >> 32, bits & 0xffff_ffff);
    let sign = constant(result.sign_bit());
    let kept = if nan == NanPolicy::Sign { format!(" | ({out} & {sign})") } else { String::new() };
    let infinity = constant(infinity);
    format!(
        "    /* NaNs agree whatever else their bits say. */\n    if (({out} & ~{sign}) > {infinity})\n        \
         {out} = {infinity} | 1u{kept};\n"
    )
}

/// The lines that make `folder/repro` of the C file and the sources: objects, then ways to link them of which the first that works counts. The
/// experiment and the build name files as seen from where the lines run.
pub fn repro_lines(
    experiment: &Experiment,
    build: &Build,
    family: Family,
    (file, folder): (&str, &str),
    cache: &Path,
) -> (Vec<CommandLine>, Vec<CommandLine>) {
    let material = Material::grouped(experiment, experiment.implementation(build), MOST_TOGETHER, cache);
    let lines = Lines::new(&material, build, family);
    let compile = |source: String, object: &str| {
        let mut argv = source_args(material.sources, build, family);
        argv.extend(["-c".into(), "-o".into(), format!("{folder}/{object}"), source.clone()]);
        CommandLine { what: format!("compile {source}"), argv }
    };
    let own = "bitrift_repro.o";
    let mut made = vec![compile(file.into(), own)];
    // The source that the C file includes is compiled with it.
    let included = material.shims.asked().iter().find_map(|asked| {
        (0..lines.sources.len()).find(|source| material.shims.within(*source).contains(asked))
    });
    let apart = || lines.sources.iter().enumerate().filter(|(n, _)| Some(*n) != included).map(|(_, s)| s);
    made.extend(apart().map(|s| compile(s.path.display().to_string(), &s.object)));
    made.extend(lines.support.iter().map(|s| support_line(s, folder)));
    let sources = apart().chain(&lines.support).map(|s| s.object.as_str());
    let objects = [own].into_iter().chain(sources);
    let objects: Vec<String> = objects.map(|object| format!("{folder}/{object}")).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let link = |&linkage| {
        let mut line = lines.link(&objects, linkage);
        for word in line.argv.iter_mut().filter(|word| *word == RUNNER) {
            *word = format!("{folder}/repro");
        }
        line
    };
    (made, lines.linkages().iter().map(link).collect())
}

/// The line of a file of the matrix's harness, with its object in the folder.
fn support_line(support: &SourceLine, folder: &str) -> CommandLine {
    let SourceLine { path, object, line, .. } = support;
    let start = line.argv.iter().position(|arg| arg == "-c").unwrap_or(line.argv.len());
    let mut argv = line.argv[..start].to_vec();
    argv.extend(["-c".into(), "-o".into(), format!("{folder}/{object}"), path.display().to_string()]);
    CommandLine { what: line.what.clone(), argv }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::samples;
    use crate::model::{Precision, Rounding};

    fn experiment() -> Experiment {
        let mut experiment = samples::experiment(&["files/sum.c"], vec![samples::unary("sum")]);
        experiment.implementations[0].setup = Some("init();".into());
        experiment
    }

    #[test]
    fn the_file_has_the_function_the_setup_and_the_witness() {
        let experiment = experiment();
        let inputs = [1.5f64.to_bits()];
        let about = "sum#gcc/O2.1 */ int x;";
        let call = ReproCall {
            experiment: &experiment,
            implementation: &experiment.implementations[0],
            inputs: &inputs,
            forced: false,
            limit_ms: 60_000,
            about,
        };
        insta::assert_snapshot!(repro_text(&call).unwrap());
    }

    #[test]
    fn the_lines_are_the_builds_own_and_nothing_is_added() {
        let build = samples::build("gcc", &["-O3", "-ffast-math"]).plainly();
        let (compile, link) =
            repro_lines(&experiment(), &build, Family::Gcc, (REPRO_FILE, "variant"), Path::new("/cache"));
        let text: Vec<String> = compile.iter().chain(&link).map(|l| l.argv.join(" ")).collect();
        insta::assert_snapshot!(text.join("\n"));
    }

    #[test]
    fn a_setting_is_told_in_words() {
        let setting =
            FpSetting { flush: Some(true), rounding: Some(Rounding::Up), precision: Some(Precision::Double) };
        assert_eq!(setting_words(&setting), ["flush=1", "rounding=up", "precision=53"]);
        assert!(setting_words(&FpSetting::default()).is_empty());
    }
}
