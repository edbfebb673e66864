//! The compiler's pass that changes the result: clang numbers its passes and can stop before each, gcc can be
//! told to leave single ones out.

use super::delta::Parts;
use super::environment::row;
use super::error::ExplainError;
use super::file::FileSet;
use super::inquiry::{Inquiry, Search};
use super::scene::Scene;
use super::text::Guilt;
use crate::compile::{Mix, MixError};
use crate::model::{LayerRow, Standing, Suspect};
use crate::toolchain::{Family, passes};

/// Clang's words in front of every pass that it runs.
const RUNNING: &str = "BISECT: running pass (";
/// Passes that are named together; more of them say that each does the same.
const MOST_TOGETHER: usize = 3;
/// A number of passes that no file needs.
const ENDLESS: u64 = 1 << 22;

/// The pass that makes the difference in the guilty code, the first set of it where there are several.
pub fn pass(inquiry: &Inquiry<'_>, files: &[FileSet], guilty: &[Guilt]) -> Result<LayerRow, ExplainError> {
    let (mix, where_to) = match (guilty.first(), files.first()) {
        (Some(guilt), _) => (guilt.alone(inquiry), guilt.texts.files.keys().copied().collect()),
        (None, Some(set)) if !set.call => (super::file::mixed(inquiry, set), set.files.clone()),
        _ => return Ok(stopped("no file to look at".into())),
    };
    let file = match (where_to.first(), where_to.len()) {
        (Some(&file), 1) => file,
        _ => return Ok(stopped("several files are needed together, each with passes of its own".into())),
    };
    let build = &inquiry.scene.variant.build;
    let compiler = match inquiry.scene.desk.mixer.compilers().find(&build.command) {
        Ok(compiler) => compiler,
        Err(missing) => return Ok(stopped(missing.to_string())),
    };
    match compiler.family {
        Family::Clang => clang(inquiry, &mix, file),
        Family::Gcc => match passes(&compiler, &build.args) {
            Ok(switches) => gcc(inquiry, &mix, file, &switches),
            Err(words) => Ok(stopped(words)),
        },
        Family::Tcc | Family::Other => {
            Ok(stopped(format!("{} has no switches for its passes", build.command)))
        }
    }
}

fn stopped(text: String) -> LayerRow {
    row(Standing::Stopped, Vec::new(), text)
}

fn suspect(pass: String) -> Vec<Vec<Suspect>> {
    vec![vec![Suspect { pass, ..Suspect::default() }]]
}

/// The mix with further arguments for one source.
fn with(mix: &Mix, file: usize, more: &[String]) -> Mix {
    let mut mix = mix.clone();
    mix.sources[file].more.extend_from_slice(more);
    mix
}

fn limited(mix: &Mix, file: usize, limit: u64) -> Mix {
    let mut mix = with(mix, file, &["-mllvm".into(), format!("-opt-bisect-limit={limit}")]);
    mix.sources[file].echo = Some(RUNNING);
    mix
}

fn clang(inquiry: &Inquiry<'_>, mix: &Mix, file: usize) -> Result<LayerRow, ExplainError> {
    let total = match echo(&inquiry.scene, &limited(mix, file, ENDLESS))? {
        Ok(Some(line)) => number(&line).unwrap_or(ENDLESS),
        Ok(None) => ENDLESS,
        Err(words) => return Ok(stopped(words)),
    };
    let shows = |limit: u64| inquiry.shows(&limited(mix, file, limit));
    if shows(0)? {
        let text = "code generation: it is there before any pass that clang can leave out".to_string();
        return Ok(row(Standing::Found, suspect("code generation".into()), text + &inquiry.troubles()));
    }
    if !shows(total)? {
        return Ok(stopped(format!("it is not there when clang numbers its passes{}", inquiry.troubles())));
    }
    let (mut without, mut with) = (0, total);
    while with - without > 1 {
        let middle = without + (with - without) / 2;
        if shows(middle)? {
            with = middle;
        } else {
            without = middle;
        }
    }
    let line = echo(&inquiry.scene, &limited(mix, file, with))?.ok().flatten().unwrap_or_default();
    let name = line.split_once(") ").map_or("of unknown name", |(_, name)| name).to_string();
    let text = format!(
        "{name}: pass {with} of {total}, the first with which the difference is there{}",
        inquiry.troubles()
    );
    Ok(row(Standing::Found, suspect(name), text))
}

/// The last pass that clang says it ran; the inner error is its own.
fn echo(scene: &Scene<'_>, mix: &Mix) -> Result<Result<Option<String>, String>, ExplainError> {
    match scene.desk.mixer.make(mix) {
        Ok(mixed) => Ok(Ok(mixed.echo)),
        Err(MixError::Tool(words)) => Ok(Err(words)),
        Err(MixError::Cancelled) => Err(ExplainError::Interrupted),
        Err(MixError::Cache(error)) => Err(ExplainError::Cache(error)),
    }
}

fn number(line: &str) -> Option<u64> {
    line.strip_prefix(RUNNING)?.split(')').next()?.parse().ok()
}

/// The fewest passes without which the difference is gone.
fn gcc(inquiry: &Inquiry<'_>, mix: &Mix, file: usize, switches: &[String]) -> Result<LayerRow, ExplainError> {
    let off = |parts: &Parts| {
        let more: Vec<String> = parts.iter().map(|&part| switches[part].clone()).collect();
        with(mix, file, &more)
    };
    // A search for what takes the difference away is one for what shows its absence.
    let found = match inquiry.search_absence(switches.len(), off)? {
        Search::Senseless(_) => {
            let text =
                "it stays without all passes that gcc can leave out: code generation or folding".to_string();
            return Ok(row(Standing::Nothing, Vec::new(), text + &inquiry.troubles()));
        }
        Search::Found(found) => found,
    };
    if let Some(many) = found.sets.iter().map(Parts::len).find(|&size| size > MOST_TOGETHER) {
        let text = format!(
            "no single pass: only without {many} of them the difference is gone{}",
            inquiry.troubles()
        );
        return Ok(row(Standing::Nothing, Vec::new(), text));
    }
    let name = |part: &usize| {
        let switch = &switches[*part];
        switch.strip_prefix("-fdisable-").or(switch.strip_prefix("-fno-")).unwrap_or(switch).to_string()
    };
    let causes: Vec<Vec<Suspect>> = found
        .sets
        .iter()
        .map(|set| set.iter().map(|part| Suspect { pass: name(part), ..Suspect::default() }).collect())
        .collect();
    let words = super::file::words(&causes, true, |s| s.pass.clone());
    let text = format!("without {words} the difference is gone{}", inquiry.troubles());
    Ok(row(Standing::Found, causes, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_pass_is_read_from_clangs_line() {
        let line = "BISECT: running pass (117) InstCombinePass on red";
        assert_eq!(number(line), Some(117));
        assert_eq!(number("BISECT: NOT running pass (3) x"), None);
        assert_eq!(number("BISECT: running pass (x) y"), None);
    }
}
