//! `bitrift compare`: two stored runs against each other.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{CompareArgs, Exit, FailOn};
use crate::findings::select;
use crate::gate::compare::{Change, Rules, RunComparison, compare};
use crate::model::RunFile;
use crate::report;
use crate::store::{read_run, resolve};

pub fn run(args: &CompareArgs, console: &Console) -> Result<Exit, Failure> {
    let read = |name: Option<&str>| -> Result<(String, RunFile), Failure> {
        let folder = resolve(Path::new(RESULTS), name)?;
        Ok((folder.display().to_string(), read_run(&folder)?))
    };
    let ((place_a, a), (place_b, b)) = (read(Some(&args.a))?, read(args.b.as_deref())?);
    let names = a.functions.iter().chain(&b.functions).map(|f| f.name.as_str());
    wanted::check_globs(&args.functions, names, "of the runs")?;
    let [a, b] = [a, b].map(|run| select(&run, |name| args.functions.matches(name)));
    let rules = Rules { tolerance: args.tolerance, names: args.map.clone(), runs: [place_a, place_b] };
    if let Some(name) = rules.unknown_name(&a) {
        let builds: Vec<&str> = a.builds.iter().map(|build| build.id.as_str()).collect();
        return Err(Failure::usage(format!(
            "--map: the first run has no build `{name}`, and none with such a part; its builds: {}",
            builds.join(", ")
        )));
    }
    let comparison = compare(&a, &b, &rules);
    console.print(&text(args, console, &comparison)?)?;
    verdict(args, &comparison)
}

fn text(args: &CompareArgs, console: &Console, comparison: &RunComparison) -> Result<String, Failure> {
    if args.json {
        let text = serde_json::to_string_pretty(comparison);
        let text = text.map_err(|e| Failure::new(Exit::Internal, format!("failed to write JSON: {e}")))?;
        return Ok(text + "\n");
    }
    if args.markdown {
        return Ok(report::compare::render_markdown(comparison));
    }
    Ok(report::compare::render(comparison, args.all, console.style))
}

/// Changes are no failure unless the user says so.
fn verdict(args: &CompareArgs, comparison: &RunComparison) -> Result<Exit, Failure> {
    let refused = [(FailOn::New, Change::New), (FailOn::Worse, Change::Worse)];
    let refused = refused.into_iter().filter(|(asked, _)| args.fail_on.contains(asked));
    let found: Vec<String> = refused
        .map(|(_, change)| (comparison.total(change), change))
        .filter(|(total, _)| *total > 0)
        .map(|(total, change)| format!("{total} {}", change.as_str()))
        .collect();
    if found.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failure::new(Exit::GateFailed, format!("{} (--fail-on)", found.join(", "))))
}
