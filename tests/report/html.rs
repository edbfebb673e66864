//! The page of a run in a real browser: speed, sorting, filtering, plots, keys, hostile names, silence.

use crate::browser::stored::{
    BASELINE, comparison, few, function, number, page_of, range, run, samples, small,
};
use crate::browser::{DESKTOP, PHONE, Page};
use crate::common::Desk;
use serde_json::{Value, json};

const HOSTILE: [&str; 6] = [
    "<script>document.title='owned';alert(1)</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "\"quoted' & `ticked`",
    "{{ 7 * 7 }}{% raw %}${name}",
    "naïve_数_\u{202e}gnp.exe",
    "new\nline\u{1b}[31m",
];

#[test]
fn a_thousand_functions_on_twenty_builds_are_there_within_three_seconds() {
    let desk = Desk::new();
    let ids: Vec<String> =
        std::iter::once(BASELINE.into()).chain((1..20).map(|b| format!("gcc/O{b}/native"))).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let worst = |f: usize, b: usize| ((f * 7 + b * 13) % 1000) as f64 / 16.0;
    let functions = (0..1000).map(|f| {
        let compared = ids[1..].iter().enumerate().map(|(b, id)| {
            let (bits, name) = (worst(f, b), format!("f{f:04}#{id}"));
            let ranges = (0..if bits > 0.0 { 1 + b % 3 } else { 0 }).map(|r| {
                range(
                    &format!("{name}.{r}"),
                    1 + f % 3,
                    (2f64.powi(r as i32 * 8), 2f64.powi(r as i32 * 8 + 4)),
                    bits,
                )
            });
            comparison(id, bits, ranges.collect())
        });
        function(&format!("f{f:04}"), &["x", "y", "z"][..1 + f % 3], compared.collect())
    });
    let run = run("large", &ids, functions.collect());
    let samples: Vec<Value> = (0..1000)
        .map(|f| samples(&format!("f{f:04}"), &["x", "y", "z"][..1 + f % 3], &ids[1..], 320))
        .collect();
    let file = page_of(&desk, &run, &samples);
    println!("{} MB", std::fs::metadata(&file).unwrap().len() / 1_000_000);

    let mut page = Page::new(DESKTOP);
    let mut time = page.open(&file, "");
    println!("there after {time} ms");
    if time >= 3000.0 {
        page = Page::new(DESKTOP); // Others use the machine too.
        time = page.open(&file, "");
        println!("again: {time} ms");
    }
    assert!(time < 3000.0, "{time} ms");
    assert_eq!(page.text("document.getElementById('count').textContent"), "1,000 functions");
    let rows = page.number("document.querySelectorAll('#grid tbody tr').length");
    assert!(rows < 100.0 && fills_its_frame(&mut page), "{rows}");
    page.click("#grid th.name button");
    assert_eq!(names(&mut page)[..2], ["f0000", "f0001"]);
    // Far down, and the rows there are the right ones.
    page.eval("document.getElementById('grid').scrollTop = 500 * 26");
    page.until("document.getElementById('row500') !== null && document.getElementById('row0') === null");
    // Keys scroll too, to the last cell of the last row.
    page.eval("document.getElementById('grid').focus()");
    page.press("End");
    page.until("document.getElementById('row999') !== null");
    // Every function opens at once.
    let start = std::time::Instant::now();
    page.press("Enter");
    page.until("document.querySelector('#function .plot[data-points]') !== null");
    println!("a function after {:?}", start.elapsed());
    assert_eq!(page.texts(".chip").len(), 19);
    page.assert_quiet(&file);
}

/// Rows reach to the bottom of the matrix's frame: no part of it waits for somebody to scroll.
fn fills_its_frame(page: &mut Page) -> bool {
    let last = page
        .number("[...document.querySelectorAll('#grid tr[data-f]')].pop().getBoundingClientRect().bottom");
    last + 2.0 >= page.number("document.getElementById('grid').getBoundingClientRect().bottom")
}

