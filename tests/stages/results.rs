//! Run folders as a user meets them: whole, interrupted, damaged and hostile.

use std::fs;
use std::path::{Path, PathBuf};

use bitrift::findings;
use bitrift::fp::Scalar;
use bitrift::model::{
    Callee, Coordinate, Domain, Function, FunctionRow, FunctionSamples, RunFile, SearchSettings,
};
use bitrift::report::Style;
use bitrift::report::table::{self, TableOptions};
use bitrift::store::{
    Fingerprint, FolderState, FunctionTiming, JournalEntry, RunFolder, StoreError, Timing, latest_incomplete,
    read_run, resolve, run_json,
};
use proptest::prelude::*;

fn hostile() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile")
}

fn good_text() -> String {
    fs::read_to_string(hostile().join("good.json")).unwrap()
}

fn good() -> RunFile {
    serde_json::from_str(&good_text()).unwrap()
}

/// A run of two functions; `mean_bits` has digits that a careless parser would change.
fn two_functions() -> RunFile {
    let mut run = good();
    let mut second = run.functions[0].clone();
    second.name = "g".into();
    second.comparisons[0].ranges[0].mean_bits = 0.1 + 0.2;
    run.functions.push(second);
    run
}

fn print(seed: u64) -> Fingerprint {
    let settings = SearchSettings { seed, ..Default::default() };
    Fingerprint::of("hostile", &settings, &[], &[])
}

fn entry(row: &FunctionRow) -> JournalEntry {
    let samples = FunctionSamples {
        function: row.name.clone(),
        params: vec!["x".into()],
        builds: vec!["gcc/O3/native".into()],
        samples: vec![(vec!["0x1.8p+0".into()], vec![Some(0.1), None])],
        worst: Vec::new(),
        held: Vec::new(),
    };
    JournalEntry { row: row.clone(), samples, timing: FunctionTiming::new(&row.name, 1.5, 2.5, 1000, 0) }
}

fn finish(folder: &RunFolder, entries: &[JournalEntry], journal: bitrift::store::Journal) {
    let mut run = two_functions();
    run.functions = entries.iter().map(|e| e.row.clone()).collect();
    let samples: Vec<_> = entries.iter().map(|e| e.samples.clone()).collect();
    let timing = Timing { jobs: 2, ..Default::default() };
    let timing = timing.total(entries.iter().map(|e| e.timing.clone()).collect());
    folder.finish(journal, &run, &samples, &timing).unwrap();
}

/// A whole run, stored without interruption.
fn stored(path: &Path) -> RunFolder {
    let folder = RunFolder::create(path, false).unwrap();
    let mut journal = folder.start_journal(&print(1), 2).unwrap();
    let entries: Vec<_> = two_functions().functions.iter().map(entry).collect();
    entries.iter().for_each(|e| journal.append(e).unwrap());
    finish(&folder, &entries, journal);
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// The message, with the temporary folder's name taken out.
fn message(error: &StoreError, root: &Path) -> String {
    error.to_string().replace(&root.display().to_string(), "ROOT")
}

#[test]
fn a_run_is_read_as_it_was_written_and_leaves_no_other_file() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("deep/run");
    stored(&path);
    assert_eq!(files(&path), ["run.json", "samples.jsonl", "timing.json"]);
    assert_eq!(read_run(&path).unwrap(), two_functions());
    let text = fs::read_to_string(path.join("run.json")).unwrap();
    assert_eq!(text, run_json(&two_functions()));
    assert!(text.ends_with("}\n") && text.contains("\n  \"schema\": \"bitrift.run/1\","));
    insta::assert_snapshot!("samples", fs::read_to_string(path.join("samples.jsonl")).unwrap());
    let timing: Timing = serde_json::from_slice(&fs::read(path.join("timing.json")).unwrap()).unwrap();
    assert_eq!((timing.evaluations, timing.functions.len()), (2000, 2));
}

