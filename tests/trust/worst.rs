//! The worst input is shown wherever its bits are, and ranges of many parameters stay few enough to be read and gated.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{Desk, comparison, entry};

/// Every function differs everywhere by an ulp and, by a hash of the input, seldom by many: the worst input is one of
/// many thousand, and no search finds it again.
const SPIKES: &str = "
#include <math.h>
#include <stdint.h>
#include <string.h>
static double noise(const double *x, int n)
{
#ifdef OTHER
    uint64_t h = 1;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, 8);
        h = (h ^ bits) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    h = h * 0xbf58476d1ce4e5b9u >> 20;
    return 1 + 0x1p-52 * (double)(h & -h);
#else
    return 1;
#endif
}
double line(double x) { return 2 * noise(&x, 1); }
double flat(double x, double y)
{
    double a[2] = {x, y};
    return (1 + x * x / (1 + x * x + y * y)) * noise(a, 2);
}
double cube(double x, double y, double z)
{
    double a[3] = {x, y, z};
    return 3 * noise(a, 3);
}
double slow(double x, double y)
{
    volatile double s = 0;
    for (int i = 1; i < 20000; i++)
        s = s + 1.0 / i;
    double a[2] = {x, y};
    return s * noise(a, 2);
}
double breaks(double x, double y)
{
    double a[2] = {x, y}, n = noise(a, 2);
    return n > 1 + 0x1p-37 ? NAN : 2 * n;
}
void two(double x, double y, double *a, double *b)
{
    double v[2] = {x, y};
    *a = 5;
    *b = 7 * noise(v, 2);
}
";

