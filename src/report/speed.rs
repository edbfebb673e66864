//! `bitrift speed`: what each build takes and what it costs in bits.

use comfy_table::{Cell, CellAlignment};

use super::number::plural;
use super::style::{Style, text_of, wrap};
use crate::findings::{BuildCost, build_costs};
use crate::model::{RunFile, SpeedFile, printable};

const WORDS: &str = "ns/call: geometric mean over the functions, least of several rounds, the call itself \
    included. worst: the largest difference in bits; mean: of the functions' largest; differ: how many of the functions do. *: on the front, no \
    other build is as fast with fewer bits, or faster with as many.";

/// One line per build, fastest first; those that cannot be compared stand apart.
pub fn render(run: &RunFile, speed: &SpeedFile, style: Style) -> String {
    let mut costs = build_costs(run, speed);
    let ratio = |cost: &BuildCost| cost.speed_up.unwrap_or(0.0);
    costs.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let (apart, own): (Vec<_>, Vec<_>) = costs.into_iter().partition(|cost| cost.emulated);
    let timed = own.iter().map(|cost| cost.timed).max().unwrap_or(0);
    let about = format!(
        "{}: {} timed on {}, against {}",
        printable(&run.name),
        plural(timed, "function"),
        printable(&speed.cpu),
        printable(&run.baseline)
    );
    let mut text = wrap(&about, style.width) + "\n" + &table(run, &own, style);
    if !apart.is_empty() {
        let why = "programs of their own, some on an emulator: their times are of asking them and say nothing of speed";
        text.push_str(&format!("\n{}{}", wrap(why, style.width), table(run, &apart, style)));
    }
    text.push('\n');
    text.push_str(&wrap(WORDS, style.width));
    text
}

fn table(run: &RunFile, costs: &[BuildCost], style: Style) -> String {
    let mut table = style.table(&["build", "ns/call", "speed-up", "worst", "", "mean", "", "differ"]);
    for column in [1, 2, 3, 5] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let star = |on: bool| Cell::new(if on { "*" } else { "" });
    for cost in costs {
        let is_baseline = cost.build == run.baseline;
        let differ = match is_baseline {
            true => "baseline".into(),
            false => format!("{} of {}", cost.differing, cost.compared),
        };
        let (ns, speed_up) = match cost.speed_up {
            Some(ratio) => (format!("{:.1}", cost.ns), format!("{ratio:.2}")),
            None => ("-".into(), "-".into()),
        };
        table.add_row(vec![
            Cell::new(printable(&cost.build)),
            Cell::new(ns),
            Cell::new(speed_up),
            style.bits(cost.worst_bits),
            star(cost.on_worst_front),
            style.bits(cost.mean_bits),
            star(cost.on_mean_front),
            Cell::new(differ),
        ]);
    }
    text_of(&table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SPEED_SCHEMA, SpeedRow};
    use crate::report::sample::{HOSTILE, run};

    fn speed() -> SpeedFile {
        let row = |build: &str, times: &[f64], emulated| SpeedRow {
            build: build.into(),
            functions: ["airy_ai", "kahan_sum"]
                .iter()
                .map(ToString::to_string)
                .zip(times.iter().copied())
                .collect(),
            emulated,
        };
        SpeedFile {
            schema: SPEED_SCHEMA.into(),
            cpu: format!("a processor {HOSTILE}"),
            builds: vec![
                row("gcc/O0/native", &[20.0, 5.0], false),
                row("gcc/O2/native", &[10.0, 2.5], false),
                row("gcc/O3-fast/native", &[5.0, 2.5], false),
                row("gcc/O2/aarch64", &[200.0, 100.0], true),
                row(HOSTILE, &[], false),
            ],
        }
    }

    #[test]
    fn every_build_has_its_time_its_bits_and_its_place_on_the_fronts() {
        let style = Style { width: 80, ..Style::PLAIN };
        let text = render(&run(), &speed(), style);
        assert!(text.is_ascii());
        insta::assert_snapshot!(text);
    }
}