#[test]
fn a_killed_run_is_resumed_to_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let (whole, killed) = (root.path().join("whole"), root.path().join("killed"));
    stored(&whole);

    let folder = RunFolder::create(&killed, false).unwrap();
    let mut journal = folder.start_journal(&print(1), 2).unwrap();
    journal.append(&entry(&two_functions().functions[0])).unwrap();
    drop(journal);
    // The kill came while the second line was being written.
    let path = killed.join("journal.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"{\"row\": {\"name\": \"g\", \xff");
    fs::write(&path, bytes).unwrap();
    fs::write(killed.join(".bitrift-abc.tmp"), "half").unwrap();
    let shown = read_run(&killed).unwrap_err();
    insta::assert_snapshot!("incomplete", message(&shown, root.path()));

    let folder = RunFolder::open(&killed).unwrap();
    let (mut journal, mut entries) = folder.resume_journal(&print(1)).unwrap();
    assert_eq!(entries, [entry(&two_functions().functions[0])]);
    entries.push(entry(&two_functions().functions[1]));
    journal.append(&entries[1]).unwrap();
    finish(&folder, &entries, journal);
    for file in ["run.json", "samples.jsonl", "timing.json"] {
        assert_eq!(fs::read(whole.join(file)).unwrap(), fs::read(killed.join(file)).unwrap(), "{file}");
    }
    assert_eq!(files(&killed), files(&whole));
}

#[test]
fn a_journal_that_does_not_fit_is_refused_in_words() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let folder = RunFolder::create(&path, false).unwrap();
    let mut journal = folder.start_journal(&print(1), 2).unwrap();
    let mut messages = Vec::new();
    let mut note =
        |case: &str, error: StoreError| messages.push(format!("{case}: {}", message(&error, root.path())));
    note("busy", folder.resume_journal(&print(1)).unwrap_err());
    journal.append(&entry(&two_functions().functions[0])).unwrap();
    drop(journal);
    note("another seed", folder.resume_journal(&print(2)).unwrap_err());
    let settings = SearchSettings { gap: 2.0, ..Default::default() };
    let other = Fingerprint::of("\u{1b}[2Jlab", &settings, &[], &[]);
    note("another lab", folder.resume_journal(&other).unwrap_err());

    let journal = path.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let header = text.lines().next().unwrap();
    for (case, content) in [
        ("no header", String::new()),
        ("header cut off", header[..50].to_string()),
        ("not a header", "{\"row\": 1}\n".into()),
        ("newer", text.replace("bitrift.journal/2", "bitrift.journal/3")),
        ("older", text.replace("bitrift.journal/2", "bitrift.journal/1")),
        ("foreign", text.replace("bitrift.journal/2", "other")),
        (
            "tampered parts",
            text.replace("\"seed\":\"1\"", "\"seed\":\"1\\u001b[31m\"")
                .replace("\"fingerprint\":\"", "\"fingerprint\":\"0"),
        ),
    ] {
        fs::write(&journal, content).unwrap();
        note(case, folder.resume_journal(&print(1)).unwrap_err());
    }
    // Damaged lines are told and searched again.
    for (content, kept) in [
        (format!("{header}\n{{\"row\": 7}}\n{text}"), 1),
        (format!("{header}\n\n{}", &text[header.len() + 2..]), 0),
    ] {
        fs::write(&journal, content).unwrap();
        let (resumed, entries) = folder.resume_journal(&print(1)).unwrap();
        assert_eq!(entries.len(), kept);
        let complaint = resumed.complaint().unwrap();
        assert!(complaint.contains("lines 2, 3 are damaged"), "{complaint}");
    }
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    note("a folder", folder.resume_journal(&print(1)).unwrap_err());
    let whole = stored(&root.path().join("whole"));
    note("complete", whole.resume_journal(&print(1)).unwrap_err());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn out_never_replaces_what_it_should_not() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let mut messages = Vec::new();
    let mut refuse = |path: &Path, overwrite: bool| {
        let error = RunFolder::create(path, overwrite).unwrap_err();
        messages.push(format!("{overwrite}: {}", message(&error, root.path())));
    };
    stored(&at("complete"));
    refuse(&at("complete"), false);
    let begun = RunFolder::create(&at("begun"), false).unwrap();
    let journal = begun.start_journal(&print(1), 2).unwrap();
    refuse(&at("begun"), false);
    refuse(&at("begun"), true);
    drop(journal);
    fs::create_dir(at("home")).unwrap();
    fs::write(at("home/thesis.tex"), "x").unwrap();
    refuse(&at("home"), true);
    fs::create_dir(at("other-tool")).unwrap();
    fs::write(at("other-tool/run.json"), "{\"schema\": \"other\"}").unwrap();
    refuse(&at("other-tool"), true);
    fs::write(at("file"), "x").unwrap();
    refuse(&at("file"), true);
    insta::assert_snapshot!(messages.join("\n"));

    fs::write(at("complete/notes.txt"), "mine").unwrap();
    // What later commands put beside the run goes with it: it is about numbers that are not there any more.
    for beside in ["confirm.json", "explain.json", "speed.json", "report.html", "gate.json"] {
        fs::write(at("complete").join(beside), "{}").unwrap();
    }
    let next = RunFolder::create(&at("complete"), true).unwrap();
    let journal = next.start_journal(&print(2), 2).unwrap();
    // The old run is there until the new one is whole.
    assert_eq!(read_run(&at("complete")).unwrap(), two_functions());
    finish(&next, &[entry(&two_functions().functions[0])], journal);
    assert_eq!(files(&at("complete")), ["notes.txt", "run.json", "samples.jsonl", "timing.json"]);
    assert_eq!(read_run(&at("complete")).unwrap().functions.len(), 1);
    RunFolder::create(&at("begun"), true).unwrap();
    assert_eq!(RunFolder::state(&at("begun")).unwrap(), FolderState::Empty);
    assert!(at("home/thesis.tex").exists() && at("other-tool/run.json").exists());
}

