//! The sandbox against the attacks of fixtures/attacks: what code under test and compilers try, what came of it as they
//! say, and as it is seen from outside. As root too, where the tests run as root.

mod compilers;
mod elsewhere;
mod links;
mod outside;
mod scene;
mod shown;
mod strangers;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::common::{Said, names_in};
use scene::{FIXTURES, Scene, Who, everyone};

/// An attack of expected.toml.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    group: String,
    name: String,
    tries: String,
    held: toml::Value,
    control: String,
    ends: Option<String>,
}

impl Attack {
    /// Whether it is to be held on this kernel.
    fn held(&self) -> bool {
        match &self.held {
            toml::Value::Boolean(held) => *held,
            text => kernel() >= version(text.as_str().unwrap().strip_prefix("kernel >= ").unwrap()),
        }
    }

    fn is_of_loading(&self) -> bool {
        self.group == "loading"
    }

    /// What it said, when that is not what was expected.
    fn surprise(&self, said: &Said, sandboxed: bool) -> Option<String> {
        let harm = if sandboxed { !self.held() } else { true };
        let wrong = |word: &String| match word.parse::<f64>() {
            Ok(_) if sandboxed && self.ends.as_deref() == Some("own") => false,
            Ok(value) if harm => value != 1.0,
            Ok(value) => value > 0.0,
            Err(_) => self.ends.as_deref() != Some("any"),
        };
        let answers = answers(said);
        let broken = !(0..=3).contains(&said.code) || said.err.contains("panicked") || answers.is_empty();
        let answered = answers.iter().any(wrong);
        (broken || answered).then(|| format!("{} ({}): {answers:?}, {}", self.name, self.tries, said.shown()))
    }
}

fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}

fn kernel() -> (u32, u32) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    version(release.splitn(3, '.').take(2).collect::<Vec<_>>().join(".").as_str())
}

/// The decimal column of `bitrift eval`, of every build.
fn answers(said: &Said) -> Vec<String> {
    let rows = said.out.lines().filter(|line| line.starts_with("gcc/"));
    let word = |line: &str| {
        let words: Vec<&str> =
            line.split_whitespace().filter(|w| !["baseline", "emulated"].contains(w)).collect();
        words.last().unwrap().to_string()
    };
    rows.map(word).collect()
}

fn attacks() -> Vec<Attack> {
    #[derive(Deserialize)]
    struct Expected {
        attack: Vec<Attack>,
    }
    let text = fs::read_to_string(Path::new(FIXTURES).join("expected.toml")).unwrap();
    toml::from_str::<Expected>(&text).unwrap().attack
}

const HEAD: &str = "[lab]\nname = \"attacks\"\n[sources]\nfiles = [\"*.c\"]\n[search]\ntimeout_ms = 8000\nmemory_mb = 512\nbudget = 10\n\
    [sandbox]\nread = [\"../shared\"]\n[[compiler]]\nname = \"gcc\"\n";
const PLAIN: &str = "[[flags]]\nname = \"O0\"\nargs = [\"-O0\", \"-w\"]\n";

/// The matrices: `plain` for most attacks, `loading` with a constructor and `setup`, `programs` for builds that run in
/// programs of their own.
fn lab(who: Who) -> Scene {
    let mut scene = Scene::new(who);
    let mut functions =
        "[[function]]\nsignature = \"double honest(double x)\"\ndomain = { x = 1 }\n".to_owned();
    for attack in attacks() {
        functions += &format!(
            "[[function]]\nsignature = \"double {}(double x)\"\ndomain = {{ x = 1 }}\n",
            attack.name
        );
    }
    scene.write("lab/plain.toml", &format!("{HEAD}{PLAIN}{functions}"));
    let loading = PLAIN.replace("\"-w\"", "\"-w\", \"-DAT_LOAD\"");
    let setup = "setup = \"extern void set_up(void); set_up();\"\n";
    scene.write("lab/loading.toml", &format!("{setup}{HEAD}{loading}{functions}"));
    let programs = "[[target]]\nname = \"native\"\n[[target]]\nname = \"aarch64\"\ntriple = \"aarch64-linux-gnu\"\n\
        compilers = { gcc = \"aarch64-linux-gnu-gcc\" }\nrunner = [\"qemu-aarch64\", \"-L\", \"/usr/aarch64-linux-gnu\"]\n\
        [[environment]]\nname = \"old\"\nglibc_tunables = \"glibc.cpu.hwcaps=-AVX2\"\n";
    scene.write("lab/programs.toml", &format!("{HEAD}{PLAIN}{programs}{functions}"));
    // Compiled and stored before anything is held against what it was.
    scene.remember();
    let said = scene
        .bitrift("plain", &["run", "--function", "honest", "--out", scene.path("out").to_str().unwrap()]);
    assert!(said.code == 0 || said.code == 3, "{}", said.shown());
    scene.remember();
    scene
}

/// Evaluates attacks, two at a time, and tells what was not as expected.
fn surprises(scene: &Scene, attacks: &[Attack], sandboxed: bool) -> Vec<String> {
    let one = |attack: &Attack| {
        let matrix = if attack.is_of_loading() { "loading" } else { "plain" };
        let flag: &[&str] = if sandboxed { &[] } else { &["--no-sandbox"] };
        attack.surprise(&scene.bitrift(matrix, &[&["eval", &attack.name, "1"], flag].concat()), sandboxed)
    };
    let (first, second) = attacks.split_at(attacks.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().filter_map(one).collect::<Vec<_>>());
        let mut all: Vec<String> = first.iter().filter_map(one).collect();
        all.extend(other.join().unwrap());
        all
    })
}

