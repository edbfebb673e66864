//! `bitrift cache`: what is kept of compiled code, and less of it.

use crate::common::{Desk, SMALL_AXES, SMALL_C, SMALL_FUNCTIONS};

fn private() -> Desk {
    let desk = Desk::private();
    desk.write("small.c", SMALL_C).write("matrix.toml", &format!("{SMALL_AXES}{SMALL_FUNCTIONS}"));
    desk
}

#[test]
fn a_cache_that_is_not_there_is_told_in_a_sentence() {
    let desk = private();
    for args in [&["cache"][..], &["cache", "--clear"], &["cache", "--size", "1G"]] {
        desk.expect(0, args)
            .out_has("there is no cache in ")
            .out_has("/cache; what is compiled next makes one");
        assert!(!desk.cache().exists(), "looking makes none");
    }
    let said = desk.expect(0, &["cache", "--json"]).json();
    assert_eq!(
        (&said["exists"], &said["bytes"], &said["oldest_use"]),
        (&false.into(), &0.into(), &().into())
    );
    std::fs::create_dir(desk.cache()).unwrap();
    desk.expect(0, &["cache", "--clear"]).out_has("there is no cache in ");
}

#[test]
fn a_cache_is_shown_with_its_size_its_kinds_and_its_last_use() {
    let desk = private();
    desk.expect(0, &["eval", "-q", "planted", "3"]);
    let said = desk.expect(0, &["cache"]);
    said.out_has("/cache holds ").out_has("its limit is 5.0 GiB").out_has("last used between 20");
    for kind in ["objects", "recipes", "libraries", "temporary"] {
        said.out_has(&format!("\n{kind} "));
    }
    said.out_lacks("left alone");
    let told = desk.expect(0, &["cache", "--json"]).json();
    assert_eq!((&told["schema"], &told["exists"]), (&"bitrift.cache/1".into(), &true.into()));
    assert_eq!((&told["limit"], &told["temporary"]["files"]), (&(5u64 << 30).into(), &0.into()));
    let size = |kind: &str| told[kind]["bytes"].as_u64().unwrap();
    assert_eq!(told["bytes"], size("objects") + size("recipes") + size("libraries"));
    assert!(size("objects") > 0 && size("recipes") > 0);
    assert!(told["oldest_use"].as_str().unwrap() <= told["newest_use"].as_str().unwrap());
    assert!(told.get("freed").is_none());
}

#[test]
fn a_cache_is_made_smaller_and_emptied() {
    let desk = private();
    desk.expect(0, &["eval", "-q", "planted", "3"]);
    let trimmed = desk.expect(0, &["cache", "--size", "40K", "--json"]).json();
    assert!(
        trimmed["freed"]["bytes"].as_u64().unwrap() > 0 && trimmed["bytes"].as_u64().unwrap() <= 40 << 10
    );
    assert_eq!(trimmed["limit"], 40 << 10);
    let said = desk.expect(0, &["cache", "--clear"]);
    said.out_has("removed ").out_has(" files, ").out_has("KiB").out_has("there is no cache in ");
    assert!(desk.list("cache").is_empty());
    // By its name, wherever the user's own is.
    desk.expect(0, &["eval", "-q", "planted", "3", "--cache", "here"]);
    desk.expect(0, &["cache", "--cache", "here"]).out_has("the cache here holds ");
    desk.expect(0, &["cache", "--cache", "here", "--clear"]).out_has("removed ");
    assert!(desk.list("here").is_empty() && !desk.exists("cache/objects"));
}

#[test]
fn a_size_that_cannot_be_read_says_what_one_is() {
    let desk = private();
    for args in [
        &["cache", "--size", "5X"][..],
        &["cache", "--size=-5"],
        &["run", "--cache-size", "much"],
        &["eval", "planted", "3", "--cache-size", "1e9"],
    ] {
        desk.expect(1, args).err_has("500M").err_has("`unlimited`");
    }
    desk.expect(1, &["cache", "--size", "1G", "--clear"]).err_has("cannot be used with");
    assert!(!desk.cache().exists() && !desk.exists("results"));
}

#[test]
fn every_command_that_takes_a_cache_takes_its_size() {
    let desk = private();
    let help = desk.expect(0, &["--help"]).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    // Further lines of a description stand further to the right.
    let first =
        |line: &'_ str| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).map(String::from);
    let commands: Vec<String> = commands.filter_map(first).collect();
    let commands: Vec<&str> = commands.iter().filter_map(|line| line.split(' ').next()).collect();
    assert!(commands.contains(&"cache") && commands.contains(&"explain"), "{commands:?}");
    let mut seen = 0;
    for command in commands.into_iter().filter(|command| !["help", "cache"].contains(command)) {
        let help = desk.expect(0, &[command, "--help"]).out;
        assert_eq!(help.contains("--cache <DIR>"), help.contains("--cache-size <SIZE>"), "{command}");
        seen += usize::from(help.contains("--cache-size"));
    }
    assert!(seen >= 9, "{seen}");
    desk.expect(0, &["cache", "--help"]).out_has("Examples:").out_has("bitrift cache --clear");
    // In `eval`, where words that begin with a hyphen are values, too.
    desk.expect(0, &["eval", "planted", "--cache-size", "1G", "-3", "-q"]).out_has("-0x1.8p+1");
}
