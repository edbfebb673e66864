//! The sections of a bench that need nothing but its own rows.

use std::collections::BTreeSet;

use super::cell::{digits, fixed, grouped, percent, probability, spread};
use super::section::Section;
use crate::bench::{self, BEHIND_BITS, Grid, OVER, STEADY, TIE_BITS};
use crate::model::{BenchFile, Budget, BuildStatus, StopReason, gist};
use crate::report::number::{count, plural};

/// Strategies differ on a function when their medians are further apart than this.
const APART_BITS: f64 = 1.0;

fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// What was asked for, and the command that asks for it again.
pub(super) fn setting(file: &BenchFile) -> Section {
    let budget = match file.budget {
        Budget::Paper => "the budget of CIGEN's paper".to_string(),
        Budget::Evaluations(n) => format!("{} evaluations for each function and variant", count(n)),
    };
    let seeds: Vec<String> = file.seeds.iter().map(u64::to_string).collect();
    let seeds = match (file.seeds.first(), file.seeds.last()) {
        (Some(first), Some(last)) if is_run(&file.seeds) && first < last => format!("{first} to {last}"),
        _ => seeds.join(", "),
    };
    let what = format!(
        "{}; {}; seeds {seeds}; {budget}; {} at once on {}.",
        plural(file.functions.len(), "function"),
        match file.strategies.len() {
            1 => "1 strategy".to_string(),
            n => format!("{n} strategies"),
        },
        match file.jobs {
            1 => "1 process".to_string(),
            n => format!("{n} processes"),
        },
        file.host.cpu
    );
    let mut before = vec![what];
    if !file.command.is_empty() {
        before.push(format!("Made by `{}` (bitrift {}).", file.command.replace('`', "'"), file.bitrift));
    }
    if !file.missing.is_empty() {
        before.push(format!("Not searched, because a build lacks them: {}.", file.missing.join(", ")));
    }
    Section { title: "Setting", before, ..Section::default() }
}

fn is_run(seeds: &[u64]) -> bool {
    seeds.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(1))
}

/// The shape of Table 2, with published rows of the same set of functions below.
pub(super) fn tally(file: &BenchFile, grid: &Grid<'_>) -> Section {
    let mut names: Vec<String> = vec!["strategy".into()];
    names.extend(OVER.iter().map(|limit| format!("> {limit}")));
    names.extend(headings(&["mean of maxima", "evaluations", "seconds", "evaluations/s"]));
    let mut rows = Vec::new();
    for tally in bench::tallies(grid) {
        let mut row = vec![tally.strategy.to_string()];
        row.extend(tally.over.iter().map(|over| spread(*over, 0)));
        row.push(spread(tally.mean_bits, 2));
        row.extend([grouped(tally.evaluations), digits(tally.seconds), digits(tally.rate)]);
        rows.push(row);
    }
    let mut section = Section {
        title: "Functions over 48, 32, 8 and 0 bits",
        before: vec![
            "Median over seeds (lowest to highest). Evaluations and seconds are means for a function, all its variants together; seconds are those \
             of its workers added up, as one core would take."
                .into(),
        ],
        headings: names,
        rows,
        after: Vec::new(),
    };
    let published = file.reference.as_ref().and_then(|r| r.published.as_ref());
    let Some(published) = published else { return section };
    if published.functions != grid.functions.len() {
        section.after.push(format!(
            "The published counts ({}) are of {}, this bench is of {}: not shown beside each other.",
            published.source,
            plural(published.functions, "function"),
            grid.functions.len()
        ));
        return section;
    }
    let dash = || "-".to_string();
    for theirs in &published.rows {
        let mut row = vec![format!("{} (published)", theirs.name)];
        row.extend(theirs.over.iter().map(|n| count(*n)));
        row.push(theirs.mean_bits.map_or_else(dash, |bits| fixed(bits, 2)));
        row.push(dash());
        row.push(theirs.seconds_per_function.map_or_else(dash, digits));
        row.push(dash());
        section.rows.push(row);
    }
    section.after.push(format!("Published: {}.", published.source));
    section
}

pub(super) fn stability(grid: &Grid<'_>) -> Option<Section> {
    let mut names = headings(&["strategy", "functions"]);
    names.extend(STEADY.iter().map(|limit| format!("ratio <= {limit}")));
    names.extend(headings(&["worst", "of function"]));
    let row = |s: bench::Stability| {
        let (worst, ratio) = s.worst.unwrap_or_default();
        let mut row = vec![s.strategy.to_string(), s.functions.to_string()];
        row.extend(s.steady.iter().map(|n| format!("{n} ({})", percent(*n, s.functions))));
        row.extend(if ratio > 0.0 { [fixed(ratio, 3), worst] } else { ["0".into(), "-".into()] });
        row
    };
    Some(Section {
        title: "Stability over seeds",
        before: vec![format!(
            "The stability ratio of a function is the standard deviation of its maxima over the {} seeds (divided by their number) over their mean; \
             0 where nothing is found.",
            grid.seeds.len()
        )],
        headings: names,
        rows: bench::stability(grid)?.into_iter().map(row).collect(),
        after: Vec::new(),
    })
}

