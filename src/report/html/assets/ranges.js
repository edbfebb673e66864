// The table of ranges of one comparison: bounds, shares, bits, and on request the witness and how to see it again.
"use strict";

/** Rows made before a reader asks for all. */
const FIRST_ROWS = 40;

class Ranges {
  /** spec: {detail, comparison, zoom(index), mark(index)} */
  constructor(host, spec) {
    Object.assign(this, spec);
    this.host = host;
    // Most bits first; the number stays that of the run.
    this.order = this.comparison.ranges.map((range, index) => ({range, index}));
    this.order.sort((a, b) => b.range.max - a.range.max || a.index - b.index);
    this.rows = new Map();
    this.make();
  }

  make() {
    const {comparison, detail} = this;
    if (comparison.lone) {
      this.host.append(el("h4", {}, "One input that differs, in no range"),
        el("div", {class: "finding"}, witnessView(detail, comparison.lone), whyView(comparison.lone)));
      return;
    }
    if (this.order.length === 0) {
      this.host.append(el("p", {class: "note"}, `No difference found in ${grouped(comparison.evaluations)} evaluations (stopped: ${comparison.stop}).`));
      return;
    }
    const heads = ["", "category", ...detail.params.map(p => p.name)].map(text => el("th", {scope: "col"}, text));
    const numbers = ["inconsistent", "mean", "max bits"].map(text => el("th", {scope: "col", class: "n"}, text));
    this.body = el("tbody", {});
    this.host.append(el("div", {class: "scroll"}, el("table", {class: "plain ranges"},
      el("caption", {}, `${plural(this.order.length, "range")}, most bits first. `,
        el("span", {class: "dim"}, "≈ marks a ragged end: inconsistent and clean inputs mix around it.")),
      el("thead", {}, el("tr", {}, heads, numbers, el("th", {scope: "col"}, "confirmed"), OVERVIEW.why && el("th", {scope: "col"}, "cause"))), this.body)));
    this.add(this.order.slice(0, FIRST_ROWS));
    const rest = this.order.slice(FIRST_ROWS);
    if (rest.length > 0) {
      const more = el("button", {type: "button", class: "more", onclick: () => { more.remove(); this.add(rest); }}, `${plural(rest.length, "more range")}`);
      this.host.append(more);
      this.showAll = () => more.isConnected && more.click();
    }
    this.toggle(this.order[0].index, true);
  }

  add(items) {
    for (const item of items) this.body.append(...this.row(item));
  }

  row({range, index}) {
    const columns = this.detail.params.length + (OVERVIEW.why ? 7 : 6);
    const button = el("button", {type: "button", class: "opener", "aria-expanded": "false",
      "aria-label": `range ${index + 1}, details`, onclick: event => { event.stopPropagation(); this.toggle(index); }}, String(index + 1));
    const bounds = this.detail.params.map((param, p) => {
      const [lo, hi] = [range.lo[p], range.hi[p]].map(x => numberOf(x, param.type));
      const end = (number, which) => (range.edges[2 * p + which] === "r" ? "≈" : "") + shortOf(number);
      const text = lo.hex === hi.hex ? `= ${shortOf(lo)}` : `${end(lo, 0)} … ${end(hi, 1)}`;
      return el("td", {class: "bounds", title: `${lo.hex}\n${hi.hex}`}, text);
    });
    const confirmed = confirmedView(range.witness.confirmed);
    const main = el("tr", {class: "range", "data-range": index, onclick: () => this.toggle(index), onmouseenter: () => this.mark(index)},
      el("td", {}, button),
      el("td", {}, range.category, range.kept === "agrees" && el("span", {class: "tag", title: "with FTZ and DAZ off the builds agree"}, "gone with subnormals kept")),
      bounds,
      el("td", {class: "n", title: `${grouped(range.odd)} of ${plural(range.samples, "sample")}`}, shareOf(range.odd, range.samples)),
      el("td", {class: "n"}, range.mean.toFixed(1)),
      el("td", {class: "n"}, el("span", {class: `lv lv${Math.max(1, level(range.max))}`}, range.max > 0 ? range.max.toFixed(1) : "≠")),
      el("td", {title: confirmed.why}, confirmed.word),
      OVERVIEW.why && this.cause(range.witness.why));
    const more = el("tr", {class: "details", hidden: true}, el("td", {colspan: columns}));
    this.rows.set(index, {main, more, button, range});
    return [main, more];
  }

