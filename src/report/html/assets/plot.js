// Plots of samples and ranges. uPlot does axes, cursor and selection; points and boxes are drawn on its canvas.
"use strict";

const NO_VALUE = 65535;
/** Pixels from the cursor within which a point is named. */
const REACH = 14;
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function bytesOf(text) {
  return Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
}

/** The samples of a function: inputs by parameter, and bits for a build in thousandths. */
class Samples {
  constructor(detail) {
    const points = detail.points;
    this.count = points ? points.count : 0;
    this.stored = points ? points.stored : 0;
    this.points = points;
    const wide = {int64_t: BigInt64Array, uint64_t: BigUint64Array};
    this.inputs = detail.params.map((param, index) => points
      ? new (wide[param.type] || Float64Array)(bytesOf(points.inputs[index])) : new Float64Array());
  }

  bits(build) {
    const entry = this.points && this.points.of.find(([name]) => name === build);
    if (!entry) return new Uint16Array(this.count).fill(NO_VALUE);
    return entry[1] === null ? new Uint16Array(this.count) : new Uint16Array(bytesOf(this.points.bits[entry[1]]));
  }
}

/** One plot. With one axis of inputs, bits are drawn against them; with two, a plane of inputs. */
class Plot {
  /** spec: {params: [index...], detail, samples, comparison, pick(range)} */
  constructor(host, spec) {
    Object.assign(this, spec);
    this.host = host;
    this.plane = this.params.length > 1;
    this.axes = this.params.map(p => new SignedLog(this.detail.params[p].type));
    this.marked = -1;
    this.makePoints();
    this.makeBoxes();
    this.full = {x: this.extent("x"), y: this.plane ? this.extent("y") : this.bitsExtent()};
    this.view = {...this.full};
    this.tip = el("div", {class: "tip", role: "status", hidden: true});
    this.make();
  }

  makePoints() {
    const bits = this.samples.bits(this.comparison.build);
    const place = (axis, sample) => this.axes[axis].at(Number(this.samples.inputs[this.params[axis]][sample]));
    this.points = [];
    for (let sample = 0; sample < this.samples.count; sample++) {
      const point = {sample, bits: bits[sample] === NO_VALUE ? null : bits[sample] / 1000, x: place(0, sample)};
      point.y = this.plane ? place(1, sample) : point.bits || 0;
      if (point.x !== null && point.y !== null) this.points.push(point);
    }
    // What differs is drawn last, over the rest.
    this.points.sort((a, b) => (a.bits || 0) - (b.bits || 0));
  }

  makeBoxes() {
    this.boxes = this.comparison.ranges.map((range, index) => {
      const end = (list, axis) => this.axes[axis].at(numberOf(list[this.params[axis]], this.detail.params[this.params[axis]].type).value);
      const box = {index, range, x: [end(range.lo, 0), end(range.hi, 0)], witness: {x: end(range.witness.inputs, 0)}};
      box.y = this.plane ? [end(range.lo, 1), end(range.hi, 1)] : [0, range.max];
      box.witness.y = this.plane ? end(range.witness.inputs, 1) : range.max;
      return box;
    }).filter(box => [...box.x, ...box.y].every(place => place !== null));
  }

  /** From the first to the last of points and boxes, with a little room. */
  extent(key) {
    let [min, max] = [Infinity, -Infinity];
    const take = place => { min = Math.min(min, place); max = Math.max(max, place); };
    for (const point of this.points) take(point[key]);
    for (const box of this.boxes) box[key].forEach(take);
    if (min > max) [min, max] = [-1, 1];
    const room = Math.max((max - min) * 0.03, 0.25);
    return [min - room, max + room];
  }

  /** From a little below zero, where samples without a value stand, to the most bits. */
  bitsExtent() {
    const most = this.points.reduce((most, p) => Math.max(most, p.bits || 0), 4);
    const top = 1.06 * this.boxes.reduce((most, box) => Math.max(most, box.range.max), most);
    const faults = this.points.filter(p => p.bits === null);
    for (const point of faults) point.y = -top * 0.05;
    return [-top * (faults.length > 0 ? 0.1 : 0.03), top];
  }