#[test]
fn a_failed_write_leaves_no_half_written_file() {
    let root = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&root.path().join("run"), false).unwrap();
    let journal = folder.start_journal(&print(1), 1).unwrap();
    // Nothing can be renamed over a folder that holds something.
    fs::create_dir_all(folder.path().join("samples.jsonl/x")).unwrap();
    let error = folder.finish(journal, &good(), &[], &Timing::default()).unwrap_err();
    assert!(error.to_string().starts_with("failed to write"), "{error}");
    assert_eq!(files(folder.path()), ["journal.jsonl", "samples.jsonl"]);
    assert_eq!(RunFolder::state(folder.path()).unwrap(), FolderState::Incomplete);
}

#[test]
fn the_latest_run_is_meant_when_none_is_named() {
    let root = tempfile::tempdir().unwrap();
    let results = root.path().join("results");
    let mut messages = vec![message(&resolve(&results, None).unwrap_err(), root.path())];
    messages.push(message(&latest_incomplete(&results).unwrap_err(), root.path()));
    let first = RunFolder::create_next(&results, "z").unwrap();
    drop(first.start_journal(&print(1), 3).unwrap());
    let second = RunFolder::create_next(&results, "a").unwrap();
    assert_eq!(resolve(&results, None).unwrap(), second.path());
    assert_eq!(resolve(&results, Some("1")).unwrap(), first.path());
    assert_eq!(latest_incomplete(&results).unwrap(), first.path());
    messages.push(message(&resolve(&results, Some("no\u{1b}pe")).unwrap_err(), root.path()));
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn every_hostile_run_file_is_answered_in_words() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    fs::create_dir(&path).unwrap();
    let mut cases: Vec<_> = fs::read_dir(hostile()).unwrap().map(|e| e.unwrap().path()).collect();
    cases.retain(|p| p.extension().is_some_and(|e| e == "json") && !p.ends_with("good.json"));
    cases.sort();
    let mut messages = Vec::new();
    for case in cases {
        fs::copy(&case, path.join("run.json")).unwrap();
        let error = read_run(&path).expect_err(&case.display().to_string());
        let text = message(&error, root.path());
        assert!(!text.chars().any(char::is_control), "{text:?}");
        messages.push(format!("{}: {text}", case.file_stem().unwrap().to_str().unwrap()));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn every_hostile_folder_is_answered_in_words() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for name in ["empty", "folder/run.json", "pipe", "loop", "latin", "enormous"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    fs::write(at("file"), "x").unwrap();
    std::os::unix::fs::symlink("run.json", at("loop/run.json")).unwrap();
    fs::write(at("latin/run.json"), b"{\"schema\": \"\xe9\"}").unwrap();
    fs::File::create(at("enormous/run.json")).unwrap().set_len((1 << 30) + 1).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe/run.json"), mode).unwrap();
    fs::create_dir(at("\u{1b}[2Jname")).unwrap();
    let mut messages = Vec::new();
    for name in
        ["absent", "empty", "file", "folder", "pipe", "loop", "latin", "enormous", "\u{1b}[2Jname", "file/x"]
    {
        let error = read_run(&at(name)).expect_err(name);
        messages.push(message(&error, root.path()));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn what_could_not_be_evaluated_is_listed() {
    let mut run = good();
    assert_eq!(findings::shortfalls(&run), Vec::<String>::new());
    run.builds[1].status = bitrift::model::BuildStatus::Skipped;
    run.functions[0].missing.insert("tcc/O0/native".into(), "undefined reference".into());
    run.functions[0].comparisons[0].stop_reason = bitrift::model::StopReason::Faults;
    run.functions[0].stop_reason = bitrift::model::StopReason::Faults;
    insta::assert_snapshot!(findings::shortfalls(&run).join("\n"));
}

#[test]
fn stored_witnesses_are_read_back_for_the_matrix_of_today() {
    let run = good();
    let row = &run.functions[0];
    let function = |ty: Scalar| {
        let param = |name: &str| Coordinate {
            name: name.into(),
            ty,
            domain: Domain::all(ty),
            domain_text: String::new(),
        };
        Function::of_scalars("f", vec![param("x"), param("y")], Scalar::F64, Callee::Call("x + y".into()))
    };
    let today = [function(Scalar::F64)];
    let found = findings::stored_witnesses(row, &today).unwrap();
    assert_eq!(found.len(), 1, "the comparison's witness is the range's");
    assert_eq!(found[0].inputs, [1.5f64.to_bits(), 2f64.to_bits()]);

    let mut elsewhere = row.clone();
    elsewhere.comparisons[0].witness.as_mut().unwrap().inputs[0].bits = 32f64.to_bits();
    let found = findings::stored_witnesses(&elsewhere, &today).unwrap();
    assert_eq!(found[1].id.to_string(), "f#gcc/O3/native.max");

    let errors =
        [findings::stored_witnesses(row, &[]), findings::stored_witnesses(row, &[function(Scalar::F32)])];
    let mut messages: Vec<_> = errors.into_iter().map(|e| e.unwrap_err().to_string()).collect();
    let mut broken = serde_json::to_value(row).unwrap();
    broken["comparisons"][0]["ranges"][0]["witness"]["inputs"][0]["hex"] = "0xz".into();
    messages.push(serde_json::from_value::<FunctionRow>(broken).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

/// Reads bytes as a run and, when they are one, shows it.
fn read_and_show(bytes: &[u8]) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("run.json"), bytes).unwrap();
    if let Ok(run) = read_run(root.path()) {
        table::render(&run, TableOptions { all: true, ..TableOptions::default() }, Style::PLAIN);
        findings::shortfalls(&run);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        read_and_show(&bytes);
    }

    #[test]
    fn nor_do_bytes_in_a_journal(bytes: Vec<u8>, newline: bool) {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(root.path(), false).unwrap();
        drop(folder.start_journal(&print(1), 2).unwrap());
        let path = root.path().join("journal.jsonl");
        let mut content = fs::read(&path).unwrap();
        content.extend(bytes);
        content.extend(newline.then_some(b'\n'));
        fs::write(&path, content).unwrap();
        prop_assert!(read_run(root.path()).is_err());
        let _ = folder.resume_journal(&print(1));
    }

    #[test]
    fn nor_does_a_good_run_with_a_piece_replaced(at in 0usize..4000, length in 0usize..9, piece in "[-0-9a-z\"{}\\[\\],:.\\\\ ]{0,9}") {
        let mut bytes = good_text().into_bytes();
        let at = at.min(bytes.len());
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, piece.bytes());
        read_and_show(&bytes);
    }

    #[test]
    fn every_statistic_comes_back_bit_for_bit(bits: u64) {
        let mean = f64::from_bits(bits);
        prop_assume!(mean.is_finite());
        let mut run = good();
        run.functions[0].comparisons[0].ranges[0].mean_bits = mean;
        let back: RunFile = serde_json::from_str(&run_json(&run)).unwrap();
        prop_assert_eq!(back.functions[0].comparisons[0].ranges[0].mean_bits.to_bits(), bits);
    }
}