#[test]
fn a_matrix_of_few_builds_shows_all_rows_and_stays_clear_of_what_is_below() {
    let desk = Desk::new();
    let (run, samples) = few();
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new(DESKTOP);
    page.open(&file, "");
    assert!(names(&mut page).len() == 18 && fills_its_frame(&mut page));
    // The matrix stays beside the function while that is read, and lets the builds below be.
    page.eval("scrollTo(0, document.body.scrollHeight)");
    let end = page.number("document.getElementById('matrix').getBoundingClientRect().bottom");
    assert!(end <= page.number("document.getElementById('builds').getBoundingClientRect().top"), "{end}");
    page.assert_quiet(&file);
}

fn names(page: &mut Page) -> Vec<String> {
    page.texts("#grid tbody th")
}

#[test]
fn rows_are_sorted_by_name_worst_and_build_and_filtered_by_text_bits_and_category() {
    let desk = Desk::new();
    let (run, samples) = small();
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new(DESKTOP);
    page.open(&file, "");
    assert_eq!(names(&mut page), ["beta", "alpha", "gamma", "delta"]);
    page.click("#grid th.name button");
    assert_eq!(names(&mut page), ["alpha", "beta", "delta", "gamma"]);
    page.click("#grid th.name button");
    assert_eq!(names(&mut page), ["gamma", "delta", "beta", "alpha"]);
    page.click("#grid th.build button");
    assert_eq!(names(&mut page), ["gamma", "alpha", "beta", "delta"]);
    assert_eq!(page.text("document.querySelector('#grid th.build').getAttribute('aria-sort')"), "descending");
    page.click("#grid th.worst button");
    assert_eq!(names(&mut page)[0], "beta");

    page.click("#filter");
    page.type_text("LPH");
    assert_eq!(names(&mut page), ["alpha"]);
    assert_eq!(page.text("document.getElementById('count').textContent"), "1 of 4 functions");
    page.press("Escape");
    assert_eq!(names(&mut page).len(), 4);
    page.click(".total[data-min='8']");
    assert_eq!(names(&mut page), ["beta", "alpha", "gamma"]);
    page.click(".total[data-min='48']");
    assert_eq!(names(&mut page), ["beta"]);
    page.click(".total[data-min='48']");
    page.eval("(s => { s.value = [...s.options].find(o => o.text === 'magnitude').value; s.dispatchEvent(new Event('input')); })(document.getElementById('category'))");
    assert_eq!(names(&mut page), ["beta"]);
    page.assert_quiet(&file);
}

/// What a plot really drew: points, inconsistent ones, boxes.
fn drawn(page: &mut Page) -> [f64; 3] {
    ["points", "odd", "boxes"]
        .map(|what| page.number(&format!("Number(document.querySelector('.plot').dataset.{what})")))
}

