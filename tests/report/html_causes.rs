//! Why findings differ, on the page of a run in a real browser: causes, patches, safe flags, what is open.

use crate::browser::explained::{PATCH, explained};
use crate::browser::stored::{page_of, small};
use crate::browser::{DESKTOP, PHONE, Page};
use crate::common::Desk;
use serde_json::json;

const HOSTILE: &str = "</script><img src=x onerror=\"document.title='owned'\"> {{ 7 }} \u{202e}\u{1b}[31m'";
/// What a page shows of it.
const SHOWN: &str = "</script><img src=x onerror=\"document.title='owned'\"> {{ 7 }} \\u{202e}\\u{1b}[31m'";

/// The page of the small run that was explained.
fn page(desk: &Desk, name: &str) -> std::path::PathBuf {
    let (run, samples) = small();
    desk.write("run/explain.json", &explained(name).to_string());
    page_of(desk, &run, &samples)
}

#[test]
fn causes_safe_flags_and_open_findings_are_listed_and_lead_to_their_functions() {
    let desk = Desk::new();
    let file = page(&desk, "kernel");
    let mut page = Page::new(DESKTOP);
    page.open(&file, "");
    assert_eq!(page.texts("#causes .head p"), ["4 findings explained: 3 causes, 1 not explained"]);
    let headings = page.texts(".cause h3");
    assert_eq!(headings[0], "1. 2 findings of clang/O3-fast/nativecertain");
    assert_eq!(headings[1], "2. 1 finding of clang/O3-fast/nativelikely");
    let causes = page.texts(".cause");
    for words in
        ["src/deep/beta.c:14:9 in kernel", "kernel * x", "-fassociative-math -O3 or kernel", "reassoc"]
    {
        assert!(causes[0].contains(words), "{words} in {}", causes[0]);
    }
    assert!(causes[1].contains("1 of 2, each enough alone; needed together"), "{}", causes[1]);
    assert!(causes[2].contains("the environment: flushing") && causes[2].contains("it flushes"));
    assert!(causes[3].contains("give up-fassociative-math kernel") && causes[3].contains("3 more"));
    assert!(
        causes[3].contains("4.3 ns a call; 4.0 with all flags, 9.0 with the baseline's"),
        "{}",
        causes[3]
    );
    assert_eq!(page.texts(".open li"), ["gamma gcc/O2/native: unavailable, no kernel"]);

    // To the second range of its function.
    page.click("#cause-1 .spots li .spot:last-child");
    page.until("location.hash === '#f=beta&b=clang%2FO3-fast%2Fnative&r=2'");
    page.until("document.querySelectorAll('.opener[aria-expanded=true]').length === 2");
    assert_eq!(page.texts("#function-title"), ["double beta(double x)"]);
    let there = "Math.abs(document.querySelector('[data-range=\"1\"]').getBoundingClientRect().top - 8) < 2";
    page.until(there);
    // Once more, from elsewhere on the page.
    page.click("#cause-1 .spots li .spot:last-child");
    page.until(there);
    page.click(".open .spot");
    page.until("document.getElementById('function-title').textContent.includes('gamma')");
    assert_eq!(page.texts(".range td:last-child"), ["unavailable"]);
    assert!(page.texts(".why")[0].contains("unavailable, no kernel"));
    page.assert_quiet(&file);
}

#[test]
fn a_range_tells_its_cause_with_layers_and_a_patch_to_copy() {
    let desk = Desk::new();
    let file = page(&desk, "kernel");
    let mut page = Page::new(DESKTOP);
    page.open(&file, "#f=beta");
    assert_eq!(page.texts(".range td:last-child"), ["beta.c:14:9", "beta.c:14:9"]);
    let why = page.texts(".why")[0].clone();
    assert!(why.starts_with("Whycertainsrc/deep/beta.c:14:9 in kernel"), "{why}");
    assert!(why.contains("takes away 2 of 2 findings; 4.0 ns a call become 5.5"), "{why}");
    assert!(
        why.contains("A sensitive input") && why.contains("cause 1, shared with 1 other finding"),
        "{why}"
    );
    let shut = "[...document.querySelectorAll('.why details')].every(d => !d.open)";
    assert_eq!(page.eval(shut), json!(true));
    // As with the keyboard.
    page.eval("document.querySelector('.why .fold:last-of-type summary').focus()");
    page.press("Enter");
    page.until("document.querySelector('.why .fold:last-of-type').open");
    let layers = page.texts(".why .layers tr");
    assert_eq!(
        layers[0],
        "environmentnothingit stays with subnormals kept3 compiles, 2 links, 14 evaluations"
    );
    assert_eq!(layers.len(), 4);

    page.click(".why .fold summary");
    assert_eq!(page.texts(".why .patch")[0], PATCH);
    assert_eq!(page.texts(".why .patch .added"), ["+#pragma precise\n"]);
    page.eval("Object.defineProperty(navigator, 'clipboard', {value: {writeText: async text => { window.copied = text; }}})");
    page.click(".why .boxed");
    page.until("window.copied !== undefined");
    assert_eq!(page.text("window.copied"), PATCH);
    page.until("document.querySelector('.why .boxed').dataset.said === 'copied'");

    page.click(".why a[href='#cause-1']");
    page.until("document.querySelector('.cause:target') !== null");
    assert_eq!(page.texts("#function-title"), ["double beta(double x)"]);
    page.assert_quiet(&file);
}

#[test]
fn without_an_explanation_there_is_only_the_command() {
    let desk = Desk::new();
    let (run, samples) = small();
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new(DESKTOP);
    page.open(&file, "#f=beta");
    assert_eq!(page.texts("#causes, .cause, nav a[href='#causes']"), Vec::<String>::new());
    assert_eq!(page.texts(".ranges thead th:last-child"), ["confirmed"]);
    assert_eq!(page.texts(".why"), ["Whybitrift explain run 'beta#b.1'"]);
    page.assert_quiet(&file);
}

#[test]
fn hostile_words_of_an_explanation_are_shown_and_a_phone_has_room_for_them() {
    let desk = Desk::new();
    let file = page(&desk, HOSTILE);
    let mut page = Page::new(PHONE);
    for function in ["alpha", "beta", "gamma"] {
        page.open(&file, &format!("#f={function}"));
        page.eval("document.querySelectorAll('details').forEach(d => { d.open = true; })");
        let wide = page.number("document.documentElement.scrollWidth");
        assert!(wide <= 375.0, "{function}: {wide}");
        assert!(page.texts(".why")[0].contains(SHOWN), "{function}");
    }
    let causes = page.texts(".cause");
    assert!(causes.iter().filter(|text| text.contains(SHOWN)).count() == 3, "{causes:?}");
    assert_eq!(page.number("document.images.length"), 0.0);
    assert_eq!(page.text("document.title"), "small - bitrift");
    page.assert_quiet(&file);
}

#[test]
fn a_page_of_some_functions_has_their_causes_only() {
    let desk = Desk::new();
    page(&desk, "kernel");
    desk.expect(0, &["report", "run", "--html", "--out", "other.html", "--function", "alpha"]);
    let text = desk.read("other.html");
    assert!(text.contains("2 findings explained: 2 causes<") && !text.contains("beta"), "{text}");
}
