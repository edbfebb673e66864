//! Zooming into a box: samples many cells evenly, keeps the best few, cuts them into smaller ones
//! and goes on. Where inconsistencies are a matter of rounding, their size wanders slowly with the
//! input and its maximum is rare: this finds the right neighbourhood and then buys it many tries.

use crate::eval::{EvalError, Evaluator};
use crate::ranges::{Cuboid, Orthant};
use crate::search::Task;
use crate::search::evaluate::Probe;
use crate::search::unit::{Answer, Seen, ZoomUnit};

/// Cells of a round, and how many of them the next round looks into.
const CELLS: usize = 64;
const KEPT: usize = 8;
const ROUNDS: u64 = 5;

struct Cell {
    cuboid: Cuboid,
    most: f64,
    total: f64,
}

pub fn run(task: &Task, unit: &ZoomUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let spot = &unit.spot;
    let Some(orthant) = Orthant::new(&task.function, &spot.sides) else {
        return Ok(Answer::nothing(spot.variant));
    };
    let mut stream = task.stream_of(spot.variant, unit.stream);
    let mut probe = Probe::new(task, evaluator, spot.allowances(task), false);
    let mut seen = Seen::of(spot.variant);
    let mut cells = cut(vec![unit.cuboid.clone()], CELLS);
    for _ in 0..ROUNDS {
        let each = unit.budget / ROUNDS / cells.len() as u64;
        let mut inputs = Vec::new();
        let mut owner = Vec::new();
        for (c, cuboid) in cells.iter().enumerate() {
            for _ in 0..each {
                owner.push(c);
                for (d, axis) in orthant.axes.iter().enumerate() {
                    inputs.push(axis.value(stream.between(cuboid.lo[d], cuboid.hi[d])));
                }
            }
        }
        let mut looked: Vec<Cell> =
            cells.into_iter().map(|cuboid| Cell { cuboid, most: 0.0, total: 0.0 }).collect();
        probe.scores(&[spot.variant], &inputs, |_, i, input, score| {
            if !score.evaluated {
                return;
            }
            seen.note(input, score);
            if score.is_inconsistent() {
                let cell = &mut looked[owner[i]];
                cell.most = cell.most.max(score.height());
                cell.total += score.height();
            }
        })?;
        // A stable sort: equals stay in the order of the axis.
        looked.sort_by(|a, b| b.most.total_cmp(&a.most).then(b.total.total_cmp(&a.total)));
        looked.truncate(KEPT);
        cells = cut(looked.into_iter().map(|cell| cell.cuboid).collect(), CELLS);
    }
    let closing = probe.close()?;
    seen.hits.extend(seen.best.clone());
    Ok(Answer::of_variant(seen, closing))
}

/// Cuts boxes in half along their widest axis until there are `count`, or nothing is left to cut.
fn cut(mut cells: Vec<Cuboid>, count: usize) -> Vec<Cuboid> {
    while cells.len() * 2 <= count {
        let halves: Vec<Cuboid> = cells.iter().flat_map(halves).collect();
        if halves.len() == cells.len() {
            break;
        }
        cells = halves;
    }
    cells
}

fn halves(cell: &Cuboid) -> Vec<Cuboid> {
    let widest = (0..cell.lo.len()).max_by_key(|&d| cell.hi[d] - cell.lo[d]);
    let Some(d) = widest.filter(|&d| cell.hi[d] > cell.lo[d]) else { return vec![cell.clone()] };
    let middle = cell.lo[d] + (cell.hi[d] - cell.lo[d]) / 2;
    let (mut lower, mut upper) = (cell.clone(), cell.clone());
    lower.hi[d] = middle;
    upper.lo[d] = middle + 1;
    vec![lower, upper]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cover_the_box_without_overlap() {
        let whole = Cuboid { lo: vec![5, 0], hi: vec![1004, 9] };
        let cells = cut(vec![whole], CELLS);
        assert_eq!(cells.len(), CELLS);
        let size = |c: &Cuboid| (0..2).map(|d| c.hi[d] - c.lo[d] + 1).product::<u64>();
        assert_eq!(cells.iter().map(size).sum::<u64>(), 1000 * 10);
    }

    #[test]
    fn a_single_place_is_not_cut() {
        let place = Cuboid { lo: vec![7], hi: vec![7] };
        assert_eq!(cut(vec![place.clone()], CELLS), [place]);
    }
}
