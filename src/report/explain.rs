//! `bitrift explain`: causes with their findings, one finding layer by layer, safe sets of flags, patches.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cause::{IMPLEMENTATION, explained_word, fix_words, layer, spent, standing_word};
use super::number::plural;
use super::plan::quoted;
use super::style::{Style, indented, wrap};
use crate::findings::finding;
use crate::model::{
    CauseRow, Cost, ExplainFile, ExplainRow, Explained, FindingId, Layer, RunFile, SafeRow, Suspect, gist,
    printable, printable_lines,
};

/// Names in a list before the rest is only counted.
const MOST_NAMES: usize = 8;
/// Where the words of a label begin.
const LABEL: usize = 13;

/// Findings by cause, then the flags that may stay.
pub fn render(run: &RunFile, file: &ExplainFile, shown: &BTreeSet<FindingId>, style: Style) -> String {
    Page { run, file, style }.all(shown)
}

/// One finding layer by layer.
pub fn render_one(run: &RunFile, file: &ExplainFile, id: &FindingId, style: Style) -> String {
    Page { run, file, style }.one(id)
}

/// The patches of causes with shown findings, to be read by `patch -p1`.
pub fn patches(file: &ExplainFile, shown: &BTreeSet<FindingId>) -> String {
    let wanted = file.causes.iter().filter(|cause| cause.findings.iter().any(|id| shown.contains(id)));
    wanted.filter_map(|cause| cause.fix.as_ref()).map(|fix| fix.patch.as_str()).collect()
}

/// `41 findings, 3 causes`, with what is not explained.
pub fn headline(file: &ExplainFile, shown: &BTreeSet<FindingId>) -> String {
    let rows: Vec<&ExplainRow> = shown.iter().filter_map(|id| file.findings.get(id)).collect();
    let causes = file.causes.iter().filter(|c| c.findings.iter().any(|id| shown.contains(id))).count();
    let open = rows.iter().filter(|row| row.explained != Explained::Yes).count();
    let mut text = format!("{}, {}", plural(rows.len(), "finding"), plural(causes, "cause"));
    if open > 0 {
        let _ = write!(text, ", {open} not explained");
    }
    text
}

struct Page<'a> {
    run: &'a RunFile,
    file: &'a ExplainFile,
    style: Style,
}

