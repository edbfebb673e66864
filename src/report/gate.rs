//! `bitrift gate`: the verdict, each finding with an input that shows it and how to see it, then notes.

use std::fmt::Write;

use comfy_table::{Cell, Color};

use super::number::{exact, interval, plural, worst};
use super::style::{Style, text_of, wrap};
use crate::model::{GateFile, GateFinding, GateKind, GateShare, GateVerdict, Number, printable};

/// Findings shown; the rest is in gate.json.
const SHOWN: usize = 40;
/// Columns that the kind of a finding takes, and the indent of wrapped lines.
const MARGIN: u16 = 20;

/// A verdict with what its reader has to type.
pub struct GatePage<'a> {
    pub gate: &'a GateFile,
    /// The matrix, the lock and the run's folder, as paths.
    pub matrix: &'a str,
    pub lock: &'a str,
    pub folder: &'a str,
    /// The run is what commands take without a name.
    pub is_latest: bool,
    pub replay_s: f64,
}

pub fn render(page: &GatePage<'_>, style: Style) -> String {
    let gate = page.gate;
    let mut sections = vec![findings(page, style), unsearched(page, style), notes(page, style)];
    sections.retain(|section| !section.is_empty());
    let mut text: String = sections.iter().map(|section| format!("{section}\n")).collect();
    let replay = gate.replay;
    let _ = writeln!(
        text,
        "replayed {} in {:.2} s: {} held, {} moved, {} gone, {} faulted",
        witnesses(replay.witnesses),
        page.replay_s,
        replay.held,
        replay.moved,
        replay.gone,
        replay.faulted
    );
    let _ = writeln!(text, "{}", searched(gate.searched));
    let _ = writeln!(text, "run and verdict stored in {}", printable(page.folder));
    let name = printable(&gate.name);
    let part = gate.partial.as_ref().map(|part| {
        format!(" (partial: {} of {} of the lock)", part.functions.len(), plural(part.of, "function"))
    });
    let part = part.unwrap_or_default();
    match gate.verdict {
        GateVerdict::Green => {
            let _ = writeln!(text, "gate {name}: green{part}, nothing beyond {}", printable(page.lock));
        }
        GateVerdict::Incomplete => {
            let _ = writeln!(
                text,
                "gate {name}: incomplete, nothing beyond {} was seen, but not all was searched",
                printable(page.lock)
            );
        }
        GateVerdict::Red => {
            let count = plural(gate.findings.len(), "finding");
            let _ = writeln!(text, "gate {name}: red{part}, {count} beyond {}", printable(page.lock));
            if gate.findings.iter().any(is_acceptable) {
                let _ = writeln!(text, "  to accept what was found: {}", accept_line(page));
            }
        }
    }
    text
}

/// How much of the lock's comparisons was searched.
fn searched(share: GateShare) -> String {
    let all = plural(share.of, "comparison");
    match share.comparisons == share.of {
        true => format!("searched all {all} of the lock"),
        false => {
            let percent = (share.share * 100.0).floor();
            format!("searched {} of {all} of the lock, {percent:.0} % of its search", share.comparisons)
        }
    }
}

/// What was not searched as far as the lock asks.
fn unsearched(page: &GatePage<'_>, style: Style) -> String {
    let all = &page.gate.unsearched;
    let mut table = style.table(&["not searched", "build", "because"]);
    for gap in all.iter().take(SHOWN) {
        let function = gap.function.as_ref().map_or_else(|| "every function".into(), |name| printable(name));
        let build = gap.build.as_ref().map_or_else(|| "every build".into(), |build| printable(build));
        table.add_row(vec![Cell::new(function), Cell::new(build), Cell::new(printable(&gap.reason))]);
    }
    let mut text = if all.is_empty() { String::new() } else { text_of(&table) };
    if all.len() > SHOWN {
        let _ = writeln!(text, "+ {} more: {}/gate.json", all.len() - SHOWN, printable(page.folder));
    }
    text
}

/// Limits of the matrix hold whatever is accepted.
fn is_acceptable(finding: &GateFinding) -> bool {
    !matches!(finding.kind, GateKind::OverLimit | GateKind::ExpectedGone)
}

fn accept_line(page: &GatePage<'_>) -> String {
    let run = if page.is_latest { String::new() } else { format!(" {}", quoted(page.folder)) };
    let lock = match page.lock {
        "bitrift.lock.json" => String::new(),
        lock => format!(" --lock {}", quoted(lock)),
    };
    format!("bitrift accept{run} --loosen{lock}")
}

fn witnesses(n: usize) -> String {
    // The noun takes an `es`.
    if n == 1 { "1 witness".into() } else { plural(n, "witnesse") }
}

