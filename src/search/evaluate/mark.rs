//! What plots and tables keep of one input on one pair of builds.

use super::Score;
use crate::model::Sample;
use crate::search::Task;
use crate::search::task::column;

/// Bits, and the value that has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    pub bits: f32,
    worst: u8,
}

impl Mark {
    pub fn of(score: &Score) -> Mark {
        // Plots need no more than 24 bits of precision.
        Mark { bits: score.bits as f32, worst: score.worst }
    }

    /// An input with its marks by variant. Variants without a mark have no bits.
    pub fn sample(task: &Task, input: Vec<u64>, marks: impl Iterator<Item = (usize, Mark)>) -> Sample {
        let variants = task.variants().len();
        let wide = if task.function.results.is_wide() { variants } else { 0 };
        let mut sample = Sample { input, bits: vec![0.0; variants], worst: vec![0; wide] };
        for (variant, mark) in marks {
            sample.bits[column(variant)] = mark.bits;
            if let Some(worst) = sample.worst.get_mut(column(variant)) {
                *worst = mark.worst;
            }
        }
        sample
    }
}
