//! What is stored of a run belongs together: a damaged line is not believed, a file of another run is refused, one
//! process owns a folder, and what was interrupted goes on with what it had.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::common::{Desk, Said, contents, eventually};
use bitrift::store::RunFolder;
use rustix::process::{Pid, Signal, kill_process};

/// One quick function and slow ones, so that there is time between the first and the last.
pub fn slow_desk() -> Desk {
    let desk = Desk::private();
    let slow = |n: u32| {
        format!(
            "double slow_{n}(double x) {{ for (volatile int i = 0; i < 4000; i++) {{}} return PLANTED(x > {n} && x < 99) ? x : -x; }}\n"
        )
    };
    let source = format!("{}{}{}", crate::common::SMALL_C, slow(1), slow(2));
    let entry = |name: &str| format!("[[function]]\nsignature = \"double {name}(double x)\"\n");
    let functions = ["planted", "slow_1", "slow_2"].map(entry).concat();
    desk.write("small.c", &source).write("matrix.toml", &format!("{}{functions}", crate::common::SMALL_AXES));
    desk
}

/// Starts a run and waits until its first function is in a journal.
fn start(desk: &Desk, args: &[&str], journal: &str) -> Child {
    let mut command = desk.command(&[&["run", "--jobs", "2"], args].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = desk.path(journal);
    eventually("the first function is in the journal", || {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before it could be stopped");
        fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() >= 2 && text.ends_with('\n'))
    });
    child
}

fn stop(mut child: Child, signal: Signal) -> Option<i32> {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
    child.wait().unwrap().code()
}

/// What has to be the same: the result and the samples.
fn bytes(desk: &Desk, folder: &str) -> (String, String) {
    (desk.read(&format!("{folder}/run.json")), desk.read(&format!("{folder}/samples.jsonl")))
}

/// Every file of a folder but the times, by name.
fn all_but_times(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let name = |(path, bytes): (std::path::PathBuf, Vec<u8>)| {
        (path.strip_prefix(folder).unwrap().display().to_string(), bytes)
    };
    let files = contents(folder).into_iter().map(name);
    files.filter(|(name, _)| name != "timing.json").collect()
}

#[test]
fn a_journal_with_a_changed_digit_is_refused_or_searched_again_to_the_same_bytes() {
    let desk = slow_desk();
    desk.expect(0, &["run", "-q", "--no-confirm", "--out", "whole"]);
    stop(start(&desk, &["--out", "out", "--no-confirm"], "out/journal.jsonl"), Signal::KILL);
    eventually("every worker has ended", || desk.processes().is_empty());
    let journal = fs::read(desk.path("out/journal.jsonl")).unwrap();
    let digits: Vec<usize> = (0..journal.len()).filter(|&at| journal[at].is_ascii_digit()).collect();
    let flipped = |at: usize| {
        let mut text = journal.clone();
        text[at] = if text[at] == b'9' { b'0' } else { text[at] + 1 };
        text
    };
    // A look at every digit; then the program itself at some of them.
    let whole = desk.expect(1, &["show", "out"]).err;
    let functions = whole.split(" of 3 functions").next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let mut refused = 0;
    for &at in &digits {
        fs::write(desk.path("out/journal.jsonl"), flipped(at)).unwrap();
        let run = bitrift::store::read_run(&desk.path("out")).unwrap_err().to_string();
        assert!(!run.contains(&format!("{functions} of 3 functions")), "digit {at} was believed: {run}");
        refused += 1;
    }
    assert!(refused > 150, "{refused}");
    let header = journal.iter().position(|&b| b == b'\n').unwrap();
    for &at in digits.iter().step_by(digits.len() / 9) {
        fs::remove_dir_all(desk.path("out")).unwrap();
        fs::create_dir(desk.path("out")).unwrap();
        fs::write(desk.path("out/journal.jsonl"), flipped(at)).unwrap();
        let said = desk.bitrift(&["run", "--no-confirm", "--out", "out", "--resume"]);
        if at < header {
            assert_eq!(said.code, 1, "digit {at}: {}", said.shown());
            said.err_has("out/journal.jsonl");
        } else {
            assert_eq!(said.code, 0, "digit {at}: {}", said.shown());
            said.err_has("damaged and not believed");
            assert!(bytes(&desk, "out") == bytes(&desk, "whole"), "digit {at} changed the run");
        }
    }
}