  make() {
    const line = {stroke: () => colour("--line"), width: 1};
    const axis = (side, log, label) => ({
      side, scale: side === 2 ? "x" : "y", stroke: () => colour("--dim"), grid: line, ticks: {...line, size: 4}, font: "11px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif", label: shown(label), labelSize: 18, size: side === 2 ? 26 : log ? 56 : 34, gap: 3,
      ...log ? {
        splits: (u, _, min, max) => log.ticks(min, max, Math.max(2, Math.floor((side === 2 ? u.bbox.width / 80 : u.bbox.height / 34) / devicePixelRatio))),
        values: (u, places) => places.map(place => log.label(place)),
      } : {values: (u, places) => places.map(bits => bits < 0 ? "" : bits)},
    });
    const name = axisIndex => this.detail.params[this.params[axisIndex]].name;
    const range = key => () => this.view[key];
    const [width, height] = this.size();
    this.uplot = new uPlot({
      width, height,
      scales: {x: {time: false, range: range("x")}, y: {range: range("y")}},
      axes: [axis(2, this.axes[0], name(0)), axis(3, this.axes[1], this.plane ? name(1) : "bits")],
      series: [{}, {paths: () => null, points: {show: false}}],
      legend: {show: false},
      cursor: {points: {show: false}, drag: {x: true, y: true, uni: 12, setScale: false},
        bind: {dblclick: () => () => { this.zoom(this.full); return null; }}},
      hooks: {
        draw: [() => this.draw()],
        setSelect: [u => this.select(u)],
        setCursor: [u => this.point(u)],
      },
    }, [this.full.x, [null, null]], this.host);
    this.uplot.over.append(this.tip);
    this.uplot.over.addEventListener("mouseleave", () => { this.tip.hidden = true; });
    this.uplot.over.addEventListener("click", event => this.click(event));
    this.watcher = new ResizeObserver(() => {
      const [width, height] = this.size();
      if (width !== this.uplot.width) this.uplot.setSize({width, height});
    });
    this.watcher.observe(this.host);
  }

  size() {
    const width = Math.max(260, Math.floor(this.host.clientWidth));
    return [width, this.plane ? Math.min(560, Math.max(320, Math.floor(width * 0.55))) : Math.min(380, Math.max(260, Math.floor(width * 0.4)))];
  }

  zoom(view) {
    this.view = {...view};
    this.host.dataset.zoomed = view.x[0] !== this.full.x[0] || view.x[1] !== this.full.x[1];
    this.uplot.setScale("x", {min: view.x[0], max: view.x[1]});
  }

  /** Zooms to a range, with room around it. */
  zoomTo(index) {
    const box = this.boxes.find(b => b.index === index);
    if (!box) return;
    const around = ([lo, hi]) => { const room = Math.max((hi - lo) * 0.08, 1e-9 * Math.max(1, Math.abs(lo))); return [lo - room, hi + room]; };
    this.zoom({x: around(box.x), y: this.plane ? around(box.y) : this.full.y});
    this.mark(index);
  }

  mark(index) {
    this.marked = index;
    this.uplot.redraw(false);
  }

  select(u) {
    const {left, top, width, height} = u.select;
    if (width < 4 && height < 4) return;
    const part = (from, size, key, whole) => {
      if (size < 4 || size >= whole - 1) return this.view[key];
      const ends = [u.posToVal(from, key), u.posToVal(from + size, key)];
      return ends.sort((a, b) => a - b);
    };
    const view = {x: part(left, width, "x", u.over.clientWidth), y: part(top, height, "y", u.over.clientHeight)};
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.zoom(view);
  }

  draw() {
    const u = this.uplot || arguments[0];
    if (!u) return;
    const ctx = u.ctx;
    const {left, top, width, height} = u.bbox;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    const ratio = devicePixelRatio;
    const x = place => u.valToPos(place, "x", true);
    const y = place => u.valToPos(place, "y", true);
    const seen = (px, py) => px >= left - 1 && px <= left + width + 1 && py >= top - 1 && py <= top + height + 1;
    const boxes = this.drawBoxes(ctx, {x, y, ratio, right: left + width, left, top, bottom: top + height});
    const drawn = this.drawPoints(ctx, {x, y, ratio, seen});
    this.drawWitnesses(ctx, {x, y, ratio, seen});
    ctx.restore();
    Object.assign(this.host.dataset, {points: drawn.all, odd: drawn.odd, faults: drawn.faults, boxes});
  }

  drawBoxes(ctx, at) {
    let count = 0;
    const line = colour("--box");
    for (const box of this.boxes) {
      // A single value is still to be seen.
      let [x0, x1] = box.x.map(at.x);
      let [y1, y0] = box.y.map(at.y);
      const least = 3 * at.ratio;
      if (x1 - x0 < least) [x0, x1] = [(x0 + x1 - least) / 2, (x0 + x1 + least) / 2];
      if (y1 - y0 < least) [y0, y1] = [(y0 + y1 - least) / 2, (y0 + y1 + least) / 2];
      if (x1 < at.left || x0 > at.right || y1 < at.top || y0 > at.bottom) continue;
      count++;
      const marked = box.index === this.marked;
      ctx.fillStyle = line;
      ctx.globalAlpha = marked ? 0.24 : 0.09;
      ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = line;
      ctx.lineWidth = (marked ? 2 : 1) * at.ratio;
      const ragged = (axis, end) => box.range.edges[2 * this.params[axis] + end] === "r";
      const side = (dashed, xa, ya, xb, yb) => {
        ctx.setLineDash(dashed ? [3 * at.ratio, 3 * at.ratio] : []);
        ctx.beginPath();
        ctx.moveTo(xa, ya);
        ctx.lineTo(xb, yb);
        ctx.stroke();
      };
      side(ragged(0, 0), x0, y0, x0, y1);
      side(ragged(0, 1), x1, y0, x1, y1);
      side(this.plane && ragged(1, 1), x0, y0, x1, y0);
      side(this.plane && ragged(1, 0), x0, y1, x1, y1);
      ctx.setLineDash([]);
      if (!this.plane) {
        ctx.globalAlpha = 0.7;
        side(true, x0, at.y(box.range.mean), x1, at.y(box.range.mean));
        ctx.globalAlpha = 1;
        ctx.setLineDash([]);
      }
    }
    return count;
  }

