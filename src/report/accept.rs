//! `bitrift accept`: exactly what changed in the lock, and what stayed out.

use std::fmt::Write;

use comfy_table::{Cell, Color};

use super::number::{interval, plural};
use super::style::{Style, text_of, wrap};
use crate::gate::{Action, LockChange, Update};
use crate::model::{LockRange, printable};

/// Entries of one kind that are listed; a first lock may have thousands.
const SHOWN: usize = 60;

pub struct AcceptPage<'a> {
    pub update: &'a Update,
    /// Paths of the lock and the run's folder.
    pub lock: &'a str,
    pub run: &'a str,
    /// The run as the user named it; None for the latest.
    pub run_name: Option<&'a str>,
    /// There was no lock before.
    pub is_new: bool,
    pub changed: bool,
    pub dry_run: bool,
}

pub fn render(page: &AcceptPage<'_>, style: Style) -> String {
    let mut text = table(page, style);
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&wrap(&summary(page), style.width));
    if count(page, Action::Refused) > 0 {
        let run = page.run_name.map(|run| format!(" {}", printable(run))).unwrap_or_default();
        let lock = match page.lock {
            "bitrift.lock.json" => String::new(),
            lock => format!(" --lock {}", printable(lock)),
        };
        let _ = writeln!(
            text,
            "what is new or worse was not accepted; to accept it: bitrift accept{run} --loosen{lock}"
        );
    }
    text
}

fn count(page: &AcceptPage<'_>, action: Action) -> usize {
    page.update.changes.iter().filter(|change| change.action == action).count()
}

fn summary(page: &AcceptPage<'_>) -> String {
    let (lock, run) = (printable(page.lock), printable(page.run));
    let did = match (page.dry_run, page.is_new, page.changed) {
        (true, true, _) => format!("{lock} would be made from {run}"),
        (true, false, true) => format!("{lock} would be updated from {run}"),
        (false, true, _) => format!("{lock} made from {run}"),
        (false, false, true) => format!("{lock} updated from {run}"),
        (_, false, false) => format!("{lock} is as {run} has it; nothing to change"),
    };
    let counts = [
        (Action::Added, "accepted"),
        (Action::Tightened, "tightened"),
        (Action::Removed, "removed"),
        (Action::Refused, "not accepted"),
    ];
    let counts = counts.map(|(action, word)| (count(page, action), word));
    let counts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let functions = plural(page.update.lock.functions.len(), "function");
    let counts = if counts.is_empty() { String::new() } else { format!("{}; ", counts.join(", ")) };
    format!("{did}: {counts}{functions}, {}", plural(page.update.lock.builds.len(), "build"))
}

fn table(page: &AcceptPage<'_>, style: Style) -> String {
    let mut table = style.table(&["", "function, build", "bits", "range"]);
    let mut left_out = Vec::new();
    let order =
        [Action::Changed, Action::Kept, Action::Removed, Action::Tightened, Action::Added, Action::Refused];
    for action in order {
        let changes = page.update.changes.iter().filter(|change| change.action == action);
        for change in changes.take(SHOWN) {
            table.add_row(row(change));
        }
        let more = count(page, action).saturating_sub(SHOWN);
        if more > 0 {
            left_out.push(format!("+ {more} more {}\n", word(action)));
        }
    }
    if table.is_empty() { String::new() } else { text_of(&table) + &left_out.concat() }
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Added => "accepted",
        Action::Removed => "removed",
        Action::Tightened => "tightened",
        Action::Refused => "not accepted",
        Action::Kept => "kept",
        Action::Changed => "changed",
    }
}

fn row(change: &LockChange) -> Vec<Cell> {
    let cell = Cell::new(word(change.action));
    let cell = match change.action {
        Action::Refused => cell.fg(Color::Red),
        Action::Added => cell.fg(Color::Yellow),
        Action::Removed | Action::Tightened => cell.fg(Color::Green),
        Action::Kept | Action::Changed => cell,
    };
    let build = change.build.as_ref().map(|build| printable(build)).unwrap_or_default();
    let names = [printable(&change.function), build];
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let bits = match (&change.before, &change.range) {
        (Some(before), Some(now)) => format!("{:.1} -> {:.1}", before.max_bits, now.max_bits),
        (None, Some(now)) => format!("{:.1}", now.max_bits),
        _ => String::new(),
    };
    let about = match (&change.before, &change.range) {
        (Some(before), Some(now)) if bounds(before) != bounds(now) => {
            format!("{}\n-> {}", bounds(before), bounds(now))
        }
        (_, Some(now)) => bounds(now),
        _ => printable(&change.text),
    };
    vec![cell, Cell::new(names.join("\n  ")), Cell::new(bits), Cell::new(about)]
}

fn bounds(range: &LockRange) -> String {
    let sides: Vec<String> = range.lo.iter().zip(&range.hi).map(|(lo, hi)| interval(lo, hi)).collect();
    sides.join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Wish, accept};
    use crate::model::RunFile;
    use crate::report::sample;

    fn run() -> RunFile {
        let mut run = sample::run();
        run.functions.truncate(5);
        run
    }

    fn page(update: &Update, is_new: bool) -> AcceptPage<'_> {
        let (lock, run) = ("bitrift.lock.json", "results/0001-odd");
        AcceptPage { update, lock, run, run_name: None, is_new, changed: true, dry_run: false }
    }

    #[test]
    fn a_first_lock_lists_everything_it_accepts() {
        let update = accept(None, &run(), Wish::default()).unwrap();
        insta::assert_snapshot!(render(&page(&update, true), Style::PLAIN));
    }

    #[test]
    fn an_update_says_what_changed_and_what_stayed_out() {
        let old = accept(None, &run(), Wish::default()).unwrap().lock;
        let mut run = run();
        run.builds[1].version = "gcc 13".into();
        let airy = &mut run.functions[0].comparisons[0];
        airy.ranges[0].max_bits = 20.0;
        airy.ranges[1].max_bits = 9.0;
        run.functions[1].comparisons[1].ranges.clear();
        run.functions[1].comparisons[1].witness = None;
        run.functions[4].faults[0].kind = crate::model::FaultKind::Timeout;
        run.functions.remove(2);
        let update = accept(Some(&old), &run, Wish::default()).unwrap();
        insta::assert_snapshot!(render(&page(&update, false), Style::PLAIN));
    }
}