#[test]
fn a_file_of_another_run_is_refused_and_one_without_a_digest_is_not() {
    let desk = Desk::small();
    let run = |out: &str, seed: &str| {
        desk.expect(0, &["run", "-q", "--out", out, "--seed", seed, "--function", "planted"]);
        desk.expect(0, &["speed", out, "-q"]);
        desk.expect(0, &["explain", out, "-q"]);
    };
    run("one", "1");
    run("two", "2");
    let refused = |file: &str, args: &[&str]| {
        let own = desk.read(&format!("two/{file}"));
        fs::copy(desk.path("one").join(file), desk.path("two").join(file)).unwrap();
        desk.expect(1, args).err_has(&format!("two/{file} belongs to another run"));
        // A version before this one wrote no digest.
        let digest = own.lines().rev().find_map(|line| line.split("\"run\":").nth(1)).unwrap();
        let digest = digest.trim().trim_matches(|c: char| !c.is_ascii_hexdigit()).to_owned();
        let old = own
            .replace(&format!(",\n  \"run\": \"{digest}\""), "")
            .replace(&format!(",\"run\":\"{digest}\""), "");
        assert!(old.len() < own.len(), "{file} has no digest");
        desk.write(&format!("two/{file}"), &old);
        desk.expect(0, args);
        desk.write(&format!("two/{file}"), &own);
        desk.expect(0, args);
    };
    refused("confirm.json", &["show", "two"]);
    refused("explain.json", &["show", "two"]);
    refused("speed.json", &["report", "two", "--html"]);
    refused("samples.jsonl", &["report", "two", "--samples"]);
    desk.expect(0, &["accept", "one"]);
    desk.expect(0, &["gate", "-q", "--out", "g1", "--function", "planted"]);
    desk.expect(
        0,
        &["gate", "-q", "--out", "g2", "--function", "planted", "--seed", "2", "--tolerance", "60"],
    );
    fs::copy(desk.path("g1/gate.json"), desk.path("g2/gate.json")).unwrap();
    desk.expect(1, &["accept", "g2"]).err_has("g2/gate.json belongs to another run");
}

#[test]
fn a_run_that_is_to_be_replaced_is_there_until_the_new_one_is_whole_and_gone_then() {
    let desk = slow_desk();
    desk.expect(0, &["run", "-q", "--out", "out"]);
    desk.expect(0, &["explain", "out", "-q", "--function", "planted"]);
    desk.expect(0, &["report", "out", "--html"]);
    desk.write("out/notes.txt", "mine").write("out/.bitrift-left.tmp", "half");
    let mut before = all_but_times(&desk.path("out"));
    before.retain(|(name, _)| !name.ends_with(".tmp"));
    let args = ["--out", "out", "--overwrite", "--seed", "2"];
    stop(start(&desk, &args, "out/.next/journal.jsonl"), Signal::KILL);
    let mut after = all_but_times(&desk.path("out"));
    after.retain(|(name, _)| !name.starts_with(".next"));
    assert!(after == before, "the old run changed");
    desk.expect(0, &["show", "out"]);
    // Interrupted, it says how to go on; and it goes on.
    desk.expect(0, &["run", "-q", "--out", "out", "--seed", "2", "--resume"]);
    desk.expect(0, &["run", "-q", "--out", "whole", "--seed", "2"]);
    let names: Vec<String> = desk.list("out");
    assert_eq!(
        names,
        ["confirm.json", "notes.txt", "origin.json", "run.json", "samples.jsonl", "timing.json"]
    );
    assert!(
        bytes(&desk, "out") == bytes(&desk, "whole"),
        "the new run differs from one in a folder of its own"
    );
    desk.expect(0, &["show", "out"]).out_lacks("cause");
}

#[test]
fn a_whole_run_that_was_cut_off_on_its_way_gets_to_its_place() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q", "--out", "old"]);
    desk.expect(0, &["run", "-q", "--out", "new", "--seed", "2", "--no-confirm"]);
    let new = all_but_times(&desk.path("new"));
    // The kill came when the new run was whole, while the old one was being removed, or before the last of its files.
    for step in 0..3 {
        let out = desk.path(&format!("out{step}"));
        let copy = |from: &Path, to: &Path| {
            fs::create_dir_all(to).unwrap();
            contents(from)
                .iter()
                .for_each(|(path, bytes)| fs::write(to.join(path.file_name().unwrap()), bytes).unwrap());
        };
        copy(&desk.path("new"), &out.join(".next"));
        copy(&desk.path("old"), &out);
        if step > 0 {
            ["origin.json", "timing.json", "samples.jsonl", "confirm.json"]
                .iter()
                .for_each(|f| fs::remove_file(out.join(f)).unwrap());
        }
        if step > 1 {
            fs::remove_file(out.join("run.json")).unwrap();
            fs::rename(out.join(".next/samples.jsonl"), out.join("samples.jsonl")).unwrap();
            desk.expect(1, &["show", "out2"]).err_has("out2 is incomplete");
        }
        let name = format!("out{step}");
        let args = ["run", "-q", "--out", &name, "--resume", "--seed", "2", "--no-confirm"];
        desk.expect(1, &args).err_has("nothing to resume");
        assert!(all_but_times(&out) == new, "step {step}: {:?}", desk.list(&name));
    }
}