  drawPoints(ctx, at) {
    const colours = [0, 1, 2, 3, 4].map(lv => colour(`--p${lv}`));
    const fault = colour("--fault");
    const size = Math.max(1.6, Math.min(3, 60 / Math.sqrt(this.points.length + 1))) * at.ratio;
    const counts = {all: 0, odd: 0, faults: 0};
    for (const point of this.points) {
      const [px, py] = [at.x(point.x), at.y(point.y)];
      if (!at.seen(px, py)) continue;
      counts.all++;
      if (point.bits === null) {
        counts.faults++;
        ctx.strokeStyle = fault;
        ctx.lineWidth = at.ratio;
        const arm = size * 1.2;
        ctx.beginPath();
        ctx.moveTo(px - arm, py - arm);
        ctx.lineTo(px + arm, py + arm);
        ctx.moveTo(px - arm, py + arm);
        ctx.lineTo(px + arm, py - arm);
        ctx.stroke();
        continue;
      }
      if (point.bits > 0) counts.odd++;
      ctx.fillStyle = colours[level(point.bits)];
      ctx.globalAlpha = point.bits > 0 ? 0.9 : 0.45;
      ctx.beginPath();
      ctx.arc(px, py, point.bits > 0 ? size * 1.15 : size * 0.85, 0, 7);
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    return counts;
  }

  /** A ring around the worst input of each range. */
  drawWitnesses(ctx, at) {
    ctx.strokeStyle = colour("--ink");
    ctx.lineWidth = 1.25 * at.ratio;
    // With hundreds of ranges the rings would hide what they mark.
    const boxes = this.boxes.length > 60 ? this.boxes.filter(b => b.index === this.marked) : this.boxes;
    for (const {witness} of boxes) {
      if (witness.x === null || witness.y === null) continue;
      const [px, py] = [at.x(witness.x), at.y(witness.y)];
      if (!at.seen(px, py)) continue;
      ctx.beginPath();
      ctx.arc(px, py, 4.5 * at.ratio, 0, 7);
      ctx.stroke();
    }
  }

  /** The point nearest to the cursor, named with its exact inputs. */
  point(u) {
    const {left, top} = u.cursor;
    let best = null, least = REACH * REACH;
    if (left >= 0 && top >= 0) {
      for (const point of this.points) {
        const dx = u.valToPos(point.x, "x") - left, dy = u.valToPos(point.y, "y") - top;
        const distance = dx * dx + dy * dy;
        if (distance <= least) [best, least] = [point, distance];
      }
    }
    this.tip.hidden = !best;
    if (!best) return;
    const lines = this.detail.params.map((param, index) => {
      const number = sampleNumber(this.samples.inputs[index][best.sample], param.type);
      return el("div", {}, el("b", {}, param.name), ` ${number.hex}`, number.hex !== number.dec && el("span", {}, ` = ${number.dec}`));
    });
    const said = best.bits === null ? "no value to compare" : best.bits === 0 ? "no difference" : `${best.bits.toFixed(2)} bits`;
    this.tip.replaceChildren(el("div", {class: "said"}, said), ...lines);
    const room = u.over.clientWidth;
    this.tip.style.left = left > room / 2 ? "auto" : `${left + 14}px`;
    this.tip.style.right = left > room / 2 ? `${room - left + 14}px` : "auto";
    this.tip.style.top = `${Math.max(0, Math.min(top + 10, u.over.clientHeight - this.tip.offsetHeight))}px`;
  }

  /** A click in a box shows its row. */
  click(event) {
    const u = this.uplot;
    const bounds = u.over.getBoundingClientRect();
    const [x, y] = [u.posToVal(event.clientX - bounds.left, "x"), u.posToVal(event.clientY - bounds.top, "y")];
    const holds = ([lo, hi], place) => place >= lo && place <= hi;
    const hits = this.boxes.filter(box => holds(box.x, x) && holds(box.y, y));
    if (hits.length > 0) this.pick(hits.sort((a, b) => a.x[1] - a.x[0] - (b.x[1] - b.x[0]))[0].index);
  }

  redraw() {
    this.uplot.redraw(true, true);
  }

  destroy() {
    this.watcher.disconnect();
    this.uplot.destroy();
  }
}
