// Building blocks: elements from text, numbers in two forms, the embedded data, copying.
"use strict";

const byId = id => document.getElementById(id);

/** What could reorder or hide text is shown as an escape, as bitrift does on a terminal. */
const INVISIBLE = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]|\\udb40[\\udc00-\\udc7f]", "g");
const SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"};
const shown = text => String(text).replace(INVISIBLE, c => SHORT[c] || `\\u{${c.codePointAt(0).toString(16)}}`);
/** The same for text of several lines. */
const shownLines = text => String(text).split("\n").map(shown).join("\n");

/** An element; strings among the children become text, never markup. */
function el(tag, attrs, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attrs || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, key === "title" ? shownLines(value) : value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : shown(child));
  }
  return node;
}

const OVERVIEW = JSON.parse(byId("overview").textContent);
const RUN = byId("overview").dataset.run;
/** Everything about one function; read when it is asked for. */
const detailOf = index => JSON.parse(byId("d" + index).textContent);

const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
/** The class of a number of bits, as in the legend. */
const level = bits => bits > 48 ? 4 : bits > 32 ? 3 : bits > 8 ? 2 : bits > 0 ? 1 : 0;

/** The exact hexadecimal form of a finite double, or of a float. */
function hexOf(x, single) {
  const sign = Object.is(x, -0) || x < 0 ? "-" : "";
  if (x === 0) return sign + "0x0p+0";
  const view = new DataView(new ArrayBuffer(8));
  let mantissa, field, bias, digits;
  if (single) {
    view.setFloat32(0, x);
    const bits = view.getUint32(0);
    field = bits >>> 23 & 0xff;
    // 23 bits end in the middle of a hex digit: one more makes it whole.
    [mantissa, bias, digits] = [BigInt((bits & 0x7fffff) * 2), 127, 6];
  } else {
    view.setFloat64(0, x);
    const bits = view.getBigUint64(0);
    field = Number(bits >> 52n & 0x7ffn);
    [mantissa, bias, digits] = [bits & 0xfffffffffffffn, 1023, 13];
  }
  const text = mantissa.toString(16).padStart(digits, "0").replace(/0+$/, "");
  const power = (field === 0 ? 1 : field) - bias;
  return `${sign}0x${field === 0 ? 0 : 1}${text && "."}${text}p${power < 0 ? "" : "+"}${power}`;
}

/** The shortest decimal that reads back as the same number. */
function decOf(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x < 0 ? "-inf" : "inf";
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const size = Math.abs(x);
  return size >= 1e16 || size < 1e-4 ? x.toExponential().replace("e+", "e") : String(x);
}

/** The shortest decimal of a float that is held as a double. */
function decOfFloat(x) {
  for (let digits = 1; digits < 9; digits++) {
    const near = Number(x.toPrecision(digits));
    if (Math.fround(near) === x) return decOf(near);
  }
  return decOf(Number(x.toPrecision(9)));
}

/** A number of the embedded data: its value for plots, hexadecimal and decimal text. */
function numberOf(data, type) {
  if (Array.isArray(data)) return {value: Number(data[1]), hex: data[0], dec: data[1]};
  if (typeof data === "string") {
    const value = data === "inf" ? Infinity : data === "-inf" ? -Infinity : data.trim() === "" ? NaN : Number(data);
    return {value, hex: data, dec: data};
  }
  const value = type === "float" ? Math.fround(data) : data;
  return {value, hex: hexOf(value, type === "float"), dec: decOf(data)};
}

/** The same for an input of a sample. */
function sampleNumber(x, type) {
  if (typeof x === "bigint") return {value: Number(x), hex: String(x), dec: String(x)};
  if (!Number.isFinite(x)) return {value: x, hex: decOf(x), dec: decOf(x)};
  if (type === "double") return {value: x, hex: hexOf(x, false), dec: decOf(x)};
  if (type === "float") return {value: x, hex: hexOf(x, true), dec: decOfFloat(x)};
  return {value: x, hex: String(x), dec: String(x)};
}

/** About four digits, for bounds that are compared by eye. */
function shortOf(number) {
  const {value, dec} = number;
  if (!Number.isFinite(value) || dec.length <= 7) return dec;
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(4)));
  return value.toExponential(3).replace("e+", "e").replace(/\.?0+e/, "e");
}

/** The share of inconsistent samples; never rounded to none or all. */
function shareOf(odd, samples) {
  if (samples === 0) return "-";
  const percent = 100 * odd / samples;
  if (odd === 0) return "~0%";
  if (percent < 0.1) return "<0.1%";
  if (odd < samples && percent > 99.9) return ">99.9%";
  return (odd === samples ? "100" : percent.toFixed(1)) + "%";
}

/** Puts text on the clipboard; pages from files may lack the modern way. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", {class: "offscreen", "aria-hidden": "true"});
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Text that a click copies; a label stands for text of several lines. */
function copyable(text, what, label) {
  const button = el("button", {type: "button", class: label ? "copy boxed" : "copy", "aria-label": `copy ${what || text}`, title: "copy"}, label || text);
  button.addEventListener("click", async event => {
    event.stopPropagation();
    const done = await copy(text);
    button.dataset.said = done ? "copied" : "not copied";
    setTimeout(() => delete button.dataset.said, 1200);
  });
  return button;
}

/** Both forms of a number, each to copy. */
function both(number) {
  if (number.hex === number.dec) return el("span", {class: "both"}, copyable(number.hex));
  return el("span", {class: "both"}, copyable(number.hex), " = ", copyable(number.dec));
}
