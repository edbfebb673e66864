//! `bitrift repro`: the script that shows one finding without bitrift, and the words beside it. Both are files
//! for a POSIX shell and for people; nothing here goes to a terminal.

use std::fmt::Write;

use super::number::{exact, exact_answer};
use crate::lab::{Repro, Side};
use crate::model::{BuildId, printable};

/// A word as any POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn line(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

const HEAD: &str = r#"# Exit code: 0 both answer as stored, 1 the difference is gone or another one, 2 a program could not be
# built or started.
cd "$(dirname "$0")" || exit 2

broken() {
    echo "could not $1" >&2
    exit 2
}

# Runs a program and prints its answer: the bits of the result, or how it ended. The status of a program
# that dies of a signal is 128 and the signal's number; the one that ends a call in time is 14.
ask() {
    said=$("$@" 2>/dev/null)
    status=$?
    case $status in
    0) printf '%s\n' "$said" | sed -n 's/^bits //p' | tail -n 1 ;;
    142) echo timeout ;;
    *) echo "status $status" ;;
    esac
}

# What is stored and what was answered; counts the answers that are other ones.
other=0
judge() {
    if [ "$2" = "$3" ]; then
        printf '%s\n' "$1 answers $2 = $4, as stored"
    else
        other=$((other + 1))
        printf '%s\n' "$1 answers $2, stored is $3 = $4"
    fi
}
"#;

const TAIL: &str = r#"
if [ "$other" = 0 ]; then
    echo "the difference is as stored"
    exit 0
fi
if [ "$baseline" = "$variant" ]; then
    echo "the difference is gone"
else
    echo "the difference is another one"
fi
exit 1
"#;

/// The script.
pub fn script(repro: &Repro) -> String {
    let mut text = format!(
        "#!/bin/sh\n# {}: builds both programs, runs them, compares.\n{HEAD}",
        printable(&repro.id.to_string())
    );
    for side in &repro.sides {
        let folder = &side.folder;
        let _ = writeln!(text, "\n# {}", printable(&side.build));
        let _ =
            writeln!(text, "mkdir -p {folder} && rm -f {folder}/repro || broken 'make the folder {folder}'");
        let broken = quoted(&format!("build {}", printable(&side.build)));
        for argv in &side.compile {
            let _ = writeln!(text, "{} || broken {broken}", line(argv));
        }
        let links: Vec<String> = side.link.iter().map(|argv| line(argv)).collect();
        let _ = writeln!(text, "{} || broken {broken}", links.join(" ||\n    "));
    }
    text.push('\n');
    for side in &repro.sides {
        let _ = writeln!(text, "{}=$(ask {})", side.folder, line(&side.run));
    }
    let names: Vec<_> = repro.sides.iter().map(|s| format!("\"${}\"", s.folder)).collect();
    let _ = writeln!(text, "for answer in {}; do", names.join(" "));
    // 125 is the program's own: it cannot set the environment. The others are the shell's.
    let _ = writeln!(text, "    case $answer in 'status 12'[567]) broken 'run a program here' ;; esac\ndone");
    for side in &repro.sides {
        let _ = writeln!(
            text,
            "judge {} \"${}\" {} {}",
            quoted(&printable(&side.build)),
            side.folder,
            quoted(&side.word),
            quoted(&side.answer.dec())
        );
    }
    text.push_str(TAIL);
    text
}

/// What a reader is told first.
pub fn readme(repro: &Repro) -> String {
    let [baseline, variant] = &repro.sides;
    let inputs: Vec<String> =
        repro.inputs.iter().map(|(name, value)| format!("{} = {}", printable(name), exact(value))).collect();
    let worst = repro.worst.as_ref().map(|name| format!("{} = ", printable(name))).unwrap_or_default();
    // All values, where there are several.
    let all = |side: &Side| {
        let values: Vec<String> = side
            .values
            .iter()
            .map(|(name, value)| format!("{} = {}", printable(name), value.dec()))
            .collect();
        if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) }
    };
    let about = |side: &Side| {
        format!(
            "{} ({}) answers {}{}{}",
            printable(&side.build),
            printable(&side.version),
            worst,
            exact_answer(&side.answer),
            all(side)
        )
    };
    let code = |side: &Side| BuildId::split(&side.build).0.to_owned();
    let (who, file) = match code(baseline) == code(variant) {
        true => ("Two builds of the same C code disagree", "repro.c"),
        false => ("Two implementations of one function disagree", "repro-baseline.c, repro-variant.c"),
    };
    format!(
        "{who}. {} at {}: {}, {}. `sh run.sh` builds both with the commands it \
         contains, from {file} and the sources beside it, runs both and compares; it exits with 0 when both answer as \
         stored, 1 when the difference is gone or another one, 2 when a program could not be built or started. \
         Nothing but the two compilers (and the emulator, where one is used) is needed. Found by bitrift as {} on {}.\n",
        printable(&repro.function),
        inputs.join(", "),
        about(baseline),
        about(variant),
        printable(&repro.id.to_string()),
        printable(&repro.host),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{HOSTILE, number, value};

    fn side(folder: &str, build: &str, answer: f64) -> Side {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        Side {
            build: build.into(),
            version: "gcc (Debian 12.2.0-14) 12.2.0".into(),
            folder: folder.into(),
            compile: vec![words(&format!("gcc -O2 -DX='a' -c -o {folder}/r.o repro.c"))],
            link: vec![words(&format!("gcc -static -o {folder}/repro {folder}/r.o")), words("gcc -o")],
            run: vec!["qemu-aarch64".into(), format!("./{folder}/repro"), "rounding=up".into()],
            word: format!("{:016x}", answer.to_bits()),
            answer: value(answer),
            values: Vec::new(),
        }
    }

    fn repro() -> Repro {
        Repro {
            id: "airy_ai#gcc/O3/native.1".parse().unwrap(),
            function: "airy_ai".into(),
            inputs: vec![("x".into(), number(0.1))],
            worst: None,
            sides: [side("baseline", "gcc/O0/native", 1.0), side("variant", HOSTILE, -2.0)],
            host: "a machine, glibc 2.36".into(),
        }
    }

    #[test]
    fn the_script_builds_runs_and_compares() {
        insta::assert_snapshot!(script(&repro()));
    }

    #[test]
    fn the_words_beside_it_tell_what_differs() {
        insta::assert_snapshot!(readme(&repro()));
    }

    #[test]
    fn every_word_survives_the_shell() {
        assert_eq!(quoted("-DX='a b'\n$(rm)"), "'-DX='\\''a b'\\''\n$(rm)'");
        assert_eq!((quoted("").as_str(), quoted("a/b.c").as_str()), ("''", "a/b.c"));
    }
}
