//! The units of a phase: made when they are asked for, so that a phase takes no more room the longer it is.

use std::collections::VecDeque;
use std::iter::Peekable;

use super::Unit;

/// A unit with what it is for: what its answer will be taken for.
pub struct Planned<P> {
    pub unit: Unit,
    pub purpose: P,
}

type Units<P> = Box<dyn Iterator<Item = Planned<P>> + Send>;

/// What is left to do of a phase.
pub struct Agenda<P> {
    planned: Peekable<Units<P>>,
    /// What the units that were handed out are for, in their order, without those that were answered.
    out: VecDeque<P>,
}

impl<P: Send + 'static> Agenda<P> {
    pub fn new(planned: impl Iterator<Item = Planned<P>> + Send + 'static) -> Agenda<P> {
        let planned: Units<P> = Box::new(planned);
        Agenda { planned: planned.peekable(), out: VecDeque::new() }
    }

    /// Nothing to do.
    pub fn empty() -> Agenda<P> {
        Agenda::new(std::iter::empty())
    }

    /// Whether every unit was handed out and answered.
    pub fn is_done(&mut self) -> bool {
        self.out.is_empty() && self.planned.peek().is_none()
    }

    pub fn next_unit(&mut self) -> Option<Unit> {
        let Planned { unit, purpose } = self.planned.next()?;
        self.out.push_back(purpose);
        Some(unit)
    }

    /// What the unit whose answer comes next is for: answers come in the order of units.
    pub fn answered(&mut self) -> Option<P> {
        self.out.pop_front()
    }
}
