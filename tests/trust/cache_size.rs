//! A cache stays as small as it is to be: what was used longest ago goes first, what a command uses itself stays, and nothing
//! goes that is not the cache's own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Desk, contents, eventually};

/// A lab of its own for each name: `name(x)` is `x + number`, with two builds.
pub fn lab(desk: &Desk, name: &str, number: u32) {
    desk.write(&format!("{name}.c"), &format!("double {name}(double x) {{ return x + {number}; }}\n")).write(
        &format!("{name}.toml"),
        &format!(
            "[lab]\nname = \"{name}\"\nbaseline = \"gcc/O0\"\n[sources]\nfiles = [\"{name}.c\"]\n[[compiler]]\n\
             name = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n\
             [[function]]\nsignature = \"double {name}(double x)\"\n"
        ),
    );
}

/// Evaluates `name(1)` and says how many files were compiled for it.
#[track_caller]
pub fn compiled(desk: &Desk, name: &str, more: &[&str]) -> u64 {
    let matrix = format!("{name}.toml");
    let said = desk.expect(0, &[&["eval", name, "1", "--matrix", &matrix], more].concat());
    let words = said.err.split("compiled ").nth(1).unwrap_or_else(|| panic!("{}", said.shown()));
    words.split(' ').next().unwrap().parse().unwrap()
}

/// What `bitrift cache` says in numbers.
#[track_caller]
pub fn state(desk: &Desk) -> serde_json::Value {
    desk.expect(0, &["cache", "--json"]).json()
}

fn bytes(desk: &Desk) -> u64 {
    state(desk)["bytes"].as_u64().unwrap()
}

/// Files of the cache that are kept for later, the one used longest ago first.
fn by_use(desk: &Desk) -> Vec<PathBuf> {
    let used = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let kept = ["recipes", "objects"].iter().flat_map(|kind| contents(&desk.cache().join(kind)));
    let mut files: Vec<PathBuf> = kept.map(|(path, _)| path).collect();
    files.sort_by_key(|path| used(path));
    files
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let desk = Desk::private();
    for (number, name) in ["first", "second", "third"].into_iter().enumerate() {
        lab(&desk, name, u32::try_from(number).unwrap() + 1);
        assert!(compiled(&desk, name, &[]) > 0);
    }
    // Taken from the cache, the first one is the newest.
    assert_eq!(compiled(&desk, "first", &[]), 0);
    let whole = bytes(&desk);
    let said = desk.expect(0, &["cache", "--size", &(whole - 1).to_string()]);
    said.out_has("removed ");
    assert!(bytes(&desk) < whole);
    assert_eq!((compiled(&desk, "first", &[]), compiled(&desk, "third", &[])), (0, 0));
    assert!(compiled(&desk, "second", &[]) > 0, "it was used longest ago");
    // Nothing goes where there is room.
    let whole = bytes(&desk);
    desk.expect(0, &["cache", "--size", &whole.to_string()]).out_has("nothing was removed");
    desk.expect(0, &["cache", "--size", "unlimited"]).out_has("nothing was removed");
    assert_eq!(bytes(&desk), whole);
}

#[test]
fn a_command_keeps_what_it_uses_whatever_the_size_and_says_so_once() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    lab(&desk, "second", 2);
    compiled(&desk, "first", &[]);
    let args = ["run", "second.toml", "--budget", "2000", "--out", "out", "--cache-size", "0"];
    let said = desk.expect(0, &args);
    assert_eq!(said.err.matches("(--cache-size)").count(), 1, "{}", said.shown());
    assert_eq!(compiled(&desk, "second", &["--cache-size", "0"]), 0, "all of it is there");
    assert!(compiled(&desk, "first", &["--cache-size", "unlimited"]) > 0, "nothing else is");
    // Both have room now, and nothing is said.
    let said = desk.expect(0, &["eval", "second", "1", "--matrix", "second.toml", "--cache-size", "5M"]);
    assert!(!said.err.contains("--cache-size"), "{}", said.shown());
    assert_eq!(compiled(&desk, "first", &[]), 0);
}