#[test]
fn plots_show_every_sample_and_every_range_and_zoom() {
    let desk = Desk::new();
    let (run, samples) = small();
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new(DESKTOP);
    page.open(&file, "#f=beta");
    // Of the 100 that could differ, those whose bits come out as 64 do not.
    let odd = (0..300).filter(|k: &usize| k.is_multiple_of(3) && !(k + 1).is_multiple_of(64)).count() as f64;
    assert_eq!(drawn(&mut page), [300.0, odd, 2.0]);
    // Only positive inputs are in the right half.
    page.drag(".plot .u-over", 0.55, 0.999);
    page.until("Number(document.querySelector('.plot').dataset.points) < 300");
    let [points, _, boxes] = drawn(&mut page);
    assert!((100.0..=150.0).contains(&points), "{points}");
    assert_eq!(boxes, 1.0);
    page.double_click(".plot .u-over");
    page.until("Number(document.querySelector('.plot').dataset.points) === 300");
    // The pointer names the point under it, in hex and decimal.
    page.eval("(() => { const u = PANEL.plot.uplot, p = PANEL.plot.points.find(p => p.sample === 3); const r = u.over.getBoundingClientRect(); \
               window.spot = [r.left + u.valToPos(p.x, 'x'), r.top + u.valToPos(p.y, 'y')]; })()");
    let spot = ["window.spot[0]", "window.spot[1]"].map(|e| page.number(e));
    page.mouse("mouseMoved", (spot[0], spot[1]), 0);
    page.until("!document.querySelector('.tip').hidden");
    let tip = page.text("document.querySelector('.tip').textContent");
    assert!(tip.contains("4.00 bits") && tip.contains("-0x1p+3 = -8"), "{tip}");

    page.eval("location.hash = '#f=alpha'");
    page.until("document.getElementById('function-title').textContent.includes('alpha')");
    assert_eq!(drawn(&mut page)[0], 300.0);
    assert_eq!(drawn(&mut page)[2], 1.0);
    page.click(".chip");
    assert_eq!(page.texts(".chip[aria-pressed=true]"), ["gcc/O2/native 3.0"]);
    page.eval("location.hash = '#f=gamma'");
    page.until("document.getElementById('function-title').textContent.includes('gamma')");
    assert_eq!(drawn(&mut page)[0], 300.0);
    assert_eq!(page.texts(".axes select").len(), 2);
    page.eval("(s => { s.value = '2'; s.dispatchEvent(new Event('input')); })(document.querySelector('.axes select'))");
    assert_eq!(page.texts(".plot .u-label, .axes select option:checked")[..2], ["c", "b"]);
    page.assert_quiet(&file);
}

#[test]
fn keys_do_what_the_mouse_does() {
    let desk = Desk::new();
    let (run, samples) = small();
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new((1000, 800));
    page.open(&file, "");
    page.press("/");
    assert_eq!(page.text("document.activeElement.id"), "filter");
    page.type_text("a");
    page.press("Enter");
    assert_eq!(page.text("document.activeElement.id"), "grid");
    page.press("ArrowDown");
    for _ in 0..3 {
        page.press("ArrowRight");
    }
    assert_eq!(page.texts("#grid .active"), ["40.0"]);
    page.press("Enter");
    page.until("!document.getElementById('function').hidden");
    assert_eq!(page.texts(".chip[aria-pressed=true]"), ["clang/O3-fast/native 40.0"]);
    assert_eq!(page.text("location.hash"), "#f=alpha&b=clang%2FO3-fast%2Fnative");
    page.press("Escape");
    page.until("document.getElementById('function').hidden");
    assert_eq!(page.text("document.activeElement.id"), "grid");
    page.assert_quiet(&file);
}