impl Page<'_> {
    fn all(&self, shown: &BTreeSet<FindingId>) -> String {
        let mut text = format!("{}\n", headline(self.file, shown));
        let causes = self.file.causes.iter().filter(|c| c.findings.iter().any(|id| shown.contains(id)));
        for (number, cause) in causes.enumerate() {
            let _ = write!(text, "\n{}. ", number + 1);
            text.push_str(&self.cause(cause));
        }
        text.push_str(&self.open(shown));
        for safe in &self.file.safe {
            text.push('\n');
            text.push_str(&self.safe(safe));
        }
        let mut cost = Cost::default();
        shown.iter().filter_map(|id| self.file.findings.get(id)).for_each(|row| cost += row.cost());
        let _ = write!(text, "\n{}\n", spent(cost));
        text
    }

    fn cause(&self, cause: &CauseRow) -> String {
        let CauseRow { baseline, build, causes, certain, findings, fix, .. } = cause;
        let mut text = format!(
            "{}, {} against {}\n",
            plural(findings.len(), "finding"),
            printable(build),
            printable(baseline)
        );
        text.push_str(&self.suspects(causes));
        let is_code = causes.iter().flatten().all(|suspect| suspect.environment.is_empty());
        if !certain && is_code {
            text.push_str(
                &self.labelled("certainty", "likely: it shows the difference, but is not all there is to it"),
            );
        }
        for which in [Layer::Flags, Layer::Pass] {
            if let Some(row) = layer(self.file, cause, which) {
                text.push_str(&self.labelled(which.as_str(), &row.text));
            }
        }
        let environment = layer(self.file, cause, Layer::Environment);
        if let Some(row) = environment.filter(|row| !row.causes.is_empty()) {
            text.push_str(&self.labelled("because", &row.text));
        }
        if let Some(fix) = fix {
            text.push_str(&self.labelled("fix", &fix_words(fix)));
        }
        let fragile = findings.iter().filter(|id| self.is_fragile(id)).count();
        if fragile > 0 {
            let words = format!("{fragile} of them: one ulp of the input moves the baseline as far");
            text.push_str(&self.labelled("sensitive", &words));
        }
        text.push_str(&self.labelled("findings", &self.ids(findings)));
        text
    }

    fn is_fragile(&self, id: &FindingId) -> bool {
        let row = self.file.findings.get(id);
        row.and_then(|row| row.fragility.as_ref()).is_some_and(|fragility| fragility.ill_conditioned)
    }

    /// What is guilty: sets that are each enough, and in each what is needed together.
    fn suspects(&self, causes: &[Vec<Suspect>]) -> String {
        let mut text = String::new();
        for (number, set) in causes.iter().enumerate() {
            let together = if set.len() > 1 { "needed together" } else { "" };
            let alone = match causes.len() {
                0 | 1 => String::new(),
                all => format!("{} of {all}, each enough alone", number + 1),
            };
            let heading = [alone.as_str(), together].into_iter().filter(|words| !words.is_empty());
            let heading = heading.collect::<Vec<_>>().join("; ");
            if !heading.is_empty() {
                let _ = writeln!(text, "   {heading}:");
            }
            for suspect in set {
                text.push_str(&self.suspect(suspect));
            }
        }
        text
    }

    fn suspect(&self, suspect: &Suspect) -> String {
        let Suspect { environment, file, function, line, column, text, .. } = suspect;
        let [file, function, text] = [file, function, text].map(|word| printable(word));
        match environment.as_str() {
            "" => {}
            IMPLEMENTATION => return "   the implementation\n".into(),
            part => return format!("   the environment: {}\n", printable(part)),
        }
        match (*line > 0, function.is_empty()) {
            (true, _) => format!("   {file}:{line}:{column} in {function}\n       {text}\n"),
            (false, false) => format!("   {file}, function {function}\n"),
            (false, true) => format!("   {file}\n"),
        }
    }

    fn labelled(&self, label: &str, words: &str) -> String {
        let width = self.style.width.saturating_sub(LABEL as u16 + 1);
        let wrapped = wrap(&printable(words), width);
        let mut lines = wrapped.lines();
        let mut text = format!("   {label:<width$}{}\n", lines.next().unwrap_or_default(), width = LABEL - 3);
        for line in lines {
            let _ = writeln!(text, "{:LABEL$}{}", "", line.trim_start());
        }
        text
    }

    /// Ids with their bits, the worst first.
    fn ids(&self, ids: &[FindingId]) -> String {
        let bits = |id: &FindingId| finding_bits(self.run, id);
        let mut sorted: Vec<(&FindingId, f64)> = ids.iter().map(|id| (id, bits(id))).collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shown = sorted
            .iter()
            .take(MOST_NAMES)
            .map(|(id, bits)| format!("{} ({bits:.1} bits)", printable(&id.to_string())));
        let mut text = shown.collect::<Vec<_>>().join(", ");
        if sorted.len() > MOST_NAMES {
            let _ = write!(text, " and {} more", sorted.len() - MOST_NAMES);
        }
        text
    }

    /// Findings without a cause, with the reason.
    fn open(&self, shown: &BTreeSet<FindingId>) -> String {
        let rows = shown.iter().filter_map(|id| Some((id, self.file.findings.get(id)?)));
        let open: Vec<_> = rows.filter(|(_, row)| row.explained != Explained::Yes).collect();
        if open.is_empty() {
            return String::new();
        }
        let mut text = String::from("\nnot explained\n");
        for (id, row) in open {
            let (id, why) = (printable(&id.to_string()), printable(gist(&row.reason)));
            let words = format!("{id}: {}, {why}", explained_word(row.explained));
            text.push_str(&indented(&words, self.style.width));
        }
        text
    }

    fn safe(&self, safe: &SafeRow) -> String {
        let SafeRow { build, limit, args, kept, given_up, within, of, ns, cost, .. } = safe;
        let mut text = format!("{}: flags that may stay for at most {limit} bits\n", printable(build));
        text.push_str(&self.labelled("give up", &names(given_up)));
        text.push_str(&self.labelled("keep", &names(kept)));
        let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        text.push_str(&self.labelled("arguments", &args.join(" ")));
        text.push_str(
            &self.labelled("holds for", &format!("{within} of {} explained", plural(*of, "finding"))),
        );
        if let Some([baseline, own, all]) = ns {
            let words =
                format!("{own:.1} ns a call; {all:.1} with all flags, {baseline:.1} with the baseline's");
            text.push_str(&self.labelled("speed", &words));
        }
        text.push_str(&self.labelled("took", &spent(*cost)));
        text
    }

    fn one(&self, id: &FindingId) -> String {
        let name = printable(&id.to_string());
        let Some(row) = self.file.findings.get(id) else { return format!("{name} was not looked at\n") };
        let mut text = format!("{name} ({:.1} bits)\n", finding_bits(self.run, id));
        if row.explained != Explained::Yes {
            text.push_str(&self.labelled(explained_word(row.explained), &row.reason));
        }
        for (layer, answer) in &row.layers {
            let _ = writeln!(text, "\n{}", layer.as_str());
            text.push_str(
                &self.suspects(
                    &answer.causes.iter().filter(|_| is_place(*layer)).cloned().collect::<Vec<_>>(),
                ),
            );
            text.push_str(&self.labelled(standing_word(answer.standing), &answer.text));
            text.push_str(&self.labelled("took", &spent(answer.cost)));
        }
        let cause = self.file.causes.iter().find(|cause| cause.findings.contains(id));
        if let Some(fix) = cause.and_then(|cause| cause.fix.as_ref()) {
            // To be read here; `patches` has it as it is.
            let patch = printable_lines(&fix.patch);
            let _ = write!(text, "\n{}\n{patch}\n", wrap(&printable(&fix_words(fix)), self.style.width));
        }
        let others = cause.map_or(0, |cause| cause.findings.len() - 1);
        if others > 0 {
            let have = if others == 1 { "has" } else { "have" };
            let _ = writeln!(text, "\n{} of this run {have} the same cause", plural(others, "other finding"));
        }
        let _ = write!(text, "\n{}\n", spent(row.cost()));
        text
    }
}

