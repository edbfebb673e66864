// Everything about one function: plot, ranges, camps, faults, builds that lack it.
"use strict";

class Panel {
  constructor(host) {
    this.host = host;
    this.plot = null;
  }

  isOpen() {
    return !this.host.hidden;
  }

  redraw() {
    if (this.plot) this.plot.redraw();
  }

  close() {
    this.drop();
    MATRIX.setOpen(-1);
    this.host.hidden = true;
    this.host.replaceChildren();
    history.replaceState(null, "", location.pathname + location.search);
  }

  drop() {
    if (this.plot) this.plot.destroy();
    this.plot = null;
  }

  /** Shows a function and goes to it, or to one of its ranges. */
  open(index, build, range) {
    this.show(index, build);
    this.host.focus({preventScroll: true});
    if (range && this.ranges && this.ranges.reveal(range - 1, "start")) return;
    const {top} = this.host.getBoundingClientRect();
    if (top >= 0 && top < innerHeight / 3) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches || !document.documentElement.dataset.ready;
    this.host.scrollIntoView({block: "start", behavior: calm ? "instant" : "smooth"});
  }

  /** Fills the panel, with the build asked for or the worst. */
  show(index, build) {
    this.drop();
    MATRIX.setOpen(index);
    this.detail = detailOf(index);
    this.samples = new Samples(this.detail);
    const {comparisons} = this.detail;
    const worst = comparisons.reduce((a, b) => !a || scoreOf(b) > scoreOf(a) ? b : a, null);
    this.chosen = comparisons.find(c => c.build === build) || worst;
    this.axes = [0, 1];
    this.host.hidden = false;
    this.plotHost = el("div", {class: "plot"});
    this.rangesHost = el("div", {class: "ranges-host"});
    this.host.replaceChildren(...[this.head(), this.chips(), this.chosen && this.about(), this.plotHost, this.hint(), this.rangesHost, ...this.sections()].filter(Boolean));
    this.ranges = null;
    if (this.chosen) this.choose(this.chosen);
  }

