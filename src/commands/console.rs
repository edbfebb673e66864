//! Standard output and error: what they can show, and writing to them.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use crate::cli::Exit;
use crate::model::{EventSink, printable_lines};
use crate::report::Style;
use crate::report::progress::{Bars, Lines, Silent};

use super::failure::Failure;

/// How often a long stage says where it stands when there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

pub struct Console {
    /// For standard output.
    pub style: Style,
    bars: bool,
}

impl Console {
    pub fn detect() -> Console {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let stdout = std::io::stdout();
        let style = match rustix::termios::tcgetwinsize(&stdout) {
            Ok(size) if stdout.is_terminal() => {
                // A terminal that does not know its width says 0.
                let width = if size.ws_col == 0 { 80 } else { size.ws_col };
                Style::terminal(width, no_color)
            }
            _ => Style::PLAIN,
        };
        Console { style, bars: std::io::stderr().is_terminal() }
    }

    /// Where the progress of a command goes.
    pub fn progress(&self, quiet: bool) -> Box<dyn EventSink> {
        match (quiet, self.bars) {
            (true, _) => Box::new(Silent),
            (false, true) => Box::new(Bars::stderr()),
            (false, false) => Box::new(Lines::new(std::io::stderr(), LINE_EVERY)),
        }
    }

    /// The same for a command that searches so much that a line for each function would bury the rest.
    pub fn brief_progress(&self, quiet: bool) -> Box<dyn EventSink> {
        match (quiet, self.bars) {
            (false, false) => Box::new(Lines::brief(std::io::stderr(), LINE_EVERY)),
            _ => self.progress(quiet),
        }
    }

    /// Prints a report. A reader that has seen enough (`| head`) is no failure.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.stream(|out| out.write_all(text.as_bytes()))
    }

    /// The same for what is written piece by piece.
    pub fn stream(
        &self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout());
        match write(&mut out).and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::Internal, format!("failed to write to standard output: {e}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints to standard error, where a message may repeat anything that a file or a tool said.
    /// There is nobody to tell when that fails.
    pub fn complain(&self, text: &str) {
        let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
    }
}