fn is_well(scene: &mut Scene, surprises: Vec<String>) {
    let said = scene.bitrift("plain", &["eval", "honest", "3"]);
    assert_eq!(answers(&said), ["1.5"], "{}", said.shown());
    let harm = scene.harm();
    assert!(harm.is_empty() && surprises.is_empty(), "{}\n{}", harm.join("\n"), surprises.join("\n"));
}

#[test]
fn every_attack_ends_as_expected_and_nothing_outside_is_touched() {
    for who in everyone() {
        let mut scene = lab(who);
        let mut all = attacks();
        // What an ordinary user attacks to become root is root's already.
        all.retain(|attack| attack.control != "user" || who != Who::Root);
        let surprises = surprises(&scene, &all, true);
        is_well(&mut scene, surprises);
    }
}

/// Shown by what they do without the sandbox, each to a scene that is made for it.
#[test]
fn the_attacks_are_real() {
    for who in everyone() {
        let mut scene = lab(who);
        let alone = if who == Who::Root { "root" } else { "user" };
        let mut real = attacks();
        real.retain(|attack| attack.control == "both" || attack.control == alone);
        // Root's own program is there for tests of root alone.
        real.retain(|attack| attack.control != "user" || scene::tested_by_root());
        let surprises = surprises(&scene, &real, false);
        assert!(surprises.is_empty(), "{who:?}\n{}", surprises.join("\n"));
        let harm = scene.harm();
        assert!(harm.len() >= 12, "{harm:#?}");
    }
}

#[test]
fn code_in_a_program_of_its_own_is_held_too() {
    let names =
        ["read_open", "write_append", "write_chmod", "tcp", "unix_path", "kill_victim", "environ_of_anyone"];
    for who in everyone() {
        let mut scene = lab(who);
        let mut few = attacks();
        few.retain(|attack| names.contains(&attack.name.as_str()));
        assert_eq!(few.len(), names.len());
        let mut surprises = Vec::new();
        for attack in few {
            let said = scene.bitrift("programs", &["eval", &attack.name, "1"]);
            assert_eq!(answers(&said).len(), 2, "{}", said.shown());
            surprises.extend(attack.surprise(&said, true));
        }
        is_well(&mut scene, surprises);
    }
}

#[test]
fn a_run_of_attacks_is_stored_whole_and_holds_no_secret() {
    let names = [
        "honest",
        "read_open",
        "write_run_folder",
        "write_cache",
        "reply_frames",
        "slab_noise",
        "daemon_stays",
    ];
    for who in everyone() {
        let mut scene = lab(who);
        let out = scene.path("out");
        let chosen: Vec<&str> = names.iter().flat_map(|name| ["--function", name]).collect();
        let fixed = ["run", "--overwrite", "--out", out.to_str().unwrap()];
        let said = scene.bitrift("plain", &[&fixed, &chosen[..]].concat());
        assert!(said.code == 0 || said.code == 3, "{}", said.shown());
        assert!(!said.err.contains("panicked"), "{}", said.shown());
        let run: serde_json::Value =
            serde_json::from_slice(&fs::read(out.join("run.json")).unwrap()).unwrap();
        assert_eq!(run["functions"].as_array().unwrap().len(), names.len(), "{run:#}");
        is_well(&mut scene, Vec::new());
    }
}

#[test]
fn code_reads_what_the_matrix_lets_it_read_and_nothing_else() {
    for who in everyone() {
        let mut scene = lab(who);
        let plain = fs::read_to_string(scene.path("lab/plain.toml")).unwrap();
        scene.write("lab/open.toml", &plain.replace("../shared", "../home"));
        scene.remember();
        let answer = |name: &str| answers(&scene.bitrift("open", &["eval", name, "1"]));
        assert_eq!(answer("read_open"), ["1"]);
        assert_ne!(answer("list_lab"), ["1"]);
        assert_ne!(answer("write_append"), ["1"]);
        is_well(&mut scene, Vec::new());
    }
}

#[test]
fn the_page_on_security_names_every_attack_that_is_not_held() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md")).unwrap();
    let open = attacks().into_iter().filter(|attack| attack.held != toml::Value::Boolean(true));
    let unnamed: Vec<String> =
        open.map(|attack| attack.name).filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(unnamed.is_empty(), "SECURITY.md does not name {unnamed:?}");
}

#[test]
fn the_attacks_that_are_expected_are_those_that_there_are() {
    let expected: BTreeSet<(String, String)> =
        attacks().into_iter().map(|attack| (attack.group, attack.name)).collect();
    let page = fs::read_to_string(Path::new(FIXTURES).join("README.md")).unwrap();
    let mut written = BTreeSet::new();
    for file in names_in(Path::new(FIXTURES)).iter().filter_map(|name| name.strip_suffix(".c")) {
        let text = fs::read_to_string(Path::new(FIXTURES).join(format!("{file}.c"))).unwrap();
        for line in text.lines().filter(|line| line.contains("(double x) {")) {
            let name = line.strip_prefix("double ").unwrap().split('(').next().unwrap();
            written.insert((file.to_owned(), name.to_owned()));
        }
    }
    written.remove(&("loading".to_owned(), "honest".to_owned()));
    assert_eq!(expected, written);
    assert!(expected.len() >= 45);
    for (_, name) in expected {
        assert!(page.contains(&format!("| `{name}` |")), "README.md does not name {name}");
    }
}
