// Why findings differ: the causes with their patches, the safe sets of flags, what is open; and the same at one finding.
"use strict";

/** Names shown of a list before the rest is folded away. */
const FIRST_NAMES = 12;

/** Where a suspect is: a statement, a function, a file or a part of the environment. */
function placeOf(suspect) {
  if (suspect.environment) return suspect.environment;
  return suspect.line ? `${suspect.file}:${suspect.line}:${suspect.column}` : suspect.file || "";
}

/** The same in a narrow column. */
function shortPlace(suspect) {
  const name = placeOf(suspect).split("/").pop();
  return suspect.line || !suspect.function ? name : suspect.function;
}

/** The first suspect of a cause, and how many more there are. */
function causeWord(cause) {
  const all = cause.sets.flat();
  if (all.length === 0) return "";
  return shortPlace(all[0]) + (all.length > 1 ? ` +${all.length - 1}` : "");
}

function suspectView(suspect) {
  if (suspect.environment === "implementation") return el("div", {class: "suspect"}, "the ", el("b", {}, "implementation"));
  if (suspect.environment) return el("div", {class: "suspect"}, "the environment: ", el("b", {}, suspect.environment));
  return el("div", {class: "suspect"}, suspect.function && !suspect.line ? [el("b", {}, suspect.function), " in "] : null, copyable(placeOf(suspect), "place"),
    suspect.line && suspect.function ? el("span", {class: "dim"}, ` in ${suspect.function}`) : null,
    suspect.text && el("code", {class: "expression"}, suspect.text));
}

/** What is guilty: sets that are each enough, and in each what is needed together. */
function suspectsView(cause) {
  return cause.sets.map((set, index) => {
    const words = [cause.sets.length > 1 && `${index + 1} of ${cause.sets.length}, each enough alone`, set.length > 1 && "needed together"];
    return el("div", {class: "suspects"}, words.some(Boolean) && el("p", {class: "dim"}, words.filter(Boolean).join("; ")), set.map(suspectView));
  });
}

const certainty = cause => cause.certain
  ? el("span", {class: "tag sure", title: "checked in both directions: it alone shows the difference, and without it the difference is gone"}, "certain")
  : el("span", {class: "tag", title: "it shows the difference, but is not all there is to it"}, "likely");

/** Rows of a name and what belongs to it; those with nothing are left out. */
function labelled(rows) {
  const filled = rows.filter(([, content]) => content && content.length !== 0);
  return filled.length > 0 && el("dl", {class: "labelled"}, filled.map(([name, content]) => el("div", {}, el("dt", {}, name), el("dd", {}, content))));
}

/** Words that are broken between them and not inside. */
const words = texts => texts.map((text, index) => [index > 0 ? " " : "", el("code", {class: "word"}, text)]);
/** Flags or passes: each text is enough alone. */
const alternatives = texts => texts.map((text, index) => [index > 0 ? " or " : "", words(text.split(" "))]);

/** A unified diff, folded away, and a button that copies it as it is. */
function patchView(fix) {
  const text = el("pre", {class: "patch", tabindex: 0, "aria-label": "patch"});
  for (const line of fix.patch.replace(/\n$/, "").split("\n")) {
    const kind = /^(---|\+\+\+|@@)/.test(line) ? "where" : line[0] === "+" ? "added" : line[0] === "-" ? "removed" : null;
    const row = el("span", {class: kind});
    row.textContent = line.split("\t").map(shown).join("\t") + "\n";
    text.append(row);
  }
  return el("details", {class: "fold"}, el("summary", {}, "patch"), el("p", {}, copyable(fix.patch, "patch", "copy patch"), el("span", {class: "dim"}, " for patch -p1 in the matrix's folder")), text);
}

/** What is known of a cause wherever it is shown. */
function causeFacts(cause) {
  return [suspectsView(cause), labelled([["flags", alternatives(cause.flags)], ["pass", alternatives(cause.pass)], ["because", cause.because],
    ["fix", cause.fix && cause.fix.words]]), cause.fix && patchView(cause.fix)];
}

/** A finding to go to. */
function spotView(spot, text) {
  const {name} = OVERVIEW.functions[spot.f];
  const what = spot.range ? `range ${spot.range}` : "one input";
  // An address that is there already is no change of address.
  const again = event => event.currentTarget.hash === location.hash && followAddress();
  return el("a", {class: "spot", href: addressOf(name, spot.build, spot.range), onclick: again, title: `${name}, ${what}: ${spot.bits} bits`}, text || what);
}

