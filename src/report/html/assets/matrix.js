// The overview: functions x builds by most bits. Only the rows in view exist, so thousands stay fluid.
"use strict";

const ROW_HEIGHT = 26;
/** Rows made beyond each end of the view. */
const MARGIN = 8;

class Matrix {
  constructor(host, visit) {
    this.host = host;
    this.visit = visit;
    const {functions, builds} = OVERVIEW;
    this.rows = functions.map((f, index) => ({...f, index, key: f.name.toLowerCase(), worst: Math.max(0, ...f.bits),
      ranks: builds.map((_, b) => rankOf(f, b))}));
    for (const row of this.rows) row.rank = Math.max(-1, ...row.ranks);
    this.sort = {by: "worst", down: true};
    this.order = [];
    this.active = {row: 0, column: 0};
    this.from = this.to = this.open = -1;
  }

  start() {
    for (const node of document.querySelectorAll("#matrix [hidden]")) node.hidden = false;
    const select = byId("category");
    OVERVIEW.categories.forEach((name, index) => select.append(el("option", {value: index}, name)));
    select.append(el("option", {value: "faults"}, "with faults"));
    this.build();
    for (const id of ["filter", "least", "category"]) byId(id).addEventListener("input", () => this.refresh());
    byId("filter").form.addEventListener("submit", event => event.preventDefault());
    for (const button of document.querySelectorAll(".total")) {
      button.addEventListener("click", () => {
        byId("least").value = byId("least").value === button.dataset.min ? "-1" : button.dataset.min;
        this.refresh();
      });
    }
    byId("filter").addEventListener("keydown", event => this.filterKey(event));
    this.host.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), {passive: true});
    this.host.addEventListener("keydown", event => this.key(event));
    addEventListener("resize", () => this.draw());
    addEventListener("beforeprint", () => this.draw(true));
    addEventListener("afterprint", () => this.draw());
    this.refresh();
  }

  /** The table's frame, made once. */
  build() {
    this.heads = {};
    const head = (by, classes, label, ...content) => {
      const cell = el("th", {scope: "col", class: classes},
        el("button", {type: "button", tabindex: -1, title: `sort by ${label}`, onclick: () => this.sortBy(by)}, ...content));
      this.heads[by] = cell;
      return cell;
    };
    const builds = OVERVIEW.builds.map((id, index) =>
      head(index, "build", id, id.split("/").map(part => el("span", {}, part)),
        OVERVIEW.emulated.includes(id) && el("span", {class: "emulated"}, "emulated")));
    this.body = el("tbody", {});
    this.columns = builds.length + 2;
    this.table = el("table", {role: "grid", "aria-label": "most bits of inconsistency, functions by builds"},
      el("thead", {}, el("tr", {}, head("name", "name", "name", "function"), head("worst", "worst", "worst bits", "worst"), builds)),
      this.body);
    this.table.setAttribute("aria-colcount", this.columns);
    this.host.append(this.table);
    this.body.addEventListener("click", event => this.click(event));
  }

  sortBy(by) {
    const again = this.sort.by === by;
    this.sort = {by, down: again ? !this.sort.down : by !== "name"};
    this.refresh();
  }

  /** Filters and sorts anew, from the top. */
  refresh() {
    const text = byId("filter").value.trim().toLowerCase();
    const least = Number(byId("least").value);
    const category = byId("category").value;
    const fits = row => (!text || row.key.includes(text) || shown(row.key).includes(text)) &&
      (least < 0 || row.worst > least) &&
      (category === "" || (category === "faults" ? /[SDMU]/.test(row.marks) : row.categories.includes(Number(category))));
    const {by, down} = this.sort;
    const sign = down ? -1 : 1;
    const value = row => by === "worst" ? row.rank : row.ranks[by];
    const byName = (a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : a.index - b.index;
    this.order = this.rows.filter(fits);
    this.order.sort(by === "name" ? (a, b) => sign * byName(a, b) : (a, b) => sign * (value(a) - value(b)) || byName(a, b));
    for (const [key, cell] of Object.entries(this.heads)) {
      if (key === String(by)) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    for (const button of document.querySelectorAll(".total")) {
      button.setAttribute("aria-pressed", button.dataset.min === byId("least").value);
    }
    byId("count").textContent = this.order.length === this.rows.length ? plural(this.rows.length, "function")
      : `${grouped(this.order.length)} of ${plural(this.rows.length, "function")}`;
    this.table.setAttribute("aria-rowcount", this.order.length + 1);
    this.active.row = 0;
    this.host.scrollTop = 0;
    this.from = -1;
    this.draw();
  }

  /** Makes the rows in view, or all of them for paper. */
  draw(all) {
    const count = this.order.length;
    const top = Math.floor(this.host.scrollTop / ROW_HEIGHT);
    const view = Math.ceil((this.host.clientHeight || 600) / ROW_HEIGHT);
    const from = all ? 0 : Math.max(0, Math.min(top - MARGIN, count));
    const to = all ? count : Math.min(count, top + view + MARGIN);
    if (!all && from >= this.from && this.from >= 0 && to <= this.to && this.to - this.from < view + 4 * MARGIN) return;
    [this.from, this.to] = [from, to];
    const spacer = height => el("tr", {class: "spacer", "aria-hidden": "true", style: `height:${height}px`}, el("td", {colspan: this.columns}));
    const rows = this.order.slice(from, to).map((row, at) => this.row(row, from + at));
    const empty = count === 0 && el("tr", {}, el("td", {colspan: this.columns, class: "none"}, "no function fits the filter"));
    this.body.replaceChildren(...[from > 0 && spacer(from * ROW_HEIGHT), ...rows, empty,
      to < count && spacer((count - to) * ROW_HEIGHT)].filter(Boolean));
    this.mark();
    // The frame is as high as what is in it: measured while nearly empty, it promised too few rows.
    if (!all && Math.ceil(this.host.clientHeight / ROW_HEIGHT) > view) this.draw();
  }

  row(row, place) {
    const cells = OVERVIEW.builds.map((id, b) => {
      const state = row.marks[b];
      const bits = row.bits[b];
      const faults = state !== state.toLowerCase();
      const text = {s: "0", m: "–", u: "?", d: bits > 0 ? bits.toFixed(1) : "≠"}[state.toLowerCase()] + (faults ? "!" : "");
      const words = {s: "no difference found", m: "not compared", u: "not searched, or not to the end", d: bits > 0 ? `${bits} bits` : "another class"}[state.toLowerCase()];
      const lv = state.toLowerCase() === "d" ? Math.max(1, level(bits)) : 0;
      return el("td", {class: `lv lv${lv}${"mu".includes(state.toLowerCase()) ? " gone" : ""}`, "data-b": b,
        title: `${row.name}\n${id}: ${words}${faults ? ", faults" : ""}`}, text);
    });
    const worst = row.rank > 0 && row.worst === 0 ? "≠" : row.worst > 0 ? row.worst.toFixed(1) : row.rank === -1 ? "–" : /u/i.test(row.marks) ? "?" : "0";
    return el("tr", {"data-f": row.index, "aria-current": row.index === this.open && "true", "aria-rowindex": place + 2, id: `row${place}`},
      el("th", {scope: "row", title: row.name}, el("a", {href: addressOf(row.name), tabindex: -1}, row.name)),
      el("td", {class: `worst lv lv${row.rank > 0 ? Math.max(1, level(row.worst)) : 0}`}, worst), cells);
  }

  click(event) {
    const row = event.target.closest("tr[data-f]");
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.active.row = Number(row.getAttribute("aria-rowindex")) - 2;
    const cell = event.target.closest("td[data-b]");
    this.active.column = cell ? Number(cell.dataset.b) + 2 : 0;
    this.mark();
    this.visit(Number(row.dataset.f), cell ? OVERVIEW.builds[cell.dataset.b] : undefined);
  }

  /** Marks the row of the function that is open; none for -1. */
  setOpen(index) {
    this.open = index;
    for (const row of this.body.querySelectorAll("tr[data-f]")) {
      if (Number(row.dataset.f) === index) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  focus() {
    this.host.focus();
  }

  /** Shows which cell the keys act on. */
  mark() {
    for (const old of this.body.querySelectorAll(".active")) old.classList.remove("active");
    const row = byId(`row${this.active.row}`);
    const cell = row && row.children[this.active.column];
    for (const old of this.body.querySelectorAll("[id=active-cell]")) old.removeAttribute("id");
    if (!cell) return;
    cell.classList.add("active");
    cell.id = "active-cell";
    this.host.setAttribute("aria-activedescendant", "active-cell");
  }

  filterKey(event) {
    if (event.key === "Escape" && byId("filter").value) {
      byId("filter").value = "";
      this.refresh();
    } else if (event.key === "ArrowDown" || event.key === "Enter" || event.key === "Escape") {
      event.preventDefault();
      this.focus();
    }
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.host.clientHeight / ROW_HEIGHT) - 3);
    const moves = {ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0],
      PageUp: [-page, 0], Home: [-Infinity, 0], End: [Infinity, 0]};
    const move = moves[event.key];
    const row = this.order[this.active.row];
    if (move) {
      const within = (x, end) => Math.max(0, Math.min(x, end));
      this.active.row = within(this.active.row + move[0], Math.max(0, this.order.length - 1));
      this.active.column = within(this.active.column + move[1], this.columns - 1);
      this.reveal();
    } else if (event.key === "Enter" && row) {
      this.visit(row.index, OVERVIEW.builds[this.active.column - 2]);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Scrolls the active cell into view, clear of the parts that stay in place. */
  reveal() {
    const head = this.table.tHead.offsetHeight;
    const top = this.active.row * ROW_HEIGHT;
    const room = this.host.clientHeight - head - ROW_HEIGHT;
    if (top < this.host.scrollTop) this.host.scrollTop = top;
    else if (top > this.host.scrollTop + room) this.host.scrollTop = top - room;
    this.draw();
    this.mark();
    const cell = byId("active-cell");
    const names = this.heads.name.offsetWidth;
    if (!cell || this.active.column === 0) return;
    const left = cell.offsetLeft;
    if (left - names < this.host.scrollLeft) this.host.scrollLeft = left - names;
    else if (left + cell.offsetWidth > this.host.scrollLeft + this.host.clientWidth) {
      this.host.scrollLeft = left + cell.offsetWidth - this.host.clientWidth;
    }
  }
}

/** The order of cells of a column: not compared, not searched, the same, another class, bits. */
function rankOf(f, b) {
  const state = f.marks[b].toLowerCase();
  return state === "m" ? -1 : state === "u" ? -0.5 : state === "s" ? 0 : Math.max(f.bits[b], 0.001);
}
