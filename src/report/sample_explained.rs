//! What was found out about the hand-made run: two causes in sources, one in the environment, what is open.

use std::collections::BTreeMap;

use super::sample::HOSTILE;
use crate::model::{
    CauseRow, Cost, ExplainFile, ExplainRow, Explained, FindingId, FixRow, Fragility, Layer, LayerRow,
    SafeRow, Standing, Suspect,
};

const BASELINE: &str = "gcc/O0/native";
const FAST: &str = "gcc/O3-fast/native";

fn statement(file: &str, place: (u64, u64), function: &str, text: &str) -> Suspect {
    Suspect {
        file: file.into(),
        function: function.into(),
        line: place.0,
        column: place.1,
        text: text.into(),
        ..Suspect::default()
    }
}

fn flag(name: &str) -> Suspect {
    Suspect { flag: name.into(), ..Suspect::default() }
}

fn layer(standing: Standing, causes: Vec<Vec<Suspect>>, text: &str, cost: [u64; 3]) -> LayerRow {
    let [compiles, links, evaluations] = cost;
    LayerRow { standing, causes, text: text.into(), cost: Cost { compiles, links, evaluations } }
}

fn row(layers: Vec<(Layer, LayerRow)>, fragile: bool) -> ExplainRow {
    let fragility =
        Fragility { neighbour_bits: if fragile { 63.0 } else { 0.5 }, bits: 62.5, ill_conditioned: fragile };
    ExplainRow {
        explained: Explained::Yes,
        inputs: "00112233".into(),
        asked: Layer::ALL.into(),
        fragility: Some(fragility),
        layers: layers.into_iter().collect(),
        ..ExplainRow::default()
    }
}

/// Two sets, each of them enough, the first of two statements.
fn two_sets() -> Vec<Vec<Suspect>> {
    let airy = |place, text: &str| statement("src/airy.c", place, "airy_ai", text);
    let hostile = statement(&format!("src/{HOSTILE}|`a`.c"), (7, 1), HOSTILE, "x | *y < `z`\n\u{202e}");
    vec![vec![airy((14, 9), "sum + c * x"), airy((15, 16), "sum / (1.0 + x)")], vec![hostile]]
}

fn of_airy() -> ExplainRow {
    let file = Suspect { file: "src/airy.c".into(), ..Suspect::default() };
    let flags = vec![vec![flag("-fassociative-math"), flag("-O3")], vec![flag(&format!("-D{HOSTILE}|`x`"))]];
    let pass = Suspect { pass: "reassoc on airy_ai".into(), ..Suspect::default() };
    let nothing = "it stays with subnormals kept; plain executables differ too";
    row(
        vec![
            (Layer::Environment, layer(Standing::Nothing, vec![], nothing, [0, 0, 7])),
            (Layer::File, layer(Standing::Found, vec![vec![file]], "src/airy.c", [0, 5, 4])),
            (
                Layer::Flags,
                layer(Standing::Found, flags, "-fassociative-math and -O3 together", [17, 10, 10]),
            ),
            (Layer::Statement, layer(Standing::Likely, two_sets(), "two sets; see\u{1b}[2J", [12, 9, 9])),
            (Layer::Pass, layer(Standing::Found, vec![vec![pass]], "reassoc on airy_ai", [40, 8, 8])),
        ],
        true,
    )
}

fn of_root() -> ExplainRow {
    let environment = vec![vec![Suspect { environment: "flushing".into(), ..Suspect::default() }]];
    let words = "gcc/O3-fast/native flushes subnormals to zero; with subnormals kept the builds agree";
    row(vec![(Layer::Environment, layer(Standing::Found, environment, words, [0, 0, 9]))], false)
}

fn causes() -> Vec<CauseRow> {
    let cause = |causes: Vec<Vec<Suspect>>, text: &str, findings: &[&str]| CauseRow {
        baseline: BASELINE.into(),
        build: FAST.into(),
        causes,
        text: text.into(),
        certain: true,
        findings: findings.iter().map(|id| id.parse().unwrap()).collect(),
        fix: None,
    };
    let fix = FixRow {
        patch:
            "--- a/src/airy.c\n+++ b/src/airy.c\n@@ -13,3 +13,4 @@\n double airy_ai(double x) {\n+#pragma \
                STDC FP_CONTRACT OFF\n \tsum = sum + c * x; /* </script>\u{202e} */\n"
                .into(),
        what: "makes airy_ai <b>precise</b> | `all` of it".into(),
        cured: 1,
        of: 2,
        ns: Some((4.0, 5.25)),
    };
    let airy = ["airy_ai#gcc/O3-fast/native.1", "airy_ai#gcc/O3-fast/native.2"];
    let text = format!("src/airy.c:14:9 in airy_ai: sum + c * x | src/{HOSTILE}.c  [-fassociative-math]");
    vec![
        CauseRow { certain: false, fix: Some(fix), ..cause(two_sets(), &text, &airy) },
        cause(
            of_root().layers[&Layer::Environment].causes.clone(),
            "flushing",
            &["quadratic_root#gcc/O3-fast/native.1"],
        ),
    ]
}

fn safe() -> SafeRow {
    let list = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
    SafeRow {
        build: FAST.into(),
        baseline: BASELINE.into(),
        limit: 8.0,
        args: list(&["-O3", "-fno-math-errno", "-DNAME=a b"]),
        kept: list(&["-O3", "-fno-math-errno"]),
        given_up: list(&["-fassociative-math", "-ffast-math: flushing"]),
        within: 3,
        of: 4,
        ns: Some([9.0, 4.25, 4.0]),
        cost: Cost { compiles: 30, links: 20, evaluations: 80 },
    }
}

pub(super) fn explain() -> ExplainFile {
    let open = ExplainRow {
        explained: Explained::Unavailable,
        reason: format!("no such build: {HOSTILE}"),
        ..ExplainRow::default()
    };
    let findings: BTreeMap<FindingId, ExplainRow> = [
        ("airy_ai#gcc/O3-fast/native.1".parse().unwrap(), of_airy()),
        ("airy_ai#gcc/O3-fast/native.2".parse().unwrap(), of_airy()),
        ("quadratic_root#gcc/O3-fast/native.1".parse().unwrap(), of_root()),
        (FindingId::of_range(HOSTILE, &HOSTILE.into(), 0), open),
    ]
    .into();
    ExplainFile { findings, causes: causes(), safe: vec![safe()], ..ExplainFile::default() }
}