  head() {
    const {detail} = this;
    const params = detail.params.map(p => `${p.type} ${p.name}`).join(", ") || "void";
    const facts = [...detail.params.filter(p => p.domain).map(p => [p.name, p.domain]), ["evaluations", grouped(detail.evaluations)],
      ["stopped", detail.stop], ...(detail.remarks || []).map(remark => ["note", remark]), detail.status !== "searched" && ["status", detail.status], detail.source && ["source", detail.source]];
    return el("div", {class: "head function"},
      el("h2", {id: "function-title"}, el("span", {class: "dim"}, `${detail.result} `), detail.name, el("span", {class: "dim"}, `(${params})`)),
      el("button", {type: "button", class: "close", "aria-label": "close this function", onclick: () => { this.close(); MATRIX.focus(); }}, "close"),
      el("dl", {class: "facts"}, facts.filter(Boolean).map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))));
  }

  /** One button per build. */
  chips() {
    const {comparisons} = this.detail;
    if (comparisons.length === 0) return el("p", {class: "note"}, "No build could be compared with the baseline.");
    this.buttons = comparisons.map(c => el("button", {type: "button", class: "chip", onclick: () => this.select(c)}, c.build, " ",
      OVERVIEW.emulated.includes(c.build) ? [el("span", {class: "tag"}, "emulated"), " "] : null,
      el("span", {class: `lv lv${c.ranges.length || c.lone ? Math.max(1, level(c.max)) : 0}`}, c.max > 0 ? c.max.toFixed(1) : c.ranges.length ? "≠" : c.gap ? "?" : "0")));
    return el("div", {class: "chips", role: "group", "aria-label": `build compared with ${OVERVIEW.baseline}`},
      el("span", {class: "dim"}, `${OVERVIEW.baseline} against`), this.buttons);
  }

  about() {
    this.aboutHost = el("div", {class: "about"});
    return this.aboutHost;
  }

  hint() {
    if (this.detail.params.length === 0) return null;
    const all = el("button", {type: "button", class: "link", onclick: () => this.plot && this.plot.zoom(this.plot.full)}, "show all");
    return el("p", {class: "dim hint"}, "drag to zoom, double click or ", all, " to go back; boxes are ranges, dashed sides ragged, rings worst inputs");
  }

  select(comparison) {
    history.replaceState(null, "", addressOf(this.detail.name, comparison.build));
    this.choose(comparison);
  }

  choose(comparison) {
    this.chosen = comparison;
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", this.detail.comparisons[i] === comparison));
    this.drawAbout();
    this.drawPlot();
    this.rangesHost.replaceChildren();
    this.ranges = new Ranges(this.rangesHost, {detail: this.detail, comparison,
      mark: index => this.plot && this.plot.mark(index),
      zoom: index => {
        if (!this.plot) return;
        this.plot.zoomTo(index);
        this.plotHost.scrollIntoView({block: "nearest"});
      }});
  }

  drawAbout() {
    const {chosen, detail, samples} = this;
    const changes = Object.entries(chosen.changes).map(([kind, count]) => `${kind} ${grouped(count)}`).join(", ");
    const pick = axis => {
      const select = el("select", {"aria-label": axis ? "vertical parameter" : "horizontal parameter"},
        detail.params.map((p, i) => el("option", {value: i, selected: i === this.axes[axis]}, p.name)));
      select.addEventListener("input", () => {
        const old = this.axes[axis];
        this.axes[axis] = Number(select.value);
        // Two different ones: the other takes the place of this.
        if (this.axes[1 - axis] === this.axes[axis]) this.axes[1 - axis] = old;
        this.drawAbout();
        this.drawPlot();
      });
      return select;
    };
    const drawn = samples.count < samples.stored ? `${grouped(samples.count)} of ${plural(samples.stored, "stored sample")}` : plural(samples.count, "stored sample");
    this.aboutHost.replaceChildren(el("p", {}, chosen.gap && el("b", {}, `not searched: ${chosen.gap}; `), `${grouped(chosen.evaluations)} evaluations, ${drawn}`, changes && `; class changes: ${changes}`),
      detail.params.length > 2 ? el("p", {class: "axes"}, "plane of ", pick(0), " and ", pick(1)) : "");
  }

  drawPlot() {
    this.drop();
    const {detail, samples, chosen} = this;
    this.plotHost.replaceChildren();
    const nothing = samples.count === 0 && chosen.ranges.length === 0;
    if (detail.params.length === 0 || nothing) {
      this.plotHost.removeAttribute("role");
      this.plotHost.append(el("p", {class: "note"}, nothing ? "No samples of it are stored." : "It has no parameters to plot."));
      return;
    }
    const params = detail.params.length === 1 ? [0] : this.axes;
    this.plot = new Plot(this.plotHost, {params, detail, samples, comparison: chosen, pick: index => this.ranges.reveal(index)});
    this.plotHost.setAttribute("role", "img");
    this.plotHost.setAttribute("aria-label", `${detail.name}, ${chosen.build}: ${plural(this.plot.points.length, "sample")} and ${plural(this.plot.boxes.length, "range")} on signed logarithmic axes; the table below has the numbers`);
  }

  sections() {
    return [this.camps(), this.faults(), this.missing()];
  }

  camps() {
    const camps = this.detail.camps.filter(c => c.divided || c.camps.length > 1).sort((a, b) => b.ranges - a.ranges);
    if (camps.length === 0) return null;
    return el("section", {class: "part"}, el("h3", {}, "Camps"),
      el("p", {class: "dim"}, "builds that agree with each other bit for bit; the baseline's camp is last"),
      camps.map(camp => el("div", {class: "camp"},
        el("p", {}, camp.divided && el("b", {}, camp.divided), ` on ${plural(camp.ranges, "range")}`),
        el("ul", {}, camp.camps.map(builds => el("li", {}, builds.join(", ")))))));
  }

  faults() {
    const {faults, params} = this.detail;
    if (faults.length === 0) return null;
    const example = inputs => el("li", {}, inputs.map((x, p) => {
      const param = params[p] || {name: "", type: "double"};
      return el("span", {class: "input"}, `${param.name} `, both(numberOf(x, param.type)), " ");
    }));
    return el("section", {class: "part"}, el("h3", {}, "Faults"), el("div", {class: "scroll"}, el("table", {class: "plain"},
      el("thead", {}, el("tr", {}, ["build", "fault", "count", "inputs"].map(t => el("th", {scope: "col"}, t)))),
      el("tbody", {}, faults.map(f => el("tr", {}, el("th", {scope: "row"}, f.build), el("td", {}, f.kind), el("td", {class: "n"}, grouped(f.count)),
        el("td", {}, el("ul", {}, f.examples.map(example)))))))));
  }

  missing() {
    const entries = Object.entries(this.detail.missing);
    if (entries.length === 0) return null;
    return el("section", {class: "part"}, el("h3", {}, "Builds without it"), entries.map(([build, message]) => {
      const words = el("pre", {});
      words.textContent = shownLines(message);
      return el("details", {open: entries.length < 4}, el("summary", {}, build), words);
    }));
  }
}

/** Which comparison to show first: most bits, then any difference. */
const scoreOf = c => c.max + (c.ranges.length > 0 || c.lone ? 0.001 : 0);