fn is_place(layer: Layer) -> bool {
    matches!(layer, Layer::Statement)
}

fn finding_bits(run: &RunFile, id: &FindingId) -> f64 {
    let Some((row, witness)) = finding(run, id) else { return 0.0 };
    let comparison = row.comparisons.iter().find(|c| c.build == witness.build);
    let range = comparison.and_then(|c| c.ranges.iter().find(|r| r.id == *id));
    range.map(|r| r.max_bits).or(comparison.map(|c| c.max_bits)).unwrap_or_default()
}

fn names(list: &[String]) -> String {
    let mut text = list.iter().take(MOST_NAMES + 4).cloned().collect::<Vec<_>>().join(" ");
    if list.len() > MOST_NAMES + 4 {
        let _ = write!(text, " and {} more", list.len() - MOST_NAMES - 4);
    }
    if text.is_empty() { "nothing".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{sample, sample_explained};

    const NARROW: Style = Style { width: 80, color: false, unicode: false };

    fn all() -> BTreeSet<FindingId> {
        sample_explained::explain().findings.into_keys().collect()
    }

    fn shown(ids: &BTreeSet<FindingId>) -> String {
        let (run, file) = (sample::run(), sample_explained::explain());
        match ids.iter().next().filter(|_| ids.len() == 1) {
            Some(id) => render_one(&run, &file, id, NARROW),
            None => render(&run, &file, ids, NARROW),
        }
    }

    #[test]
    fn causes_open_findings_and_safe_flags_fit_80_columns() {
        let text = shown(&all());
        insta::assert_snapshot!(text);
        let plain = text.lines().filter(|line| !line.contains("evil"));
        assert!(plain.clone().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn one_finding_is_told_layer_by_layer() {
        insta::assert_snapshot!(shown(&["airy_ai#gcc/O3-fast/native.1".parse().unwrap()].into()));
    }

    #[test]
    fn nothing_a_terminal_would_act_on_gets_through() {
        for ids in all().into_iter().map(|id| [id].into()).chain([all()]) {
            let text = shown(&ids);
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }

    #[test]
    fn patches_are_as_they_are_stored_and_of_the_shown_findings_only() {
        let file = sample_explained::explain();
        insta::assert_snapshot!(patches(&file, &all()).escape_default().to_string().replace("\\n", "\n"));
        assert_eq!(patches(&file, &["quadratic_root#gcc/O3-fast/native.1".parse().unwrap()].into()), "");
    }

    #[test]
    fn a_finding_nobody_looked_at_is_said_to_be_one() {
        assert_eq!(shown(&["lone#x.max".parse().unwrap()].into()), "lone#x.max was not looked at\n");
    }
}