#[test]
fn two_processes_never_mix_their_runs_in_one_folder() {
    race(20);
}

/// The long form, whose result is in results/stored.md.
#[test]
#[ignore = "minutes: cargo test --test trust -- --ignored two_hundred_races --nocapture"]
fn two_hundred_races_never_mix_their_runs_in_one_folder() {
    race(200);
}

fn race(rounds: usize) {
    let desk = Desk::small();
    let run = |out: &str, seed: &str, more: &[&str]| {
        let args = ["run", "-q", "--jobs", "1", "--budget", "500", "--no-confirm", "--function", "planted"];
        let mut command = desk.command(&[&args[..], &["--out", out, "--seed", seed], more].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for seed in ["1", "2"] {
        assert!(run(seed, seed, &[]).wait().unwrap().success());
    }
    let (mut refused, mut won) = (0, [0, 0]);
    for round in 0..rounds {
        let out = format!("race-{round}");
        // In every second round there is something to replace.
        let more: &[&str] = if round % 2 == 0 { &[] } else { &["--overwrite"] };
        if round % 2 == 1 {
            assert!(run(&out, "1", &[]).wait().unwrap().success());
        }
        let pair = if round % 4 < 2 { ["1", "2"] } else { ["2", "1"] };
        let children = pair.map(|seed| run(&out, seed, more));
        let ended = children.map(|child| Said::of(child.wait_with_output().unwrap(), &[&out]));
        for said in &ended {
            if said.code != 0 {
                refused += 1;
                assert_eq!(said.code, 1, "{}", said.shown());
                let known = ["another bitrift is writing", "already holds", "is incomplete"];
                assert!(known.iter().any(|words| said.err.contains(words)), "{}", said.shown());
            }
        }
        assert!(ended.iter().any(|said| said.code == 0), "{}\n{}", ended[0].shown(), ended[1].shown());
        let seed = usize::try_from(desk.json(&format!("{out}/run.json"))["seed"].as_u64().unwrap()).unwrap();
        won[seed - 1] += 1;
        assert!(bytes(&desk, &out) == bytes(&desk, &seed.to_string()), "round {round} is mixed");
        assert_eq!(desk.list(&out), ["origin.json", "run.json", "samples.jsonl", "timing.json"]);
    }
    println!("{rounds} races: seed 1 won {}, seed 2 won {}, {refused} refused, 0 mixed", won[0], won[1]);
}

#[test]
fn resume_finishes_a_missing_confirmation() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    let folder = "results/0001-small";
    let confirm = desk.read(&format!("{folder}/confirm.json"));
    fs::remove_file(desk.path(folder).join("confirm.json")).unwrap();
    desk.expect(1, &["run", "-q", "--resume", "--seed", "7"]).err_has("another experiment");
    desk.expect(0, &["run", "--resume"]).out_has("stored in results/0001-small");
    assert_eq!(desk.read(&format!("{folder}/confirm.json")), confirm);
    desk.expect(1, &["run", "--resume"]).err_has("nothing to resume");
    fs::remove_file(desk.path(folder).join("confirm.json")).unwrap();
    desk.expect(0, &["run", "-q", "--resume", "--out", folder]);
    assert_eq!(desk.read(&format!("{folder}/confirm.json")), confirm);
}

#[test]
fn a_folder_that_is_removed_under_a_run_is_noticed_and_named() {
    let desk = slow_desk();
    let child = start(&desk, &["--out", "out"], "out/journal.jsonl");
    fs::remove_dir_all(desk.path("out")).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: out/journal.jsonl was removed or replaced"), "{said}");
    assert!(!desk.exists("out"));
    assert!(desk.processes().is_empty(), "{:?}", desk.processes());
}

#[test]
fn stray_temporary_files_are_swept_and_those_in_use_are_not() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q", "--out", "out"]);
    desk.write("out/.bitrift-old.tmp", "half").write("out/.bitrift-fresh.tmp", "half");
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::options()
        .write(true)
        .open(desk.path("out/.bitrift-old.tmp"))
        .unwrap()
        .set_modified(hour_ago)
        .unwrap();
    desk.expect(0, &["confirm", "out", "-q"]);
    assert!(!desk.exists("out/.bitrift-old.tmp") && desk.exists("out/.bitrift-fresh.tmp"));
    desk.expect(0, &["run", "-q", "--out", "out", "--overwrite"]);
    assert!(!desk.exists("out/.bitrift-fresh.tmp"));
    assert!(RunFolder::open(&desk.path("out")).is_ok());
}
