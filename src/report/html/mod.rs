//! A run as one page for a browser: it opens offline, asks nobody for anything, and runs no script but its
//! own. Rust writes the frame and the data; the scripts in `assets` draw the matrix and the functions.

mod builds;
mod detail;
mod embed;
mod overview;
mod points;
mod speed;
mod value;
mod why;

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use super::number::count;
use super::plan::quoted;
use super::unsearched::GapLine;
use super::{Material, cause, unsearched};
use crate::model::{Budget, RunFile, printable};

/// Samples drawn on one page: more would make it slow to load and no clearer.
const POINTS: usize = 300_000;
/// Samples of one function that are always drawn.
const LEAST_POINTS: usize = 100;

const PAGE: &str = include_str!("assets/page.html");
const STYLES: [&str; 2] = [include_str!("assets/uplot.min.css"), include_str!("assets/style.css")];
const LICENCE: &str = include_str!("assets/uplot.LICENSE");
const SCRIPTS: [&str; 9] = [
    include_str!("assets/uplot.min.js"),
    include_str!("assets/base.js"),
    include_str!("assets/axis.js"),
    include_str!("assets/matrix.js"),
    include_str!("assets/plot.js"),
    include_str!("assets/causes.js"),
    include_str!("assets/ranges.js"),
    include_str!("assets/function.js"),
    include_str!("assets/main.js"),
];

/// What went wrong inside bitrift; no run is to blame for it.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("the page's frame could not be filled: {0:#}")]
    Frame(#[from] minijinja::Error),
    #[error("the page's data could not be written: {0}")]
    Data(#[from] serde_json::Error),
}

/// The page's scripts and styles.
struct Assets {
    style: String,
    script: String,
}

impl Assets {
    fn embedded() -> Assets {
        Assets { style: STYLES.join("\n"), script: SCRIPTS.join("\n") }
    }
}

/// The whole page.
pub fn render(material: &Material) -> Result<String, PageError> {
    render_with(material, &Assets::embedded())
}

fn render_with(material: &Material, assets: &Assets) -> Result<String, PageError> {
    let run = &material.run;
    let most = (POINTS / run.functions.len().max(1)).max(LEAST_POINTS);
    let details = run.functions.iter().map(|f| embed::json(&detail::detail(material, f, most)));
    let details = details.collect::<Result<Vec<_>, _>>()?;
    let speed = material.speed.as_ref().map(|file| {
        let (views, functions) = speed::views(file, run);
        Speed { views, functions, cpu: printable(&file.cpu) }
    });
    let frame = Frame {
        name: printable(&run.name),
        run_word: material.name.as_deref().map(quoted).unwrap_or_default(),
        facts: facts(run),
        totals: totals(run),
        builds: builds::views(run),
        speed,
        explained: material.explain.as_ref().map(cause::count),
        unsearched: unsearched::lines(run),
        overview: embed::json(&overview::Overview::new(material))?,
        details,
        style: &assets.style,
        script: &assets.script,
        hash: embed::hash(&assets.script),
        licence: LICENCE,
    };
    let mut environment = Environment::new();
    environment.add_template("page.html", PAGE)?;
    Ok(environment.get_template("page.html")?.render(Serde(&frame))?)
}

/// What the page's frame is filled with.
#[derive(Serialize)]
struct Frame<'a> {
    name: String,
    /// How commands name the run, as a shell takes it.
    run_word: String,
    facts: Vec<(&'static str, String)>,
    totals: [(u32, usize); 4],
    builds: Vec<builds::BuildView>,
    speed: Option<Speed>,
    /// How many findings have a cause; None when nobody asked.
    explained: Option<String>,
    unsearched: Vec<GapLine>,
    overview: String,
    details: Vec<String>,
    style: &'a str,
    script: &'a str,
    hash: String,
    licence: &'a str,
}

#[derive(Serialize)]
struct Speed {
    views: Vec<speed::SpeedView>,
    /// How many functions the times are of.
    functions: usize,
    cpu: String,
}

/// What the run was, as pairs of a name and a text.
fn facts(run: &RunFile) -> Vec<(&'static str, String)> {
    let budget = match run.budget {
        Budget::Paper => "the paper's".to_string(),
        Budget::Evaluations(n) => format!("{} evaluations", count(n)),
    };
    let evaluations = run.functions.iter().map(|f| f.evaluations).sum();
    let built = run.builds.iter().filter(|b| b.is_built()).count();
    vec![
        ("baseline", printable(&run.baseline)),
        ("strategy", run.strategy.to_string()),
        ("budget", budget),
        ("seed", run.seed.to_string()),
        ("functions", count(run.functions.len() as u64)),
        ("not searched", count(unsearched::functions(run) as u64)),
        ("builds", format!("{built} of {}", run.builds.len())),
        ("evaluations", count(evaluations)),
        ("host", printable(&run.host.cpu)),
        ("libm", printable(&run.host.libm)),
        ("bitrift", printable(&run.bitrift)),
    ]
}

/// How many functions have more than so many bits in their worst build.
fn totals(run: &RunFile) -> [(u32, usize); 4] {
    let worst = |limit: f64| {
        let exceeds = |max: f64| max > limit;
        run.functions.iter().filter(|f| f.comparisons.iter().any(|c| exceeds(c.max_bits))).count()
    };
    [48, 32, 8, 0].map(|limit| (limit, worst(f64::from(limit))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CONFIRM_SCHEMA, ConfirmFile, ConfirmRow, Confirmed, FunctionSamples};
    use crate::report::sample;

    fn material() -> Material {
        let samples = FunctionSamples {
            function: "airy_ai".into(),
            params: vec!["x".into()],
            builds: vec!["gcc/O3-fast/native".into()],
            samples: vec![(vec!["0x1p+0".into()], vec![Some(12.5)]), (vec!["-0x0p+0".into()], vec![None])],
            worst: Vec::new(),
            held: Vec::new(),
        };
        let row = ConfirmRow {
            confirmed: Confirmed::No,
            worst: None,
            baseline: None,
            variant: None,
            reason: "it </script> agrees".into(),
        };
        Material {
            run: sample::run(),
            samples: [("airy_ai".to_string(), samples)].into(),
            confirm: Some(ConfirmFile {
                schema: CONFIRM_SCHEMA.into(),
                witnesses: [("airy_ai#gcc/O3-fast/native.1".parse().unwrap(), row)].into(),
            }),
            speed: None,
            explain: sample::material().explain,
            name: Some("0001-odd".into()),
        }
    }

    #[test]
    fn the_frame_of_the_odd_run() {
        let assets = Assets { style: "STYLE".into(), script: "SCRIPT".into() };
        insta::assert_snapshot!(render_with(&material(), &assets).unwrap());
    }

    #[test]
    fn hostile_text_stays_text() {
        let page = render(&material()).unwrap();
        assert!(!page.contains("<script>alert(1)"));
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
        // The page's own script, and one block of data per function and for the matrix.
        assert_eq!(page.matches("</script>").count(), 1 + 1 + material().run.functions.len());
    }

    #[test]
    fn nothing_is_asked_from_elsewhere() {
        let page = render(&material()).unwrap();
        for word in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest", "<link", "<iframe"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn a_run_without_functions_has_a_page_too() {
        let mut empty = material();
        empty.run.functions.clear();
        empty.samples.clear();
        assert!(render(&empty).unwrap().contains("odd"));
    }
}
