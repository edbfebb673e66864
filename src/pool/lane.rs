//! One thread's worker: does a piece of work, however many workers that takes.
//!
//! Work in which code under test writes to the worker's pipe is repeated build by build to see whose code that is; it is a
//! fault of that build. Work that kills its worker is repeated with the build at fault in a helper; work that kills even
//! a worker without hot builds fails. So every piece ends.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::coordinator::Pool;
use super::handle::{Death, Lost, Worker};
use super::job::PoolError;
use super::protocol::{PANIC_EXIT, PIPES_EXIT, Reply, Work};
use crate::eval::{End, Helpers, STRAYS_EXIT, Selection, unconfined};
use crate::fp::format_hex;
use crate::model::FaultKind;
use crate::search::Task;

/// Functions and objects that are not run side by side with others any more. Shared by all lanes.
#[derive(Default)]
pub(super) struct Suspects {
    set: Mutex<BTreeSet<(usize, usize)>>,
}

impl Suspects {
    fn with<T>(&self, look: impl FnOnce(&mut BTreeSet<(usize, usize)>) -> T) -> T {
        // A thread that panicked while holding the lock left a set that is still a set.
        look(&mut self.set.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// What to do: a function on some objects.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub function: usize,
    pub arity: usize,
    /// Values that a call gives.
    pub width: usize,
    pub objects: &'a [usize],
    pub work: &'a Work,
    pub task: Option<&'a Task>,
    /// When nobody waits for it any more.
    pub until: Option<Instant>,
}

impl Piece<'_> {
    /// Whether somebody waits for it.
    fn is_awaited(&self, pool: &Pool) -> bool {
        !pool.is_cancelled() && self.until.is_none_or(|until| Instant::now() < until)
    }
}

/// What a piece cost beside its answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    pub near: u64,
    pub replaced: u64,
    /// Objects whose code wrote to the pipe of the worker.
    pub garblers: BTreeSet<usize>,
}

/// Why a piece has no answer.
#[derive(Debug)]
pub(super) enum Halt {
    /// An interrupt, or its time is over.
    Stopped,
    /// The piece cannot be done.
    Failed(String),
    /// No worker can be started.
    Pool(PoolError),
}

/// Letters of a reason that a worker gives.
const LONGEST_REASON: usize = 500;

/// A thread's place to work.
pub(super) struct Lane<'p> {
    pool: &'p Pool,
    number: usize,
    worker: Option<Worker>,
    /// Fresh processes to confirm things in; forks of them have never made a call.
    pub(super) helpers: Helpers,
}

