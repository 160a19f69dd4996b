// A hunk's text as rows. A row is {t: ctx|add|del|note, a: line of the base, b: line of the patch, s: text}.
const HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

const bodyRows = (hunk) => {
  if (hunk.rows) return hunk.rows;
  const rows = [];
  let [a, b] = numbersOf(hunk.head);
  for (const line of hunk.body === undefined ? [] : hunk.body.split("\n")) {
    const mark = line[0];
    const s = line.slice(1);
    if (mark === "@") [a, b] = numbersOf(line);
    else if (mark === "+") rows.push({ t: "add", b: b++, s });
    else if (mark === "-") rows.push({ t: "del", a: a++, s });
    else if (mark === "\\") rows.push({ t: "note", s: s.trim() });
    else rows.push({ t: "ctx", a: a++, b: b++, s });
  }
  markChanges(rows);
  hunk.rows = rows;
  return rows;
};

const numbersOf = (head) => {
  const found = HEAD.exec(head);
  return found ? [Number(found[1]) || 1, Number(found[3]) || 1] : [1, 1];
};

// Lines that replace as many others: where they differ is marked.
const markChanges = (rows) => {
  for (let at = 0; at < rows.length; at += 1) {
    if (rows[at].t !== "del") continue;
    let middle = at;
    while (middle < rows.length && rows[middle].t === "del") middle += 1;
    let end = middle;
    while (end < rows.length && rows[end].t === "add") end += 1;
    if (end - middle === middle - at) {
      for (let n = 0; n < middle - at; n += 1) {
        const found = differing(rows[at + n].s, rows[middle + n].s);
        if (found) [rows[at + n].m, rows[middle + n].m] = found;
      }
    }
    at = end - 1;
  }
};

const headRow = (lane, one) => ({ t: "head", lane, at: one.at, hunk: one.hunk, short: one.short });
const leftRow = (hunk) => (hunk.left ? [{ t: "left", left: hunk.left }] : []);

const unifiedRows = (file, lane) =>
  laneHunks(file, lane).flatMap((one) => [headRow(lane, one), ...bodyRows(one.hunk), ...leftRow(one.hunk)]);

// The base on the left and the lane on the right: lines that replace others stand beside them.
const splitRows = (file, lane) =>
  laneHunks(file, lane).flatMap((one) => [headRow(lane, one), ...paired(bodyRows(one.hunk)), ...leftRow(one.hunk)]);

const paired = (rows) => {
  const found = [];
  let gone = [];
  let come = [];
  const flush = () => {
    for (let n = 0; n < Math.max(gone.length, come.length); n += 1) {
      found.push({ t: "pair", l: gone[n] || null, r: come[n] || null });
    }
    gone = [];
    come = [];
  };
  for (const row of rows) {
    if (row.t === "del") {
      if (come.length) flush();
      gone.push(row);
    } else if (row.t === "add") come.push(row);
    else if (row.t === "note") (come.length ? come : gone).push(row);
    else {
      flush();
      found.push({ t: "pair", l: { ...row, n: row.a }, r: { ...row, n: row.b } });
    }
  }
  flush();
  return found;
};