#[test]
fn a_command_that_fails_leaves_the_cache_no_larger_either() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    compiled(&desk, "first", &[]);
    lab(&desk, "second", 2);
    let matrix = desk.read("second.toml").replace("\"-O0\"", "\"-no-such-option\"");
    desk.write("second.toml", &matrix);
    desk.expect(4, &["run", "second.toml", "--cache-size", "0"]).err_has("no-such-option");
    assert!(compiled(&desk, "first", &[]) > 0, "what it did not use is gone");
}

#[test]
fn every_state_that_a_killed_trim_leaves_is_a_usable_cache() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    compiled(&desk, "first", &[]);
    let ask = || desk.expect(0, &["eval", "-q", "first", "1", "--matrix", "first.toml"]).out;
    let right = ask();
    let count = by_use(&desk).len();
    assert!(count > 10, "{count}");
    for gone in (0..=count).step_by(3) {
        by_use(&desk).iter().take(gone).for_each(|path| fs::remove_file(path).unwrap());
        assert_eq!(ask(), right, "without the {gone} oldest files");
    }
    for delay in [0, 1, 2, 4, 8] {
        let mut trim = desk.command(&["cache", "--size", "0"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        let _ = trim.kill();
        trim.wait().unwrap();
        assert_eq!(ask(), right, "killed after {delay} ms");
        assert_eq!(compiled(&desk, "first", &[]), 0);
    }
}

#[test]
fn a_recipe_goes_no_later_than_its_object() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    compiled(&desk, "first", &[]);
    assert_eq!(compiled(&desk, "first", &[]), 0);
    let whole = bytes(&desk);
    for part in 1..8 {
        desk.expect(0, &["cache", "--size", &(whole - whole * part / 8).to_string()]);
        // A recipe has the hash of its object somewhere in it.
        let objects: Vec<Vec<u8>> = contents(&desk.cache().join("objects"))
            .iter()
            .map(|(_, content)| blake3::hash(content).as_bytes().to_vec())
            .collect();
        for (path, recipe) in contents(&desk.cache().join("recipes")) {
            let names = |hash: &Vec<u8>| recipe.windows(32).any(|window| window == hash.as_slice());
            assert!(objects.iter().any(names), "{} leads nowhere", path.display());
        }
    }
}

/// A folder with a file that looks like one of the cache's.
fn lookalike(folder: &Path) -> PathBuf {
    let victim = folder.join("ab").join("c".repeat(62));
    fs::create_dir_all(victim.parent().unwrap()).unwrap();
    fs::write(&victim, "precious").unwrap();
    victim
}

#[test]
fn clearing_refuses_a_folder_that_is_no_cache() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    let victim = lookalike(&desk.path("repository/objects"));
    desk.write("repository/HEAD", "ref: refs/heads/main\n").write("repository/tmp/1-note", "mine");
    for args in [&["cache", "--clear"][..], &["cache", "--size", "0"], &["cache"]] {
        let said = desk.expect(1, &[args, &["--cache", "repository"]].concat());
        said.err_has("repository is no cache of bitrift").err_has("nothing in it was changed");
    }
    // Nor does it become one, for then it could be cleared.
    let said = desk.expect(1, &["eval", "first", "1", "--matrix", "first.toml", "--cache", "repository"]);
    said.err_has("beside `objects`").err_has("`HEAD`").err_has("--cache");
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    assert_eq!((desk.read("repository/tmp/1-note"), desk.list("repository").len()), ("mine".into(), 3));
    // The mark of another program's cache is not bitrift's.
    desk.write(
        "other/CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55\n# made by something else\n",
    );
    desk.expect(1, &["cache", "--clear", "--cache", "other"]).err_has("is no cache");
    let said = desk.expect(1, &["eval", "first", "1", "--matrix", "first.toml", "--cache", "other"]);
    said.err_has("another program's");
    assert_eq!(desk.list("other"), ["CACHEDIR.TAG"]);
    desk.expect(1, &["cache", "--cache", "first.c"]).err_has("first.c").err_has("Not a directory");
}