#[test]
fn hostile_names_are_shown_and_not_executed() {
    let desk = Desk::new();
    let builds: Vec<&str> = std::iter::once(BASELINE).chain(HOSTILE).collect();
    let functions = HOSTILE.map(|name| {
        let ranges = vec![range(&format!("{name}#x.1"), 1, (1.0, 8.0), 50.0)];
        let compared = HOSTILE.map(|build| comparison(build, 50.0, ranges.clone()));
        let mut row = function(name, &[name], compared.into());
        row["faults"] = json!([{"build": name, "kind": "timeout", "count": 3, "examples": [[number(-0.0)]]}]);
        row["missing"] = json!({name: name});
        row["camps"] =
            json!([{"ranges": [format!("{name}#x.1")], "camps": [[name], [BASELINE]], "divided_by": name}]);
        row["source"] = json!({"file": name, "line": 3});
        row["domains"] = json!([name]);
        row
    });
    let mut run = run(HOSTILE[0], &builds, functions.into());
    for build in run["builds"].as_array_mut().unwrap() {
        build["version"] = json!(HOSTILE[1]);
        build["libm"] = json!(HOSTILE[0]);
    }
    run["builds"][2]["status"] = json!("failed");
    run["builds"][2]["reason"] = json!(HOSTILE.join("\n"));
    let samples = HOSTILE.map(|name| samples(name, &[name], &builds[1..], 30));
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new(DESKTOP);
    page.open(&file, "");
    let shown = names(&mut page);
    for name in &HOSTILE[..4] {
        assert!(shown.iter().any(|s| s == name), "{name} in {shown:?}");
    }
    assert!(shown.iter().any(|s| s == "naïve_数_\\u{202e}gnp.exe"), "{shown:?}");
    assert!(shown.iter().any(|s| s == "new\\nline\\u{1b}[31m"), "{shown:?}");
    for row in 0..HOSTILE.len() {
        page.click(&format!("#row{row} td[data-b='{row}']"));
        page.until("document.querySelector('.plot[data-points=\"30\"]') !== null");
        assert_eq!(drawn(&mut page)[2], 1.0);
    }
    assert_eq!(
        page.number("document.images.length + document.querySelectorAll('script:not([type])').length"),
        1.0
    );
    assert!(page.text("document.title").starts_with("<script>"));
    // Reproducing needs the name as a shell takes it.
    page.eval("location.hash = '#f=' + encodeURIComponent(OVERVIEW.functions[2].name)");
    page.until("document.querySelector('#function-title').textContent.includes('ticked')");
    let commands = page.texts(".command .copy");
    assert_eq!(commands[0], r#"bitrift eval '"quoted'\'' & `ticked`' 0x1p+3"#);
    page.assert_quiet(&file);
}

#[test]
fn odd_numbers_keep_their_exact_text() {
    let desk = Desk::new();
    let text = |hex: &str, dec: &str| json!({"hex": hex, "dec": dec});
    let types = ["double", "float", "int64_t", "double"];
    let inputs = json!([
        text("-0x0p+0", "-0"),
        text("0x1.99999ap-4", "0.1"),
        text("-9223372036854775808", "-9223372036854775808"),
        text("nan:0x7ff8000000000001", "nan")
    ]);
    let mut found = range("odd#b.1", 1, (1.0, 2.0), 60.0);
    found["lo"] = json!([
        text("-inf", "-inf"),
        text("-0x0.000002p-126", "-1e-45"),
        text("-5", "-5"),
        text("0x1.5555555555555p-2", "0.3333333333333333")
    ]);
    found["hi"] = json!([
        text("0x0.0000000000001p-1022", "5e-324"),
        text("inf", "inf"),
        text("7", "7"),
        text("0x1.fffffffffffffp+1023", "1.7976931348623157e308")
    ]);
    found["edges"] = json!(vec![json!({"lo": "sharp", "hi": "ragged"}); 4]);
    found["witness"] = json!({"inputs": inputs, "baseline": text("nan:0xfff8000000000000", "nan"), "variant": text("SIGSEGV", "SIGSEGV")});
    found["without_flushing"] = json!("agrees");
    let mut row =
        function("odd", &["a", "b", "c", "d"], vec![comparison("gcc/O2/native", 60.0, vec![found])]);
    for (param, ty) in row["params"].as_array_mut().unwrap().iter_mut().zip(types) {
        param["type"] = json!(ty);
    }
    let mut lone = comparison("gcc/O2/native", 12.5, vec![]);
    lone["witness"] =
        json!({"inputs": [number(0.5)], "baseline": number(1.0), "variant": text("timeout", "timeout")});
    let run = run(
        "odd",
        &[BASELINE, "gcc/O2/native"],
        vec![row, function("lone", &["x"], vec![lone]), function("none", &[], vec![])],
    );
    let samples = json!({"function": "odd", "params": ["a", "b", "c", "d"], "builds": ["gcc/O2/native"], "samples": [
        [["-0x0p+0", "0x1.99999ap-4", "-9223372036854775808", "inf"], [12.5]],
        [["0x0.0000000000001p-1022", "-0x0.000002p-126", "3", "0x1p+0"], [null]],
        [["nan:0x7ff8000000000001", "0x1p+0", "0", "0x1p+0"], [0.0]]]});
    desk.write("run/confirm.json", &json!({"schema": "bitrift.confirm/1", "witnesses": {
        "odd#b.1": {"confirmed": "no", "reason": "both say 1"}, "lone#gcc/O2/native.max": {"confirmed": "yes"}}}).to_string());
    let speed = |build: &str, ns: f64| json!({"build": build, "functions": {"odd": ns}});
    desk.write(
        "run/speed.json",
        &json!({"schema": "bitrift.speed/1", "cpu": "x86",
        "builds": [speed(BASELINE, 8.0), speed("gcc/O2/native", 2.0)]})
        .to_string(),
    );
    let file = page_of(&desk, &run, &[samples]);
    let mut page = Page::new(DESKTOP);
    page.open(&file, "#f=odd");
    let copies = page.texts(".finding .copy");
    let expected = [
        "-inf",
        "0x0.0000000000001p-1022",
        "5e-324",
        "-0x0.000002p-126",
        "-1e-45",
        "inf",
        "-5",
        "7",
        "0x1.5555555555555p-2",
        "0.3333333333333333",
        "0x1.fffffffffffffp+1023",
        "1.7976931348623157e308",
        "-0x0p+0",
        "-0",
        "0x1.99999ap-4",
        "0.1",
        "-9223372036854775808",
        "nan:0x7ff8000000000001",
        "nan",
        "nan:0xfff8000000000000",
        "nan",
        "SIGSEGV",
        "bitrift eval odd -0x0p+0 0x1.99999ap-4 -9223372036854775808 nan:0x7ff8000000000001",
        "bitrift repro run 'odd#b.1'",
        "bitrift explain run 'odd#b.1'",
    ];
    assert_eq!(copies, expected);
    let said = page.text("document.querySelector('.finding').textContent");
    assert!(
        said.contains("not confirmed, both say 1") && said.contains("flushing is all there is to it"),
        "{said}"
    );
    // A NaN has no place on an axis; a sample without a value is drawn as what it is.
    assert_eq!(drawn(&mut page), [2.0, 1.0, 1.0]);
    assert_eq!(page.number("Number(document.querySelector('.plot').dataset.faults)"), 1.0);
    page.eval("location.hash = '#f=lone'");
    page.until("document.querySelector('h4') !== null");
    let said = page.text("document.querySelector('.finding').textContent");
    assert!(said.contains("timeout") && said.contains("confirmed"), "{said}");
    page.eval("location.hash = '#f=none'");
    page.until("document.getElementById('function-title').textContent.includes('none')");
    let rows = page.texts("#speed tbody tr");
    assert!(rows[0].contains("gcc/O2/native") && rows[0].contains("× 4.00"), "{rows:?}");
    page.assert_quiet(&file);
}

#[test]
fn a_phone_scrolls_tables_and_not_the_page_in_light_and_in_dark() {
    let desk = Desk::new();
    let (run, samples) = small();
    let file = page_of(&desk, &run, &samples);
    let mut page = Page::new(PHONE);
    page.open(&file, "#f=gamma");
    page.until("document.querySelector('.plot[data-points]') !== null");
    let wide = page.number("document.documentElement.scrollWidth");
    assert!(wide <= 375.0, "{wide}");
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = page.text(ground);
    page.call(
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    page.until(&format!("{ground} !== '{light}'"));
    assert_eq!(page.text("document.getElementById('theme').textContent"), "light");
    // The button wins over the system.
    page.click("#theme");
    assert_eq!(page.text(ground), light);
    page.assert_quiet(&file);
}

#[test]
fn the_page_goes_where_it_is_told() {
    let desk = Desk::new();
    let (run, samples) = small();
    page_of(&desk, &run, &samples);
    let said = desk.expect(0, &["report", "run", "--html", "--out", "other.html", "--function", "beta"]);
    assert_eq!(said.out, "other.html\n");
    let text = desk.read("other.html");
    assert!(text.contains("beta") && !text.contains("gamma"));
}
