//! Progress of a run on standard error: bars on a terminal, lines elsewhere, or nothing.
//! Never part of a result: times are welcome here.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::number::{count, plural};
use crate::model::{Event, EventSink, printable, printable_lines};

/// For `--quiet`.
pub use crate::model::NoEvents as Silent;

const BAR: &str = "{prefix:>9} [{bar:20}] {pos}/{len}  {elapsed}, {eta} left  {wide_msg}";

/// What is counted between events.
#[derive(Default)]
struct Counts {
    functions: usize,
    finished: usize,
    jobs: usize,
    steps: usize,
    /// So far, by function.
    evaluations: BTreeMap<String, u64>,
}

impl Counts {
    fn evaluations(&self) -> String {
        count(self.evaluations.values().fold(0, |sum, n| sum.saturating_add(*n)))
    }

    /// Takes an event in; returns the line it deserves, if it always does.
    fn take(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::CompileStarted { jobs } => {
                (self.jobs, self.steps) = (*jobs, 0);
                None
            }
            Event::CompileStep { .. } => {
                self.steps += 1;
                None
            }
            Event::CompileFinished { compiled, cached } => {
                Some(format!("compiled {}, took {cached} from the cache", plural(*compiled, "file")))
            }
            Event::SearchStarted { functions, resumed } => {
                (self.functions, self.finished) = (*functions, *resumed);
                self.evaluations.clear();
                let before = match resumed {
                    0 => String::new(),
                    n => format!(", {n} of them done before"),
                };
                Some(format!("searching {}{before}", plural(*functions, "function")))
            }
            Event::SearchProgress { function, evaluations } => {
                // Workers report side by side, so a smaller count may come after a larger one.
                let so_far = self.evaluations.entry(function.clone()).or_default();
                *so_far = (*so_far).max(*evaluations);
                None
            }
            Event::FunctionFinished { function, max_bits, ranges, faults } => {
                self.finished += 1;
                let faults =
                    if *faults == 0 { String::new() } else { format!(", {} faults", count(*faults)) };
                Some(format!(
                    "[{}/{}] {}: {max_bits:.1} bits, {}{faults}",
                    self.finished,
                    self.functions,
                    printable(function),
                    plural(*ranges, "range"),
                ))
            }
            Event::WorkerReplaced { function, reason } => {
                Some(format!("worker replaced in {}: {}", printable(function), printable(reason)))
            }
            Event::ExplainStarted { findings } => {
                (self.functions, self.finished) = (*findings, 0);
                Some(format!("explaining {}", plural(*findings, "finding")))
            }
            Event::ExplainDone { .. } => {
                self.finished += 1;
                None
            }
            Event::SearchFinished | Event::ExplainStep { .. } | Event::ExplainFinished => None,
            Event::Note { text } => Some(printable_lines(text).replace('\n', "\n  ")),
        }
    }

    /// Where a long stage stands.
    fn standing(&self, event: &Event) -> Option<String> {
        match event {
            Event::CompileStep { .. } => Some(format!("compiling: {} of {}", self.steps, self.jobs)),
            Event::SearchProgress { .. } | Event::FunctionFinished { .. } => Some(format!(
                "searching: {} of {}, {} evaluations",
                self.finished,
                plural(self.functions, "function"),
                self.evaluations()
            )),
            Event::ExplainStep { finding, layer } => Some(format!(
                "explaining: {} of {}, {} {layer}",
                self.finished,
                plural(self.functions, "finding"),
                printable(finding)
            )),
            _ => None,
        }
    }
}

/// Plain lines: one for everything that finishes, and now and then one in between.
pub struct Lines<W> {
    state: Mutex<LineState<W>>,
    every: Duration,
    /// Whether every finished function has a line.
    each: bool,
}

struct LineState<W> {
    out: W,
    counts: Counts,
    last: Instant,
}

impl<W: Write + Send> Lines<W> {
    /// At most one line of progress in each period `every`.
    pub fn new(out: W, every: Duration) -> Lines<W> {
        let state = LineState { out, counts: Counts::default(), last: Instant::now() };
        Lines { state: Mutex::new(state), every, each: true }
    }

    /// Without a line for each finished function: they are counted in the lines of progress.
    pub fn brief(out: W, every: Duration) -> Lines<W> {
        Lines { each: false, ..Lines::new(out, every) }
    }
}

impl<W: Write + Send> EventSink for Lines<W> {
    fn send(&self, event: Event) {
        // A panic elsewhere does not make the counts wrong enough to stop.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let due = state.last.elapsed() >= self.every;
        let shown = self.each || !matches!(event, Event::FunctionFinished { .. });
        let always = state.counts.take(&event).filter(|_| shown);
        let line = always.or_else(|| state.counts.standing(&event).filter(|_| due));
        if let Some(line) = line {
            state.last = Instant::now();
            // Nobody to tell when standard error is closed.
            let _ = writeln!(state.out, "{line}").and_then(|()| state.out.flush());
        }
    }
}

