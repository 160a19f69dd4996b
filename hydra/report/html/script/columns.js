// Two lanes beside each other: each as it changes the base, aligned by the base's lines. Where only
// one of them has a hunk, the other has the base there.
const MATCH_LIMIT = 250_000;

const lanesRows = (file, left, right) => {
  const sides = [left, right].map((lane) => laneHunks(file, lane).map((one) => ({ ...one, lane, span: spanOf(one.hunk) })));
  const whole = sides.flat().some((one) => one.hunk.kind !== "lines");
  if (whole) return wholeRows(sides);
  return regions(sides.flat()).flatMap((region) => regionRows(region, left, right));
};

const spanOf = (hunk) => {
  const rows = bodyRows(hunk).filter((row) => row.a !== undefined);
  const first = rows.length ? rows[0].a : numbersOf(hunk.head)[0];
  return [first, first + rows.length];
};

// Hunks whose lines of the base touch stand together.
const regions = (all) => {
  const sorted = [...all].sort((one, other) => one.span[0] - other.span[0]);
  const found = [];
  let end = -1;
  for (const one of sorted) {
    if (one.span[0] > end) found.push([]);
    found.at(-1).push(one);
    end = Math.max(end, one.span[1]);
  }
  return found;
};

const regionRows = (region, left, right) => {
  const heads = [left, right].map((lane) => region.filter((one) => one.lane === lane));
  const [mine, other] = heads.map(byBase);
  const from = Math.min(...region.map((one) => one.span[0]));
  const to = Math.max(...region.map((one) => one.span[1]));
  const rows = headsOf(heads);
  for (let n = from; n <= to; n += 1) {
    rows.push(...together(mine.before.get(n) || [], other.before.get(n) || []));
    const [a, b] = [mine.at.get(n), other.at.get(n)];
    const base = a || b;
    if (n < to && base) {
      const kept = { t: "ctx", a: n, n, s: base.s };
      rows.push({ t: "pair", l: a ? { ...a, n } : kept, r: b ? { ...b, n } : kept });
    }
  }
  return [...rows, ...region.flatMap((one) => leftRow(one.hunk))];
};

const headsOf = (heads) => {
  const rows = [];
  for (let n = 0; n < Math.max(heads[0].length, heads[1].length); n += 1) {
    rows.push({ t: "heads", l: heads[0][n] ? headRow(heads[0][n].lane, heads[0][n]) : null, r: heads[1][n] ? headRow(heads[1][n].lane, heads[1][n]) : null });
  }
  return rows;
};

// By lines of the base: what became of each, and what came before it.
const byBase = (hunks) => {
  const at = new Map();
  const before = new Map();
  for (const { hunk, span } of hunks) {
    let n = span[0];
    for (const row of bodyRows(hunk)) {
      if (row.a !== undefined) {
        at.set(row.a, row);
        n = row.a + 1;
      } else before.set(n, [...(before.get(n) || []), row]);
    }
  }
  return { at, before };
};

const wholeRows = (sides) => {
  const rows = sides.map((side) => side.flatMap((one) => bodyRows(one.hunk).map((row) => ({ ...row, n: row.b ?? row.a }))));
  return [...headsOf(sides), ...together(...rows), ...sides.flat().flatMap((one) => leftRow(one.hunk))];
};

// Two runs of lines, equal ones beside each other (the longest common run of them).
const together = (left, right) => {
  if (!left.length || !right.length || left.length * right.length > MATCH_LIMIT) return zipped(left, right);
  const same = (a, b) => left[a].s === right[b].s && left[a].t === right[b].t;
  const width = right.length + 1;
  const best = new Uint32Array((left.length + 1) * width);
  for (let a = left.length - 1; a >= 0; a -= 1) {
    for (let b = right.length - 1; b >= 0; b -= 1) {
      best[a * width + b] = same(a, b)
        ? best[(a + 1) * width + b + 1] + 1
        : Math.max(best[(a + 1) * width + b], best[a * width + b + 1]);
    }
  }
  const rows = [];
  let [a, b, fromA, fromB] = [0, 0, 0, 0];
  while (a < left.length && b < right.length) {
    if (same(a, b)) {
      rows.push(...zipped(left.slice(fromA, a), right.slice(fromB, b)), ...zipped([left[a]], [right[b]]));
      a += 1;
      b += 1;
      [fromA, fromB] = [a, b];
    } else if (best[(a + 1) * width + b] >= best[a * width + b + 1]) a += 1;
    else b += 1;
  }
  return [...rows, ...zipped(left.slice(fromA), right.slice(fromB))];
};

const zipped = (left, right) =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, n) => ({
    t: "pair",
    l: left[n] ? { ...left[n], n: left[n].b ?? left[n].a } : null,
    r: right[n] ? { ...right[n], n: right[n].b ?? right[n].a } : null,
  }));
