//! A user's desk: a folder of its own in which the real program is run, and what it said.
#![allow(dead_code)] // Each test program uses a part of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub const BITRIFT: &str = env!("CARGO_BIN_EXE_bitrift");

/// The functions of the small lab: `planted` differs on [2, 8) under -O2, `corner` on a box,
/// `steps` for 10 <= n < 20, `single` on [2, 8); `same` never does.
pub const SMALL_C: &str = "
#ifdef __OPTIMIZE__
#define PLANTED(where) (where)
#else
#define PLANTED(where) 0
#endif
double same(double x) { return x * 0.5; }
double planted(double x) { return PLANTED(x >= 2 && x < 8) ? x * 3 : x; }
double corner(double x, double y) { return PLANTED(x >= 1 && x < 0x1p200 && y >= 1 && y < 0x1p200) ? 1 : 2; }
double steps(int n) { return PLANTED(n >= 10 && n < 20) ? n : n + 0.5; }
float single(float x) { return PLANTED(x >= 2 && x < 8) ? x * 3 : x; }
";

/// gcc at two levels of optimisation, without functions.
pub const SMALL_AXES: &str = "
[lab]
name = \"small\"
baseline = \"gcc/O0\"

[search]
budget = \"paper\"

[sources]
files = [\"small.c\"]

[[compiler]]
name = \"gcc\"

[[flags]]
name = \"O0\"
args = [\"-O0\"]

[[flags]]
name = \"O2\"
args = [\"-O2\"]
";

pub const SMALL_FUNCTIONS: &str = "
[[function]]
signature = \"double same(double x)\"

[[function]]
signature = \"double planted(double x)\"

[[function]]
signature = \"double corner(double x, double y)\"

[[function]]
signature = \"double steps(int n)\"
domain = { n = \"[0, 100]\" }

[[function]]
signature = \"float single(float x)\"
";

/// Fails when a compiler of the tests is not on this machine.
pub fn need_compilers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for command in ["gcc", "clang-16", "tcc"] {
            let found = Command::new(command).arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert!(found.is_ok(), "{command} is not installed: apt-get install {command}");
        }
    });
}

/// A folder to work in.
pub struct Desk {
    folder: TempDir,
    cache: PathBuf,
}

impl Desk {
    /// With the cache that all tests share, so that equal code is compiled once.
    pub fn new() -> Desk {
        Desk::with_cache(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
    }

    /// With a cache of its own, for what is said about caches and processes.
    pub fn private() -> Desk {
        let mut desk = Desk::new();
        desk.cache = desk.path("cache");
        desk
    }

    fn with_cache(cache: PathBuf) -> Desk {
        need_compilers();
        let desk = Desk { folder: TempDir::new().unwrap(), cache };
        fs::create_dir(desk.path("tmp")).unwrap();
        desk
    }

    /// The small lab.
    pub fn small() -> Desk {
        let desk = Desk::new();
        desk.write("small.c", SMALL_C).write("matrix.toml", &format!("{SMALL_AXES}{SMALL_FUNCTIONS}"));
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of compiled objects.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    pub fn write(&self, name: &str, text: &str) -> &Desk {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A program that a compiler's name can stand for.
    pub fn script(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        self.path(name).display().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Names in a folder of the desk, sorted; none when it is not there.
    pub fn list(&self, name: &str) -> Vec<String> {
        names_in(&self.path(name))
    }

    /// bitrift with its surroundings: nothing of the tester's own settings, no terminal.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BITRIFT);
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        // cargo sets the first of the last three for its tests.
        let deciding = ["LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES"];
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "XDG_CACHE_HOME"].into_iter().chain(deciding) {
            command.env_remove(name);
        }
        command
            .env("BITRIFT_CACHE", &self.cache)
            .env("TMPDIR", self.path("tmp"))
            .env("TERM", "xterm-256color");
        command
    }

    pub fn bitrift(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().unwrap(), args)
    }

    /// Runs and expects the code; both streams are shown when it is another.
    pub fn expect(&self, code: i32, args: &[&str]) -> Said {
        let said = self.bitrift(args);
        assert_eq!(said.code, code, "{}", said.shown());
        said
    }

    /// bitrift on a terminal of so many columns; what the terminal got.
    pub fn on_a_terminal(&self, columns: u16, args: &[&str], env: &[(&str, &str)]) -> Said {
        let quoted: Vec<String> = args.iter().map(|a| format!("'{}'", a.replace('\'', r"'\''"))).collect();
        let line = format!("stty cols {columns} rows 40; exec '{BITRIFT}' {}", quoted.join(" "));
        let command = self.command(args);
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(self.folder.path()).stdin(Stdio::null());
        script.envs(command.get_envs().filter_map(|(k, v)| Some((k, v?)))).envs(env.iter().copied());
        script.env("SHELL", "/bin/sh").env_remove("XDG_CACHE_HOME").env_remove("LD_LIBRARY_PATH");
        if !env.iter().any(|(name, _)| *name == "NO_COLOR") {
            script.env_remove("NO_COLOR");
        }
        let output = script.output().unwrap_or_else(|e| panic!("script: {e}; apt-get install bsdutils"));
        Said::of(output, args)
    }

    /// Processes started from this desk that are still alive: their TMPDIR is on it (of compilers,
    /// when the cache is).
    pub fn processes(&self) -> Vec<String> {
        let mark = format!("TMPDIR={}/", self.folder.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environ.windows(mark.len()).any(|w| w == mark.as_bytes()) {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                found.push(format!("{} {line}", entry.file_name().to_string_lossy()));
            }
        }
        found
    }
}

/// What a program said.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
    args: String,
}

impl Said {
    pub fn of(output: Output, args: &[&str]) -> Said {
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            args: args.join(" "),
        }
    }

    pub fn shown(&self) -> String {
        format!("bitrift {}\n-- exit {}\n{}\n-- stderr\n{}", self.args, self.code, self.out, self.err)
    }

    #[track_caller]
    pub fn out_has(&self, text: &str) -> &Said {
        assert!(self.out.contains(text), "no `{text}` in\n{}", self.shown());
        self
    }

    #[track_caller]
    pub fn err_has(&self, text: &str) -> &Said {
        assert!(self.err.contains(text), "no `{text}` in\n{}", self.shown());
        self
    }

    #[track_caller]
    pub fn out_lacks(&self, text: &str) -> &Said {
        assert!(!self.out.contains(text), "`{text}` in\n{}", self.shown());
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}\n{}", self.shown()))
    }
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Every file below a folder, with its content.
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names_in(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.push((path.clone(), fs::read(path).unwrap()));
        }
    }
    files
}

/// Waits for something to become true.
#[track_caller]
pub fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The entry of a list of `run.json` by its name or id.
#[track_caller]
pub fn entry<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|e| e[key] == name);
    found.unwrap_or_else(|| panic!("no {key} {name} in {list:#}"))
}

/// A function of a run.
#[track_caller]
pub fn function<'a>(run: &'a Value, name: &str) -> &'a Value {
    entry(&run["functions"], "name", name)
}

/// A function's comparison with a build.
#[track_caller]
pub fn comparison<'a>(run: &'a Value, name: &str, build: &str) -> &'a Value {
    entry(&function(run, name)["comparisons"], "build", build)
}
