//! Tightening (the step the paper lacks): splits a loose box at clean gaps and finds the sides of
//! each part along every axis.

mod edge;
mod scout;
mod split;

pub use scout::moved;

use crate::eval::{EvalError, Evaluator};
use crate::model::EdgeKind;
use crate::ranges::{Cuboid, Range};
use crate::search::Task;
use crate::search::unit::{Answer, Harvest, TightenUnit};
use edge::{Direction, Edge, Zone, find_edge, probe_outside};
use scout::{Group, Halt, Scout};
use split::Gaps;

/// Passes over all sides: in several dimensions moving one side may show that another is too near.
const PASSES: usize = 3;
/// What one part needs at least for each axis.
const FEWEST: u64 = 512;

pub fn run(task: &Task, unit: &TightenUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let (Some(mut scout), Some(group)) =
        (Scout::new(task, unit, evaluator), Group::new(unit.hits.clone(), unit.density))
    else {
        return Ok(Answer::nothing(unit.spot.variant));
    };
    let mut gaps = Gaps::default();
    let reserve = scout.left / 2;
    scout.left -= reserve;
    let (mut groups, halt) = gaps.split(&mut scout, group);
    if let Some(Halt::Failed(error)) = halt {
        return Err(error);
    }
    scout.left += reserve;
    groups.sort_by(|a, b| a.hull.cmp(&b.hull));
    let mut ranges = Vec::new();
    let count = groups.len();
    for (i, group) in groups.into_iter().enumerate() {
        // An even share of what is left, but enough to be of use.
        let share = scout.left / (count - i) as u64;
        let share = share.max(FEWEST * scout.open_dims().len() as u64).min(scout.left);
        let others = scout.left - share;
        scout.left = share;
        let range = tighten(&mut scout, &mut gaps, group)?;
        scout.left += others;
        ranges.push(range);
    }
    close(scout, ranges)
}

fn close(scout: Scout<'_>, ranges: Vec<Range>) -> Result<Answer, EvalError> {
    let (seen, closing) = scout.close()?;
    Ok(Answer { closing, harvest: Harvest::Tighten { seen, ranges } })
}

/// Finds every side of a group's box. A side that could not be finished is ragged.
fn tighten(scout: &mut Scout<'_>, gaps: &mut Gaps, mut group: Group) -> Result<Range, EvalError> {
    let dims = scout.open_dims();
    let mut edges: Vec<[Option<Edge>; 2]> = vec![[None; 2]; scout.orthant.dims()];
    match find_all(scout, gaps, &mut group, &dims, &mut edges) {
        Ok(()) | Err(Halt::Spent) => {}
        Err(Halt::Failed(error)) => return Err(error),
    }
    let kind = |d: usize, outward: bool| {
        let end = group.side(d, outward);
        let domain_end = if outward { scout.orthant.axes[d].settle(u64::MAX) } else { 0 };
        match edges[d][usize::from(outward)] {
            // The end of the domain is a sharp edge whatever lies inside.
            _ if end == domain_end => EdgeKind::Sharp,
            Some(edge) if edge.at == end => edge.kind,
            _ => EdgeKind::Ragged,
        }
    };
    let kinds = (0..edges.len()).map(|d| [kind(d, false), kind(d, true)]).collect();
    let Cuboid { lo, hi } = group.hull;
    Ok(Range { cuboid: Cuboid { lo, hi }, edges: kinds })
}

fn find_all(
    scout: &mut Scout<'_>,
    gaps: &mut Gaps,
    group: &mut Group,
    dims: &[usize],
    edges: &mut [[Option<Edge>; 2]],
) -> Result<(), Halt> {
    for pass in 0..PASSES {
        let mut moved = false;
        for &d in dims {
            for outward in [false, true] {
                let side = Direction { d, outward };
                let slot = usize::from(outward);
                let settled = edges[d][slot].is_some_and(|edge| edge.at == group.side(d, outward));
                if pass > 0 && settled {
                    let zone = Zone { reach: scout.gap[d], sparse: false };
                    let outside = probe_outside(scout, group, side, zone)?;
                    if outside.is_empty() {
                        continue;
                    }
                    outside.into_iter().for_each(|hit| group.add(hit));
                }
                edges[d][slot] = Some(find_edge(scout, gaps, group, side)?);
                moved = true;
            }
        }
        // On a single axis every side already ended with a clean look outside.
        if !moved || dims.len() < 2 {
            break;
        }
    }
    Ok(())
}