pub(super) fn contest(grid: &Grid<'_>) -> Option<Section> {
    let row = |duel: bench::Duel| {
        let counts = [duel.wins, duel.losses, duel.wins + duel.losses, duel.ties].map(|n| n.to_string());
        let mut row = vec![format!("{} vs. {}", duel.first, duel.second)];
        row.extend(counts);
        row.push(probability(duel.p));
        row
    };
    let rows: Vec<_> = bench::duels(grid).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "Who wins where",
        before: vec![format!(
            "Functions on which the first of two strategies finds more bits (n+) or fewer (n-), by medians over seeds; a difference of at most {TIE_BITS} \
             bits is a tie and left out of N. p is that of the two-sided sign test, exact."
        )],
        headings: headings(&["pair", "n+", "n-", "N", "ties", "p"]),
        rows,
        after: Vec::new(),
    })
}

/// Where the first strategy loses clearly.
pub(super) fn behind(grid: &Grid<'_>) -> Option<Section> {
    let first = grid.strategies.first().filter(|_| grid.strategies.len() > 1)?;
    let row =
        |b: bench::Behind| vec![b.function, fixed(b.bits, 2), b.rival.to_string(), fixed(b.rival_bits, 2)];
    let rows: Vec<_> = bench::behind(grid).into_iter().map(row).collect();
    let of = plural(grid.functions.len(), "function");
    let before = match rows.len() {
        0 => format!("{first} is nowhere more than {BEHIND_BITS} bit below a rival ({of})."),
        n => format!("{first} is more than {BEHIND_BITS} bit below a rival on {n} of {of}:"),
    };
    Some(Section {
        title: "Where the first strategy stays behind",
        before: vec![before],
        headings: vec!["function".into(), first.to_string(), "best rival".into(), "its bits".into()],
        rows,
        after: Vec::new(),
    })
}

/// Medians by function and strategy.
pub(super) fn functions(grid: &Grid<'_>, all: bool) -> Option<Section> {
    let mut rows = Vec::new();
    for (function, name) in grid.functions.iter().enumerate() {
        let strategies = 0..grid.strategies.len();
        let medians: Vec<Option<f64>> = strategies.map(|s| grid.median(s, function)).collect();
        let found = || medians.iter().flatten().copied();
        let least = found().min_by(f64::total_cmp).unwrap_or(0.0);
        let most = found().max_by(f64::total_cmp).unwrap_or(0.0);
        if all || most - least > APART_BITS {
            let mut row = vec![name.to_string()];
            row.extend(medians.iter().map(|bits| bits.map_or_else(|| "-".into(), |b| fixed(b, 2))));
            rows.push(row);
        }
    }
    let mut names = vec!["function".to_string()];
    names.extend(grid.strategies.iter().map(|s| s.to_string()));
    let which = match all {
        true => "Every function.".to_string(),
        false => format!(
            "Functions on which strategies differ by more than {APART_BITS} bit; --all lists every one."
        ),
    };
    let before = vec![format!("Maxima in bits, medians over seeds. {which}")];
    (!rows.is_empty()).then_some(Section {
        title: "Function by function",
        before,
        headings: names,
        rows,
        after: Vec::new(),
    })
}

/// Why searches ended.
pub(super) fn stops(grid: &Grid<'_>) -> Section {
    const REASONS: [(StopReason, &str); 8] = [
        (StopReason::Complete, "complete"),
        (StopReason::Budget, "budget"),
        (StopReason::Faults, "faults"),
        (StopReason::Lost, "lost"),
        (StopReason::Pace, "pace"),
        (StopReason::Deadline, "deadline"),
        (StopReason::Nondeterministic, "nondeterministic"),
        (StopReason::Missing, "missing"),
    ];
    let ended = |strategy: usize, reason| grid.rows_of(strategy).filter(|r| r.stop_reason == reason).count();
    let strategies = 0..grid.strategies.len();
    let seen: Vec<_> =
        REASONS.iter().filter(|(reason, _)| strategies.clone().any(|s| ended(s, *reason) > 0)).collect();
    let mut names = vec!["strategy".to_string()];
    names.extend(seen.iter().map(|(_, name)| name.to_string()));
    names.push("functions with faults".into());
    let row = |strategy: usize| {
        let mut row = vec![grid.strategies[strategy].to_string()];
        row.extend(seen.iter().map(|(reason, _)| ended(strategy, *reason).to_string()));
        let faulty = grid.rows_of(strategy).filter(|r| r.faults > 0).map(|r| &r.function);
        row.push(faulty.collect::<BTreeSet<_>>().len().to_string());
        row
    };
    let rows = strategies.clone().map(row).collect();
    let before = vec!["Searches by the reason for which they ended, over all functions and seeds.".into()];
    Section { title: "How searches ended", before, headings: names, rows, after: Vec::new() }
}

pub(super) fn builds(file: &BenchFile) -> Section {
    let row = |build: &crate::model::BuildRow| {
        let about = match build.status {
            BuildStatus::Built => build.version.clone(),
            status => format!("{status}: {}", gist(&build.reason)),
        };
        let role = if build.id == file.baseline { "baseline" } else { "variant" };
        vec![build.id.to_string(), role.into(), build.flags.join(" "), build.fpenv.clone(), about]
    };
    Section {
        title: "Builds",
        before: Vec::new(),
        headings: headings(&["build", "role", "arguments", "fp environment", "compiler, or why not"]),
        rows: file.builds.iter().map(row).collect(),
        after: vec![format!("{}; {}.", file.host.cpu, file.host.libm)],
    }
}