/** The findings of a cause, by function. */
function spotsView(spots) {
  const functions = new Map();
  for (const spot of spots) functions.set(spot.f, [...functions.get(spot.f) || [], spot]);
  return el("ul", {class: "spots"}, [...functions].map(([f, list]) => {
    const most = Math.max(...list.map(s => s.bits));
    const numbers = list.length > 1 && list.flatMap(spot => [" ", spotView(spot, spot.range ? String(spot.range) : "one input")]);
    return el("li", {}, spotView(list.reduce((a, b) => b.bits > a.bits ? b : a), OVERVIEW.functions[f].name), " ",
      el("span", {class: `lv lv${Math.max(1, level(most))}`}, most > 0 ? most.toFixed(1) : "≠"),
      numbers && el("span", {class: "dim"}, " ranges"), numbers);
  }));
}

function causeView(cause, index) {
  return el("article", {class: "cause", id: `cause-${index + 1}`, "aria-label": `cause ${index + 1}`},
    el("h3", {}, `${index + 1}. ${plural(cause.findings.length, "finding")} of `, el("code", {}, cause.build), certainty(cause)),
    causeFacts(cause),
    cause.fragile > 0 && el("p", {class: "dim"}, `Sensitive inputs: at ${cause.fragile} of them one ulp moves the baseline as far as the builds are apart.`),
    spotsView(cause.findings));
}

/** Names, the rest of a long list folded away. */
function namesView(names) {
  if (names.length === 0) return "nothing";
  if (names.length <= FIRST_NAMES) return words(names);
  return [words(names.slice(0, FIRST_NAMES)), el("details", {class: "fold"}, el("summary", {}, `${names.length - FIRST_NAMES} more`), words(names.slice(FIRST_NAMES)))];
}

function safeView(safe) {
  const speed = safe.ns && (([baseline, own, all]) => `${own.toFixed(1)} ns a call; ${all.toFixed(1)} with all flags, ${baseline.toFixed(1)} with the baseline's`)(safe.ns);
  return el("article", {class: "cause safe", "aria-label": `safe flags of ${safe.build}`}, el("h3", {}, el("code", {}, safe.build)),
    labelled([["give up", namesView(safe.given)], ["keep", namesView(safe.kept)], ["arguments", safe.args && [copyable(safe.args, "arguments")]],
      ["holds for", `${safe.within} of ${plural(safe.of, "explained finding")}, with at most ${plural(safe.limit, "bit")}`], ["speed", speed],
      ["took", safe.cost]]));
}

/** The overview, below the functions. */
function startCauses(host) {
  if (!host) return;
  const {causes, open, safe} = OVERVIEW.why;
  const part = (title, about, views) => views.length > 0 && [el("h3", {class: "part-title"}, title, el("span", {class: "dim"}, ` ${about}`)), views];
  const openView = row => el("li", {}, spotView(row.at, OVERVIEW.functions[row.at.f].name), el("span", {class: "dim"}, ` ${row.at.build}: `), el("b", {}, row.word), row.reason && `, ${row.reason}`);
  host.append(...[el("div", {class: "causes"}, causes.map(causeView)),
    part("Safe flags", "the most of a build's flags that keep every input found within the limit", safe.length ? [el("div", {class: "causes"}, safe.map(safeView))] : []),
    part("Not explained", "", open.length ? [el("ul", {class: "open"}, open.map(openView))] : [])].flat(2).filter(Boolean));
}

/** Why one finding differs, or how to find out. */
function whyView(witness) {
  const {why} = witness;
  const cause = why && OVERVIEW.why.causes[why.cause];
  if (!why) return el("div", {class: "why"}, el("h5", {}, "Why"), el("p", {class: "command"}, copyable(["bitrift explain", RUN, witness.id].filter(Boolean).join(" "), "command")));
  const layers = why.layers.length > 0 && el("details", {class: "fold"}, el("summary", {}, "how it was found"), el("table", {class: "mini layers"},
    why.layers.map(l => el("tr", {}, el("th", {scope: "row"}, l.layer), el("td", {}, el("b", {}, l.standing)), el("td", {}, l.text, el("div", {class: "dim"}, l.cost))))));
  const others = cause && cause.findings.length - 1;
  return el("div", {class: "why"}, el("h5", {}, "Why", cause && certainty(cause)),
    cause ? causeFacts(cause) : el("p", {}, el("b", {}, why.open[0]), why.open[1] && `, ${why.open[1]}`),
    why.fragile && el("p", {class: "dim"}, "A sensitive input: one ulp of it moves the baseline as far as the builds are apart."),
    layers,
    cause && el("p", {class: "dim"}, el("a", {href: `#cause-${why.cause + 1}`}, `cause ${why.cause + 1}`), others > 0 ? `, shared with ${plural(others, "other finding")}` : ", of this finding only"));
}