fn findings(page: &GatePage<'_>, style: Style) -> String {
    let all = &page.gate.findings;
    if all.is_empty() {
        return String::new();
    }
    let mut table = style.table(&["why", "finding, witness, how to see it"]);
    for finding in all.iter().take(SHOWN) {
        let kind = Cell::new(finding.kind.as_str()).fg(Color::Red);
        table.add_row(vec![kind, Cell::new(lines(page, finding, style).join("\n"))]);
    }
    let mut text = text_of(&table);
    if all.len() > SHOWN {
        let more = plural(all.len() - SHOWN, "more finding");
        let _ = writeln!(text, "+ {more}: {}/gate.json", printable(page.folder));
    }
    text
}

fn lines(page: &GatePage<'_>, finding: &GateFinding, style: Style) -> Vec<String> {
    let place = match finding.function.as_str() {
        "" => printable(&finding.build),
        function => format!("{} on {}", printable(function), printable(&finding.build)),
    };
    let mut lines = vec![format!("{place}: {}", says(finding))];
    let inputs: &[Number] = finding.witness.as_ref().map(|w| w.inputs.as_slice()).unwrap_or_default();
    for (index, input) in inputs.iter().enumerate() {
        let at = format!("  at {}", exact(input));
        match (finding.lo.get(index), finding.hi.get(index)) {
            (Some(lo), Some(hi)) if lo != hi => {
                let bounds = format!("  in {}", interval(lo, hi));
                let both = format!("{bounds}{at}");
                let fits = both.len() + usize::from(MARGIN) <= usize::from(style.width);
                if fits { lines.push(both) } else { lines.extend([bounds, at]) }
            }
            _ => lines.push(at),
        }
    }
    if let Some(witness) = &finding.witness {
        lines.push(format!("  {}{} -> {}", worst(witness), witness.baseline.dec(), witness.variant.dec()));
        // Broken here: a table would break inside a word.
        let see = broken(&see(page, finding, inputs), usize::from(style.width.saturating_sub(MARGIN)));
        lines.extend(see.iter().map(|line| format!("  {line}")));
    }
    lines
}

fn says(finding: &GateFinding) -> String {
    let bits = finding.bits.map(|bits| format!("{bits:.1} bits")).unwrap_or_default();
    let what = finding.what.map(|what| what.to_string()).unwrap_or_default();
    let accepted = finding.accepted.unwrap_or(0.0);
    match finding.kind {
        GateKind::Fault if finding.lo.is_empty() => format!("{what}, which is not accepted"),
        GateKind::Fault => format!("{what} at an accepted witness or in a range"),
        GateKind::OverLimit => format!("{bits}, the matrix allows {accepted}"),
        GateKind::Changed => printable(&finding.text),
        GateKind::BaselineMoved => {
            let by = finding.bits.map(|_| format!("by {bits} ")).unwrap_or_default();
            format!("the baseline's own results moved {by}{}", printable(&finding.text))
        }
        GateKind::New if what.is_empty() => format!("{bits}, no difference is accepted here"),
        GateKind::New => format!("{what}, {bits}, no difference is accepted here"),
        GateKind::ClassChange => format!("{what}, which is not accepted here"),
        GateKind::Worse => format!("{bits}, {accepted:.1} are accepted"),
        GateKind::ExpectedGone => "the matrix expects a difference, and there is none".into(),
    }
}

/// The command that shows a finding, in parts that stay whole.
fn see(page: &GatePage<'_>, finding: &GateFinding, inputs: &[Number]) -> Vec<String> {
    let mut parts = vec!["bitrift eval".to_owned(), quoted(&finding.function)];
    parts.extend(inputs.iter().map(|x| x.hex()));
    if page.matrix != "matrix.toml" {
        parts.push(format!("--matrix {}", quoted(page.matrix)));
    }
    parts
}

