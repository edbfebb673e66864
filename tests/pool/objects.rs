//! Shared objects with hand-written entry points, compiled by plain gcc.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use bitrift::model::{Audit, BuildId, BuiltObject, ControlWords, FunctionStatus};
use bitrift::pool::LoadPlan;

/// What a fixture says it does in [2, 4).
#[derive(Debug)]
pub enum Expected {
    /// Healthy values all the same.
    None,
    /// Anything but a wrong value.
    Any,
    /// Some signal.
    Crash,
    Nondeterministic,
    /// A fault with this name.
    Kind(String),
}

pub struct Fixture {
    pub name: String,
    pub expected: Expected,
    pub path: PathBuf,
}

/// The functions of fixtures/faults, by name; every object lists them in this order.
pub fn fixtures() -> &'static [Fixture] {
    static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/faults");
        let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|e| e == "c")).collect();
        paths.sort();
        assert!(paths.len() >= 22);
        paths.into_iter().map(read_head).collect()
    })
}

fn read_head(path: PathBuf) -> Fixture {
    let text = fs::read_to_string(&path).unwrap();
    let after = |mark: &str, end: &str| -> String {
        let rest = text.split_once(mark).unwrap_or_else(|| panic!("{path:?} has no {mark:?}")).1;
        rest.split_once(end).unwrap().0.into()
    };
    let name = after("/* function: double ", "(double x)\n");
    let expected = match after("\n * fault: ", " on [2, 4)\n").as_str() {
        "none" => Expected::None,
        "any" => Expected::Any,
        "crash" => Expected::Crash,
        "nondeterministic" => Expected::Nondeterministic,
        kind => Expected::Kind(kind.into()),
    };
    Fixture { name, expected, path }
}

/// All faults in one object.
pub fn compile_faults(build: &str, args: &[&str]) -> LoadPlan {
    let mut source = String::new();
    for fixture in fixtures() {
        writeln!(source, "double {}(double x);", fixture.name).unwrap();
    }
    let names: Vec<&str> = fixtures().iter().map(|f| f.name.as_str()).collect();
    source.push_str(&shims(&names));
    let files = fixtures().iter().map(|f| f.path.as_path()).collect::<Vec<_>>();
    let path = link(&format!("faults-{build}"), &source, &files, args);
    object(build, path, ControlWords::IEEE, &names)
}

/// An object with the function `f` of a source text.
pub fn compile(name: &str, source: &str, args: &[&str]) -> PathBuf {
    link(name, &format!("{source}\n{}", shims(&["f"])), &[], args)
}

pub fn plan(build: &str, path: PathBuf, control: ControlWords) -> LoadPlan {
    object(build, path, control, &["f"])
}

fn object(build: &str, path: PathBuf, control: ControlWords, names: &[&str]) -> LoadPlan {
    let functions =
        names.iter().map(|name| FunctionStatus::Ready { symbol: format!("shim_{name}") }).collect();
    let object = BuiltObject {
        path,
        control,
        runner: None,
        arithmetic: None,
        libraries: Default::default(),
        libm: String::new(),
        setup_symbol: None,
        functions,
        audit: Audit::default(),
    };
    LoadPlan { build: BuildId(build.into()), object }
}

fn shims(names: &[&str]) -> String {
    names.iter().fold(String::new(), |mut text, name| {
        writeln!(
            text,
            "void shim_{name}(const unsigned long *in, unsigned long *out) {{
                double x, y;
                __builtin_memcpy(&x, in, 8);
                y = {name}(x);
                __builtin_memcpy(out, &y, 8);
            }}"
        )
        .unwrap();
        text
    })
}

/// Compiles and links, once for each name.
fn link(name: &str, source: &str, files: &[&Path], args: &[&str]) -> PathBuf {
    static DONE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap();
    let text = format!("{source} {args:?}");
    if let Some(path) = done.get(&text) {
        return path.clone();
    }
    // Named by process: a test may start this program again.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pool-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (c, so) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    fs::write(&c, source).unwrap();
    let status = Command::new("gcc")
        .args(["-shared", "-fPIC", "-Wl,-Bsymbolic", "-fno-stack-protector"])
        .args(args)
        .arg(&c)
        .args(files)
        .arg("-o")
        .arg(&so)
        .arg("-lm")
        .status()
        .unwrap();
    assert!(status.success());
    done.insert(text, so.clone());
    so
}