/// Bars with counts and remaining time.
pub struct Bars {
    state: Mutex<BarState>,
    target: fn() -> ProgressDrawTarget,
}

struct BarState {
    bar: Option<ProgressBar>,
    counts: Counts,
}

impl Bars {
    /// On standard error; nothing is drawn when that is not a terminal.
    pub fn stderr() -> Bars {
        Bars::on(ProgressDrawTarget::stderr)
    }

    fn on(target: fn() -> ProgressDrawTarget) -> Bars {
        Bars { state: Mutex::new(BarState { bar: None, counts: Counts::default() }), target }
    }

    fn start(&self, state: &mut BarState, title: &'static str, length: usize, done: usize) {
        let bar = ProgressBar::with_draw_target(Some(length as u64), (self.target)());
        // The template is constant and tested; the default bar is no worse than none.
        let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(title);
        bar.set_position(done as u64);
        // Functions already in the journal took no time: leave them out of the estimate.
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(200));
        state.bar = Some(bar);
    }
}

impl EventSink for Bars {
    fn send(&self, event: Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let line = state.counts.take(&event);
        match &event {
            Event::CompileStarted { jobs } => self.start(&mut state, "compiling", *jobs, 0),
            Event::SearchStarted { functions, resumed } => {
                self.start(&mut state, "searching", *functions, *resumed);
            }
            Event::ExplainStarted { findings } => self.start(&mut state, "explaining", *findings, 0),
            Event::CompileFinished { .. } | Event::SearchFinished | Event::ExplainFinished => {
                if let Some(bar) = state.bar.take() {
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
        let Some(bar) = &state.bar else {
            // Between the stages there is no bar to print above; notes must still be read.
            if let (Event::Note { .. }, Some(line)) = (&event, line) {
                // `eprintln` would panic when standard error is closed.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            return;
        };
        match &event {
            Event::CompileStep { build, what, .. } => {
                bar.inc(1);
                bar.set_message(format!("{} {}", printable(build.as_str()), printable(what)));
            }
            Event::SearchProgress { function, .. } => {
                bar.set_message(format!(
                    "{} evaluations  {}",
                    state.counts.evaluations(),
                    printable(function)
                ));
            }
            Event::ExplainStep { finding, layer } => {
                bar.set_message(format!("{} {layer}", printable(finding)));
            }
            Event::FunctionFinished { .. } | Event::ExplainDone { .. } => bar.inc(1),
            Event::Note { .. } | Event::WorkerReplaced { .. } => bar.println(line.unwrap_or_default()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BuildId;
    use crate::report::sample::HOSTILE;

    fn events() -> Vec<Event> {
        let build = BuildId::new("gcc", "O0", "native");
        let step = Event::CompileStep { build, what: "a.c".into(), cached: false };
        let progress =
            |function: &str| Event::SearchProgress { function: function.into(), evaluations: 5000 };
        let finished = |function: &str, faults| Event::FunctionFinished {
            function: function.into(),
            max_bits: 63.16,
            ranges: 2,
            faults,
        };
        vec![
            Event::CompileStarted { jobs: 2 },
            step.clone(),
            step,
            Event::CompileFinished { compiled: 1, cached: 1 },
            Event::Note { text: "gcc/bad/native failed: error\n\u{1b}[2Jmore".into() },
            Event::SearchStarted { functions: 3, resumed: 1 },
            progress("airy_ai"),
            progress("airy_ai"),
            finished("airy_ai", 0),
            Event::WorkerReplaced { function: HOSTILE.into(), reason: "killed".into() },
            progress(HOSTILE),
            finished(HOSTILE, 1200),
            Event::SearchFinished,
        ]
    }

    fn lines(every: Duration) -> String {
        let sink = Lines::new(Vec::new(), every);
        events().into_iter().for_each(|event| sink.send(event));
        String::from_utf8(sink.state.into_inner().unwrap().out).unwrap()
    }

    #[test]
    fn every_finished_thing_is_a_line() {
        insta::assert_snapshot!(lines(Duration::MAX));
    }

    #[test]
    fn progress_in_between_is_shown_when_it_is_due() {
        insta::assert_snapshot!(lines(Duration::ZERO));
    }

    #[test]
    fn brief_progress_counts_functions_without_a_line_for_each() {
        let sink = Lines::brief(Vec::new(), Duration::MAX);
        events().into_iter().for_each(|event| sink.send(event));
        let text = String::from_utf8(sink.state.into_inner().unwrap().out).unwrap();
        assert!(text.contains("searching 3 functions") && !text.contains("bits"), "{text}");
    }

    #[test]
    fn bars_take_every_event() {
        assert!(ProgressStyle::with_template(BAR).is_ok());
        let bars = Bars::on(ProgressDrawTarget::hidden);
        events().into_iter().for_each(|event| bars.send(event));
        let state = bars.state.lock().unwrap();
        assert!(state.bar.is_none());
        assert_eq!((state.counts.finished, state.counts.evaluations()), (3, "10,000".to_string()));
    }
}