const SPIKES_LAB: &str = "
[lab]
name = \"spikes\"
baseline = \"gcc/O0/native\"
[sources]
files = [\"code.c\"]
[search]
budget = 200_000
pace_us = 20
[[compiler]]
name = \"gcc\"
[[flags]]
name = \"O0\"
args = [\"-O0\"]
[[flags]]
name = \"other\"
args = [\"-O0\", \"-DOTHER\"]
[[function]]
signature = \"double line(double x)\"
[[function]]
signature = \"double flat(double x, double y)\"
[[function]]
signature = \"double cube(double x, double y, double z)\"
[[function]]
signature = \"double slow(double x, double y)\"
[[function]]
signature = \"double breaks(double x, double y)\"
[[function]]
signature = \"void two(double x, double y, double *a, double *b)\"
results = [\"*a\", \"*b\"]
";

const BUILD: &str = "gcc/other/native";

/// The most of some numbers of a list.
fn most(list: &Value, key: &str) -> f64 {
    list.as_array().unwrap().iter().map(|row| row[key].as_f64().unwrap()).fold(0.0, f64::max)
}

/// The blocks of data of a page, by function.
fn page_data(page: &str) -> BTreeMap<String, Value> {
    let blocks = page.split("<script type=\"application/json\" id=\"d").skip(1);
    let data = blocks.map(|block| {
        let text = block.split_once('>').unwrap().1.split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(text).unwrap();
        (data["name"].as_str().unwrap().to_owned(), data)
    });
    data.collect()
}

#[test]
fn the_worst_input_of_a_comparison_is_the_witness_of_a_range_in_every_output() {
    let desk = Desk::new();
    desk.write("code.c", SPIKES).write("matrix.toml", SPIKES_LAB);
    for seed in ["1", "2", "3"] {
        let out = format!("seed{seed}");
        desk.expect(0, &["run", "--seed", seed, "--out", &out]);
        let run = desk.json(&format!("{out}/run.json"));
        let table = desk.expect(0, &["show", &out, "--all"]).out;
        let markdown = desk.expect(0, &["report", &out, "--markdown"]).out;
        let junit = desk.expect(0, &["report", &out, "--junit"]).out;
        let sarif = desk.expect(0, &["report", &out, "--sarif"]).out;
        desk.expect(0, &["report", &out, "--html", "--out", "page.html"]);
        let page = page_data(&desk.read("page.html"));
        desk.expect(0, &["accept", &out, "--lock", &format!("{out}.json")]);
        let lock = desk.json(&format!("{out}.json"));
        for name in ["line", "flat", "cube", "slow", "breaks", "two"] {
            let row = comparison(&run, name, BUILD);
            let bits = row["max_bits"].as_f64().unwrap();
            let told = format!("{name}, seed {seed}: {bits}");
            assert_eq!(most(&row["ranges"], "max_bits"), bits, "{told}");
            let worst = &row["witness"]["inputs"];
            let ranges = row["ranges"].as_array().unwrap();
            let shown = ranges.iter().any(|range| range["witness"]["inputs"] == *worst);
            assert!(shown, "{told}: {row}");
            // Several ranges may have as many bits.
            let worst = ranges.iter().filter(|range| range["max_bits"] == row["max_bits"]);
            let exact: Vec<&str> =
                worst.map(|range| range["witness"]["inputs"][0]["hex"].as_str().unwrap()).collect();
            for (text, of) in
                [(&table, "table"), (&markdown, "Markdown"), (&junit, "JUnit"), (&sarif, "SARIF")]
            {
                assert!(exact.iter().any(|x| text.contains(x)), "{told}: none of {exact:?} is in the {of}");
            }
            let shown = entry(&page[name]["comparisons"], "build", BUILD);
            assert_eq!(most(&shown["ranges"], "max"), shown["max"].as_f64().unwrap(), "{told}");
            let accepted = &lock["functions"][name]["builds"][BUILD]["ranges"];
            assert_eq!(most(accepted, "max_bits"), bits, "{told}");
            let changes = row["class_changes"].as_object().unwrap().keys().any(|kind| kind != "zero-sign");
            let class = ranges.iter().any(|range| range["category"] == "class-change");
            assert_eq!(class, changes, "{told}: {row}");
        }
    }
}

/// Where the first parameter is negative, nothing differs, unless something is planted there.
const EIGHT: &str = "
#ifdef __OPTIMIZE__
#define OPTIMIZED 1
#else
#define OPTIMIZED 0
#endif
double eight(double a, double b, double c, double d, double e, double f, double g, double h)
{
    if (a < 0)
        return a;
    return a * b + c * d + e * f + g * h;
}
";

fn eight_lab() -> String {
    let flags = [
        ("O0", "\"-O0\""),
        ("fast", "\"-O2\", \"-ffast-math\""),
        ("fma", "\"-O2\", \"-mfma\", \"-ffp-contract=fast\""),
        ("fastfma", "\"-O3\", \"-mfma\", \"-ffast-math\""),
        ("assoc", "\"-O3\", \"-fassociative-math\", \"-fno-signed-zeros\", \"-fno-trapping-math\""),
    ];
    let flags = flags.map(|(name, args)| format!("[[flags]]\nname = \"{name}\"\nargs = [{args}]\n")).concat();
    let domain =
        "abcdefgh".chars().map(|p| format!("{p} = \"[-100, -0.01], [0.01, 100]\"")).collect::<Vec<_>>();
    format!(
        "[lab]\nname = \"eight\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"code.c\"]\n\
         [[compiler]]\nname = \"gcc\"\n{flags}\
         [[function]]\nsignature = \"double eight(double a, double b, double c, double d, double e, double f, double g, double h)\"\n\
         domain = {{ {} }}\n",
        domain.join(", ")
    )
}

fn value(number: &Value) -> f64 {
    number["dec"].as_str().unwrap().parse().unwrap()
}

/// Random inconsistent samples of another search, and how many of them lie in the ranges of a build.
fn covered(desk: &Desk, run: &Value, fresh: &str, build: &str) -> (usize, usize) {
    let line = desk.read(&format!("{fresh}/samples.jsonl"));
    let samples: Value = line
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .find(|s: &Value| s["function"] == "eight")
        .unwrap();
    let column = samples["builds"].as_array().unwrap().iter().position(|b| b == build).unwrap();
    let fresh = desk.json(&format!("{fresh}/run.json"));
    assert!(comparison(&fresh, "eight", build)["max_bits"].as_f64().unwrap() > 0.0);
    let ranges = comparison(run, "eight", build)["ranges"].as_array().unwrap();
    let inside = |input: &[f64], range: &Value| {
        (0..8).all(|p| (value(&range["lo"][p])..=value(&range["hi"][p])).contains(&input[p]))
    };
    let differing = samples["samples"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s[1][column].as_f64().is_some_and(|b| b > 0.0));
    let inputs: Vec<Vec<f64>> =
        differing.map(|s| s[0].as_array().unwrap().iter().map(hex).collect()).collect();
    (inputs.iter().filter(|input| ranges.iter().any(|range| inside(input, range))).count(), inputs.len())
}

/// The value of `-0x1.8p+3`.
fn hex(text: &Value) -> f64 {
    let text = text.as_str().unwrap();
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |text| (-1.0, text));
    let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{part}"), 16).unwrap() as f64;
    sign * mantissa * 2f64.powi(exponent.parse::<i32>().unwrap() - 4 * part.len() as i32)
}

#[test]
fn eight_parameters_have_few_ranges_that_hold_what_differs_and_a_new_orthant_is_red() {
    let desk = Desk::new();
    desk.write("code.c", EIGHT).write("matrix.toml", &eight_lab());
    desk.expect(0, &["run", "--out", "out"]);
    let run = desk.json("out/run.json");
    desk.expect(0, &["run", "--seed", "77", "--strategy", "random", "--out", "fresh"]);
    for build in ["gcc/fast/native", "gcc/fma/native", "gcc/fastfma/native", "gcc/assoc/native"] {
        let row = comparison(&run, "eight", build);
        let ranges = row["ranges"].as_array().unwrap();
        assert!((1..=64).contains(&ranges.len()), "{build}: {} ranges", ranges.len());
        assert_eq!(most(&row["ranges"], "max_bits"), row["max_bits"].as_f64().unwrap());
        for range in ranges {
            assert!(value(&range["lo"][0]) > 0.0, "{build} claims a clean orthant: {range}");
            assert!(range["samples"].as_u64() >= range["inconsistent"].as_u64(), "{range}");
            for p in 0..8 {
                let ends = value(&range["lo"][p])..=value(&range["hi"][p]);
                assert!(ends.contains(&value(&range["witness"]["inputs"][p])), "{range}");
            }
        }
        let (inside, all) = covered(&desk, &run, "fresh", build);
        assert!(all >= 200, "{build}: {all} fresh samples differ");
        assert!(
            inside * 100 >= all * 99,
            "{build}: {inside} of {all} fresh samples lie in {} ranges",
            ranges.len()
        );
    }
    let size = desk.read("out/run.json").len();
    assert!(size < 1_000_000, "run.json has {size} bytes");
    desk.expect(0, &["accept", "out"]);
    let lines = desk.read("bitrift.lock.json").lines().count();
    assert!(lines < 600, "the lock has {lines} lines");
    desk.expect(0, &["gate"]);
    // One of 256 orthants, by fewer bits than are accepted elsewhere.
    let negative = "bcdefgh".chars().map(|p| format!(" && {p} < 0")).collect::<String>();
    let planted =
        format!("if (OPTIMIZED && a < 0{negative})\n        return a * (1 + 1e-13);\n    if (a < 0)");
    desk.write("code.c", &EIGHT.replace("if (a < 0)", &planted));
    desk.expect(2, &["gate", "--out", "planted"]);
    let gate = desk.json("planted/gate.json");
    let findings = gate["findings"].as_array().unwrap();
    for build in ["gcc/fast/native", "gcc/fma/native", "gcc/fastfma/native", "gcc/assoc/native"] {
        assert!(
            findings.iter().any(|f| f["build"] == build && f["kind"] == "new"),
            "{build} is not among {findings:?}"
        );
    }
}