/// A command on as many lines as it takes, which can still be pasted.
fn broken(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + part.len() + " \\ ".len() <= width => {
                line.extend([" ", part.as_str()])
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("  {part}"));
            }
            None => lines.push(part.clone()),
        }
    }
    lines
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let word = printable(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+/,=:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn notes(page: &GatePage<'_>, style: Style) -> String {
    let notes = page.gate.notes.iter();
    let mut text = String::new();
    for note in notes {
        text.push_str(&wrap(&format!("note: {}", printable(&note.text)), style.width));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GATE_SCHEMA, GateNote, NoteKind, ReplayCounts, WitnessRow};
    use crate::report::sample::{HOSTILE, number, value};

    fn finding(kind: GateKind, function: &str, what: &str, bits: Option<f64>) -> GateFinding {
        GateFinding {
            text: String::new(),
            kind,
            function: function.into(),
            build: "gcc/O3-fast/native".into(),
            lo: vec![number(2.0)],
            hi: vec![number(1.0e10 / 3.0)],
            bits,
            accepted: bits.map(|_| 3.25),
            what: serde_json::from_value(what.into()).ok(),
            witness: Some(WitnessRow::of_one(vec![number(-3.1)], value(0.1), value(f64::NAN))),
        }
    }

    fn gate(findings: Vec<GateFinding>) -> GateFile {
        let note = |kind, text: &str| GateNote { kind, text: text.into() };
        GateFile {
            schema: GATE_SCHEMA.into(),
            bitrift: "0.1.0".into(),
            name: "odd".into(),
            baseline: "gcc/O0/native".into(),
            verdict: if findings.is_empty() { GateVerdict::Green } else { GateVerdict::Red },
            partial: None,
            tolerance: 1.0,
            replay: ReplayCounts { witnesses: 12, held: 8, moved: 2, gone: 1, faulted: 1 },
            searched: GateShare { comparisons: 4, of: 4, share: 1.0 },
            unsearched: Vec::new(),
            findings,
            moved: Vec::new(),
            notes: vec![
                note(NoteKind::BuildChanged, "gcc/O2/native: version was `gcc 12`, is `gcc 13`"),
                note(NoteKind::Vanished, &format!("{HOSTILE} on gcc/O2/native: gone at 1 of 2 witnesses")),
            ],
        }
    }

    fn page<'a>(gate: &'a GateFile, matrix: &'a str) -> GatePage<'a> {
        let (lock, folder) = ("bitrift.lock.json", "results/0007-odd");
        GatePage { gate, matrix, lock, folder, is_latest: true, replay_s: 0.126 }
    }

    fn red() -> GateFile {
        let lone = GateFinding {
            lo: Vec::new(),
            hi: Vec::new(),
            witness: None,
            ..finding(GateKind::Fault, "drifts", "nondeterministic", None)
        };
        gate(vec![
            finding(GateKind::Fault, "loops", "timeout", None),
            lone,
            finding(GateKind::OverLimit, "expm1", "", Some(12.0)),
            GateFinding { accepted: None, ..finding(GateKind::New, "expm1", "", Some(12.34)) },
            GateFinding { accepted: None, ..finding(GateKind::New, HOSTILE, "finite-to-nan", Some(63.0)) },
            finding(GateKind::ClassChange, "expm1", "nan-to-finite", Some(0.0)),
            finding(GateKind::Worse, "expm1", "", Some(20.0)),
            GateFinding {
                lo: Vec::new(),
                hi: Vec::new(),
                witness: None,
                ..finding(GateKind::ExpectedGone, "x", "", None)
            },
        ])
    }

    #[test]
    fn a_red_gate_names_each_finding_and_how_to_see_it() {
        insta::assert_snapshot!(render(&page(&red(), "labs/my matrix.toml"), Style::PLAIN));
    }

    #[test]
    fn a_green_gate_is_short() {
        insta::assert_snapshot!(render(&page(&gate(Vec::new()), "matrix.toml"), Style::PLAIN));
    }

    #[test]
    fn a_command_that_is_broken_can_still_be_pasted() {
        let parts = ["bitrift eval", "f", "0x1p+0", "--matrix 'a b.toml'"].map(String::from);
        assert_eq!(broken(&parts, 80), ["bitrift eval f 0x1p+0 --matrix 'a b.toml'"]);
        assert_eq!(broken(&parts, 24), ["bitrift eval f 0x1p+0 \\", "  --matrix 'a b.toml'"]);
    }

    #[test]
    fn a_run_elsewhere_is_named_where_it_is_accepted() {
        let gate = red();
        let page = GatePage { is_latest: false, lock: "ci/lock.json", ..page(&gate, "matrix.toml") };
        let text = render(&page, Style::PLAIN);
        let line = "bitrift accept results/0007-odd --loosen --lock ci/lock.json";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn nothing_a_terminal_would_act_on_gets_through() {
        let text = render(&page(&red(), "matrix.toml"), Style::PLAIN);
        assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_thousand_findings_are_counted_and_not_listed() {
        let many = gate(vec![finding(GateKind::Worse, "f", "", Some(9.0)); 1000]);
        let text = render(&page(&many, "matrix.toml"), Style::PLAIN);
        assert!(text.contains("+ 960 more findings: results/0007-odd/gate.json"), "{text}");
    }
}
