// The signed logarithmic axis: sign and log2 of the size, with zero in the middle, as inputs are sampled.
"use strict";

/** log2 of the smallest size of a type above zero; integers start at 1. */
const SMALLEST = {double: -1074, float: -149};
const LARGEST = {double: 1024, float: 128};

class SignedLog {
  constructor(type) {
    this.type = type;
    const smallest = SMALLEST[type] || 0;
    // The smallest size is one step from zero.
    this.shift = 1 - smallest;
    this.end = (LARGEST[type] || 64) + this.shift;
  }

  /** Where a value is on the axis; infinities a little beyond its ends, NaN nowhere. */
  at(x) {
    if (Number.isNaN(x)) return null;
    if (x === 0) return 0;
    const size = Math.abs(x) === Infinity ? this.end * 1.02 : Math.log2(Math.abs(x)) + this.shift;
    return x < 0 ? -size : size;
  }

  /** The value at a place. */
  value(place) {
    const size = Math.abs(place);
    if (size < 0.5) return 0;
    const x = size > this.end * 1.01 ? Infinity : Math.min(2 ** (size - this.shift), Number.MAX_VALUE);
    return place < 0 ? -x : x;
  }

  /** Places of ticks between two places: round numbers when close, powers of ten otherwise. */
  ticks(min, max, most) {
    const [lo, hi] = [this.value(min), this.value(max)];
    const decades = (max - min) * Math.log10(2);
    if (lo * hi > 0 && decades < 2.5 && Number.isFinite(lo) && Number.isFinite(hi)) {
      return this.linearTicks(lo, hi, most);
    }
    const places = min <= 0 && max >= 0 ? [0] : [];
    const step = [1, 2, 5, 10, 20, 50, 100, 200].find(s => decades / s <= most) || 300;
    const gap = (max - min) / (most * 2);
    const top = Math.floor(this.end * Math.log10(2));
    for (let power = -330; power <= top; power++) {
      if (power % step !== 0) continue;
      const size = power * Math.log2(10) + this.shift;
      if (size < 1 || size > this.end) continue;
      for (const place of [size, -size]) {
        // Not on top of the label of zero.
        if (place >= min && place <= max && (Math.abs(place) > gap || !places.includes(0))) places.push(place);
      }
    }
    return places.sort((a, b) => a - b);
  }

  linearTicks(lo, hi, most) {
    const rough = (hi - lo) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(k => k * unit).find(s => s >= rough) || rough;
    const places = [];
    for (let k = Math.ceil(lo / step); k * step <= hi && places.length < 100; k++) {
      const place = this.at(k * step);
      if (place !== null) places.push(place);
    }
    return places;
  }

  label(place) {
    if (place === 0) return "0";
    const x = Number(this.value(place).toPrecision(6));
    const size = Math.abs(x);
    return size >= 1e5 || size < 1e-3 ? x.toExponential().replace("e+", "e") : String(x);
  }
}