  /** The cell that names the cause. */
  cause(why) {
    if (!why) return el("td", {class: "dim"}, "not looked for");
    const cause = OVERVIEW.why.causes[why.cause];
    if (!cause) return el("td", {class: "dim", title: why.open[1]}, why.open[0]);
    return el("td", {class: "place", title: cause.line}, causeWord(cause), cause.certain ? "" : el("span", {class: "dim"}, " likely"));
  }

  /** Opens or closes the details of a range. */
  toggle(index, open) {
    const row = this.rows.get(index);
    if (!row) return;
    const show = open === undefined ? row.more.hidden : open;
    const cell = row.more.firstChild;
    if (show && !cell.firstChild) cell.append(this.details(row.range, index));
    row.more.hidden = !show;
    row.button.setAttribute("aria-expanded", show);
    this.mark(show ? index : -1);
  }

  /** Opens a range and brings it into view; whether there is one. */
  reveal(index, block) {
    if (!this.rows.has(index) && this.showAll) this.showAll();
    const row = this.rows.get(index);
    if (!row) return false;
    this.toggle(index, true);
    row.main.scrollIntoView({block: block || "nearest"});
    return true;
  }

  details(range, index) {
    const {detail} = this;
    const bound = (param, p, list, end) => {
      const edge = range.edges[2 * p + end] === "r" ? "ragged" : "sharp";
      return el("tr", {}, el("th", {scope: "row"}, `${param.name} ${end ? "≤" : "≥"}`), el("td", {}, both(numberOf(list[p], param.type))), el("td", {}, edge));
    };
    const bounds = detail.params.flatMap((param, p) => [bound(param, p, range.lo, 0), bound(param, p, range.hi, 1)]);
    return el("div", {class: "finding"},
      el("div", {}, el("h5", {}, "Range"), el("table", {class: "mini"}, bounds),
        el("p", {class: "dim"}, `${grouped(range.odd)} of ${plural(range.samples, "sample")} inconsistent, ${range.mean.toFixed(2)} bits on average, ${range.max.toFixed(2)} at most`),
        range.kept && el("p", {class: "dim"}, range.kept === "agrees" ? "With subnormals kept (FTZ, DAZ off) the builds agree: flushing is all there is to it." : "It differs with subnormals kept (FTZ, DAZ off) too."),
        detail.params.length > 0 && el("button", {type: "button", onclick: () => this.zoom(index)}, "zoom to it")),
      witnessView(detail, range.witness), whyView(range.witness));
  }
}

/** The worst input with both results, and how to see it again. */
function witnessView(detail, witness) {
  const inputs = witness.inputs.map((x, p) => {
    const param = detail.params[p] || {name: "", type: "double"};
    return {name: param.name, number: numberOf(x, param.type)};
  });
  const row = (name, number) => el("tr", {}, el("th", {scope: "row"}, name), el("td", {}, both(number)));
  const type = witness.worst ? witness.worst.ty : detail.result, worst = witness.worst ? `${witness.worst.name}, ` : "";
  const others = witness.worst ? witness.worst.values.filter(value => value[0] !== witness.worst.name) : [];
  const confirmed = confirmedView(witness.confirmed);
  const commands = [`bitrift eval ${[detail.word, ...inputs.map(i => i.number.hex)].join(" ")}`, ["bitrift repro", RUN, witness.id].filter(Boolean).join(" ")];
  return el("div", {}, el("h5", {}, "Worst input"),
    el("table", {class: "mini"}, inputs.map(i => row(i.name, i.number)),
      row(`${worst}baseline`, numberOf(witness.baseline, type)), row(`${worst}this build`, numberOf(witness.variant, type)),
      others.flatMap(([name, kind, a, b]) => [row(`${name}, baseline`, numberOf(a, kind)), row(`${name}, this build`, numberOf(b, kind))])),
    el("p", {}, "In a plain executable: ", el("b", {}, confirmed.word), confirmed.why && el("span", {class: "dim"}, `, ${confirmed.why}`)),
    el("h5", {}, "See it again"), commands.map(command => el("p", {class: "command"}, copyable(command, "command"))));
}

/** Whether plain executables show it, in words. */
function confirmedView(confirmed) {
  if (!confirmed) return {word: "not tried", why: ""};
  const word = {yes: "confirmed", no: "not confirmed", unknown: "could not be tried"}[confirmed[0]];
  return {word: word || confirmed[0], why: confirmed[1]};
}