#[test]
fn a_cache_of_an_older_version_is_taken_over() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    compiled(&desk, "first", &[]);
    fs::remove_file(desk.cache().join("CACHEDIR.TAG")).unwrap();
    desk.expect(1, &["cache", "--clear"]);
    assert_eq!(compiled(&desk, "first", &[]), 0);
    desk.expect(0, &["cache", "--clear"]).out_has("removed ");
    assert!(desk.list("cache").is_empty(), "{:?}", desk.list("cache"));
}

#[test]
fn links_in_a_cache_lead_nowhere() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    compiled(&desk, "first", &[]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let victims: Vec<PathBuf> = ["one", "two", "three"].map(|name| lookalike(&desk.path(name))).into();
    for victim in &victims {
        fs::File::options().write(true).open(victim).unwrap().set_modified(long_ago).unwrap();
    }
    // A folder of objects, an object, all libraries.
    let objects = desk.cache().join("objects");
    let free = ["fe", "ff", "00", "01"].into_iter().find(|head| !objects.join(head).exists()).unwrap();
    symlink(victims[0].parent().unwrap(), objects.join(free)).unwrap();
    let some = fs::read_dir(&objects).unwrap().flatten().find(|e| e.file_type().unwrap().is_dir()).unwrap();
    symlink(&victims[1], some.path().join("d".repeat(62))).unwrap();
    symlink(desk.path("three"), desk.cache().join("libraries")).unwrap();
    desk.write("cache/notes.txt", "mine");
    assert_eq!(state(&desk)["others"], 4);
    for args in [&["cache", "--size", "0"][..], &["cache", "--clear"]] {
        desk.expect(0, args).out_has("4 files in the folder that no cache makes: left alone");
        for victim in &victims {
            assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
        }
    }
    assert_eq!(desk.read("cache/notes.txt"), "mine");
    assert!(contents(&desk.cache().join("recipes")).is_empty());
    // What is left of it is still a cache.
    assert!(compiled(&desk, "first", &[]) > 0);
}

#[test]
fn an_object_that_is_a_link_is_made_again() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    compiled(&desk, "first", &[]);
    for (path, _) in contents(&desk.cache().join("objects")) {
        let elsewhere = desk.path(path.file_name().unwrap().to_str().unwrap());
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
    }
    // The content is the right one, but may be another one in the next moment.
    assert!(compiled(&desk, "first", &[]) > 0);
    for (path, _) in contents(&desk.cache().join("objects")) {
        assert!(!path.is_symlink(), "{}", path.display());
    }
}

#[test]
fn what_a_killed_process_left_is_cleared() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    desk.script(
        "slow",
        "case \"$*\" in *--version*) echo 1 ;; *-###*) ;; *) echo x > kept; sleep 60 ;; esac",
    );
    let matrix = desk.read("first.toml").replace("name = \"gcc\"", "name = \"gcc\"\ncommand = \"./slow\"");
    desk.write("slow.toml", &matrix);
    let mut child = desk.command(&["run", "-q", "slow.toml"]).stderr(Stdio::null()).spawn().unwrap();
    eventually("a compiler is at work", || desk.processes().iter().any(|line| line.contains("sleep 60")));
    assert_eq!(desk.list("cache/tmp").len(), 1);
    // While it lives its folder stays.
    desk.expect(0, &["cache", "--clear"]);
    assert_eq!(desk.list("cache/tmp").len(), 1);
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert!(state(&desk)["temporary"]["files"].as_u64().unwrap() > 0);
    desk.expect(0, &["cache", "--clear"]).out_has("removed ").out_has("there is no cache");
    assert!(desk.list("cache").is_empty(), "{:?}", desk.list("cache"));
    let strays = desk.processes();
    let pids = strays.iter().filter_map(|line| line.split(' ').next());
    Command::new("kill").args(pids).stderr(Stdio::null()).status().unwrap();
}
