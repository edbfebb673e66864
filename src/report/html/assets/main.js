// Start: theme, address, keys that work everywhere, and the mark that says that the page is there.
"use strict";

/** Storage may be forbidden for pages from files; the choice then lasts as long as the page. */
function remembered(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch { /* not remembered */ }
  return null;
}

function startTheme() {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered("bitrift-theme");
  const apply = () => {
    const theme = chosen === "dark" || chosen === "light" ? chosen : system.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `switch to ${button.textContent} colours`);
    PANEL.redraw();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = button.textContent;
    remembered("bitrift-theme", chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

/** The address of a function, so that it can be sent to a colleague. */
const addressOf = (name, build, range) =>
  `#f=${encodeURIComponent(name)}${build ? `&b=${encodeURIComponent(build)}` : ""}${range ? `&r=${range}` : ""}`;

function followAddress() {
  const match = /^#f=([^&]*)(?:&b=([^&]*))?(?:&r=(\d+))?$/.exec(location.hash);
  if (!match) return;
  let name, build;
  try {
    [name, build] = [decodeURIComponent(match[1]), match[2] && decodeURIComponent(match[2])];
  } catch {
    return;
  }
  const index = OVERVIEW.functions.findIndex(f => f.name === name);
  if (index >= 0) PANEL.open(index, build, Number(match[3]));
}

/** Opens a function and makes it the address. */
function visit(index, build) {
  const address = addressOf(OVERVIEW.functions[index].name, build);
  if (location.hash === address) followAddress();
  else location.hash = address;
}

function startKeys() {
  addEventListener("keydown", event => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId("filter").focus();
      byId("filter").select();
    } else if (event.key === "Escape" && !typing && PANEL.isOpen()) {
      PANEL.close();
      MATRIX.focus();
    }
  });
}

/** With few builds there is room for the worst function beside the matrix. */
function startBeside() {
  const isWide = document.body.classList.contains("beside") && matchMedia("(min-width: 1180px)").matches;
  const first = MATRIX.order[0];
  if (first && first.rank > 0 && !PANEL.isOpen() && isWide) PANEL.show(first.index);
}

const MATRIX = new Matrix(byId("grid"), visit);
const PANEL = new Panel(byId("function"));
document.body.classList.toggle("beside", OVERVIEW.builds.length <= 8);
MATRIX.start();
startCauses(byId("causes"));
startTheme();
startKeys();
addEventListener("hashchange", followAddress);
followAddress();
startBeside();
// After the first frame is painted, the page is there.
requestAnimationFrame(() => setTimeout(() => {
  document.documentElement.dataset.ready = performance.now().toFixed(0);
}));