impl<'p> Lane<'p> {
    pub(super) fn new(pool: &'p Pool) -> Lane<'p> {
        let helpers = pool.helpers();
        Lane { pool, number: pool.lanes.fetch_add(1, Relaxed), worker: None, helpers }
    }

    /// Does the piece. `replaced` hears why a worker was lost.
    pub(super) fn perform(
        &mut self,
        piece: Piece<'_>,
        cost: &mut Cost,
        replaced: &dyn Fn(String),
    ) -> Result<Reply, Halt> {
        let pool = self.pool;
        let mut forgiven = 0u32;
        loop {
            if !piece.is_awaited(pool) {
                return Err(Halt::Stopped);
            }
            let suspects = pool.suspects.with(|set| set.clone());
            let selection = Selection {
                function: piece.function,
                arity: piece.arity,
                width: piece.width,
                builds: piece.objects.to_vec(),
                cautious: piece.objects.iter().map(|&o| suspects.contains(&(piece.function, o))).collect(),
            };
            let worker = self.clean_worker(&suspects).map_err(Halt::Pool)?;
            let near = worker.near();
            let result = worker.ask(&selection, piece.work, piece.task, &|| piece.is_awaited(pool));
            cost.near += worker.near().saturating_sub(near);
            pool.quarters.hear(&pool.objects, worker.refused());
            let death = match result {
                // Its words may be those of code under test.
                Ok(Reply::Failed(reason)) => {
                    return Err(Halt::Failed(reason.chars().take(LONGEST_REASON).collect()));
                }
                Ok(reply) => return Ok(reply),
                Err(Lost::Stopped) => {
                    self.worker = None;
                    return Err(Halt::Stopped);
                }
                Err(Lost::Garbled) => {
                    self.worker = None;
                    cost.replaced += 1;
                    replaced("code under test wrote to the worker's pipe".into());
                    let garblers = self.garblers(&piece, &selection)?;
                    forgiven += u32::from(garblers.is_empty());
                    if forgiven > 1 {
                        return Err(Halt::Failed("something writes to the pipes of its workers".into()));
                    }
                    pool.suspects.with(|set| set.extend(garblers.iter().map(|&o| (piece.function, o))));
                    cost.garblers.extend(garblers);
                    continue;
                }
                Err(Lost::Died(death)) => death,
            };
            self.worker = None;
            cost.replaced += 1;
            let reason = self.describe(&piece, &death);
            replaced(reason.clone());
            if selection.cautious.iter().all(|c| *c) {
                // Once may be somebody else's doing, such as the kernel's when memory runs out.
                forgiven += 1;
                if forgiven > 1 {
                    return Err(Halt::Failed(format!("its worker died twice: {reason}")));
                }
            }
            self.suspect(&piece, &selection, &death);
        }
    }

    /// The hot objects whose code writes to the pipe of the worker: each is tried with all others in helpers. All of them,
    /// when none does so by itself.
    fn garblers(&mut self, piece: &Piece<'_>, selection: &Selection) -> Result<BTreeSet<usize>, Halt> {
        let hot = |k: &usize| !selection.cautious[*k];
        let places: Vec<usize> = (0..selection.builds.len()).filter(hot).collect();
        let (mut guilty, pool) = (BTreeSet::new(), self.pool);
        for &place in places.iter().filter(|_| places.len() > 1) {
            let cautious = (0..selection.builds.len()).map(|k| k != place).collect();
            let alone = Selection { cautious, ..selection.clone() };
            self.worker = None;
            let worker = self.clean_worker(&BTreeSet::new()).map_err(Halt::Pool)?;
            match worker.ask(&alone, piece.work, piece.task, &|| piece.is_awaited(pool)) {
                Err(Lost::Garbled) => {
                    guilty.insert(selection.builds[place]);
                }
                Err(Lost::Stopped) => return Err(Halt::Stopped),
                Ok(_) | Err(Lost::Died(_)) => {}
            }
        }
        self.worker = None;
        Ok(if guilty.is_empty() { places.iter().map(|&k| selection.builds[k]).collect() } else { guilty })
    }

    /// The object that ran when the worker died, or all of them.
    fn suspect(&self, piece: &Piece<'_>, selection: &Selection, death: &Death) {
        let at_fault = death.object.filter(|object| {
            selection.builds.iter().zip(&selection.cautious).any(|(o, cautious)| o == object && !cautious)
        });
        self.pool.suspects.with(|set| match at_fault {
            Some(object) => {
                set.insert((piece.function, object));
            }
            None => set.extend(piece.objects.iter().map(|&object| (piece.function, object))),
        });
    }

    fn clean_worker(&mut self, suspects: &BTreeSet<(usize, usize)>) -> Result<&mut Worker, PoolError> {
        let worker = match self.worker.take() {
            Some(worker) if !worker.is_tainted(suspects) => worker,
            _ => {
                let Pool { quarters, objects, .. } = self.pool;
                Worker::start(quarters, self.number, objects)?
            }
        };
        Ok(self.worker.insert(worker))
    }

    fn describe(&self, piece: &Piece<'_>, death: &Death) -> String {
        let what = match death.end.map(|end| end.fault()) {
            None => "lost".into(),
            Some(FaultKind::Timeout) => "no progress".into(),
            Some(kind) => kind.to_string(),
        };
        let place = match death.object.and_then(|object| self.pool.objects.get(object)) {
            Some(plan) => &plan.build,
            None => {
                return match death.end {
                    Some(End::Exit(STRAYS_EXIT)) => "code under test left processes behind".into(),
                    Some(End::Exit(PIPES_EXIT)) => "code under test closed the worker's pipes".into(),
                    Some(End::Exit(PANIC_EXIT)) => "a panic beside code under test".into(),
                    Some(End::Unconfined(number)) => unconfined(number),
                    Some(End::Stopped) => "somebody stopped the process that watches it".into(),
                    _ => format!("{what} outside the code under test"),
                };
            }
        };
        let Some(input) = &death.input else { return format!("{what} while loading {place}") };
        let texts: Vec<String> = match piece.task {
            Some(task) if task.function.arity() == input.len() => {
                task.function.coordinates.iter().zip(input).map(|(p, &bits)| format_hex(p.ty, bits)).collect()
            }
            _ => input.iter().map(|bits| format!("{bits:#018x}")).collect(),
        };
        format!("{what} in {place} at ({})", texts.join(", "))
    }
}
