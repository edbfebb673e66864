//! Pipes get plain text, terminals bars and colours, NO_COLOR is respected.

use crate::common::Desk;

const ESCAPE: char = '\u{1b}';

/// Colours, and nothing else that begins with an escape.
fn has_colour(text: &str) -> bool {
    text.split(ESCAPE).skip(1).any(|rest| {
        let code: String = rest.chars().take_while(|c| !c.is_ascii_alphabetic()).collect();
        rest[code.len()..].starts_with('m') && code.len() > 1 && code != "[0"
    })
}

#[test]
fn a_pipe_gets_plain_ascii_within_100_columns() {
    let said = Desk::small().expect(0, &["run"]);
    assert!(!said.out.contains(ESCAPE) && !said.err.contains(ESCAPE), "{}", said.shown());
    assert!(!said.err.contains('\r') && said.out.is_ascii(), "{}", said.shown());
    assert!(said.out.lines().all(|line| line.len() <= 100), "{}", said.shown());
    said.err_has("compiled ").err_has("searching 5 functions\n").err_has("[5/5] ");
}

#[test]
fn a_terminal_gets_bars_and_colours_and_no_color_takes_the_colours_away() {
    let desk = Desk::small();
    // Long enough for a bar to be drawn.
    let args = ["run", "--budget", "300000", "--cache", "fresh"];
    let said = desk.on_a_terminal(120, &args, &[]);
    assert_eq!(said.code, 0, "{}", said.shown());
    said.out_has("compiling [")
        .out_has("searching [")
        .out_has("────")
        .out_has("stored in results/0001-small");
    assert!(has_colour(&said.out), "{}", said.shown());
    let said = desk.on_a_terminal(120, &["show"], &[]);
    assert!(has_colour(&said.out) && !said.out.contains("[="), "{}", said.shown());
    let said = desk.on_a_terminal(120, &["show"], &[("NO_COLOR", "1")]);
    assert!(!has_colour(&said.out), "{}", said.shown());
    said.out_has("planted").out_has("────");
}

#[test]
fn quiet_draws_no_bar_and_json_on_a_terminal_stays_json() {
    let desk = Desk::small();
    let said = desk.on_a_terminal(80, &["run", "--quiet", "--json"], &[]);
    assert_eq!(said.code, 0, "{}", said.shown());
    assert_eq!(said.json()["schema"], "bitrift.run/1");
}

#[test]
fn tables_fit_a_narrow_terminal() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    for columns in [80, 132] {
        for args in
            [&["show", "--all"][..], &["doctor"], &["eval", "planted", "3", "-q"], &["replay", "--all", "-q"]]
        {
            let said = desk.on_a_terminal(columns, args, &[("NO_COLOR", "1")]);
            assert_eq!(said.code, 0, "{}", said.shown());
            let plain = said.out.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
            for line in plain.lines() {
                assert!(line.chars().count() <= usize::from(columns), "{line:?} of {}", said.shown());
            }
        }
    }
}
