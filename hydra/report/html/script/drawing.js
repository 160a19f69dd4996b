// Rows on the screen. They are drawn a chunk at a time: at once where one looks, the rest while the
// browser has nothing else to do.
const CHUNK = 120;
const LINE = 20;
const CUT = 1_000;
const STEP_OUT = 20_000;
const IDLE_MOST = 60_000;
const whenIdle = window.requestIdleCallback || ((act) => setTimeout(act, 30));

const SIGNS = { add: "+", del: "\u2212", ctx: " ", note: " " };

const textOf = (row) => {
  if (row.s.length <= CUT) {
    const pieces = row.p || [[row.s, ""]];
    return (row.m ? marked(pieces, row.m) : pieces).map(([text, style]) => (style.trim() ? el("span", { class: style.trim() }, text) : text));
  }
  let end = CUT;
  const shown = document.createTextNode(row.s.slice(0, end));
  const label = () => `\u2026 ${count(row.s.length - end)} more characters: show ${count(Math.min(STEP_OUT, row.s.length - end))}`;
  const more = button(label(), () => {
    shown.appendData(row.s.slice(end, end + STEP_OUT));
    end += STEP_OUT;
    more.closest(".row").classList.add("wrapped");
    if (end < row.s.length) more.textContent = label();
    else more.remove();
  }, { class: "more" });
  return [shown, more];
};

const pickBox = (head) =>
  el(
    "label",
    { class: "pick" },
    el("input", {
      type: "checkbox",
      "data-hunk": `${head.lane} ${head.at}`,
      "aria-label": `Take hunk ${head.short} of ${LANES[head.lane].name}`,
      on: { change: () => togglePickHunk(head.lane, shownFile(), head.at) },
    }),
    el("span", { class: "at" }, head.hunk.head),
    el("span", { class: "id" }, head.short),
  );

const headNode = (head) =>
  head ? el("div", { class: "head", tabindex: -1 }, pickBox(head)) : el("div", { class: "head none" });

let digits = 3;
const number = (n) => String(n ?? "").padStart(digits);
const gutterDigits = (rows) => {
  let most = 99;
  const see = (row) => {
    if (row && row.a > most) most = row.a;
    if (row && row.b > most) most = row.b;
  };
  for (const row of rows) {
    if (row.t === "pair") {
      see(row.l);
      see(row.r);
    } else see(row);
  }
  return String(most).length;
};

const lineNode = (row) => {
  const gutter = ` ${number(row.a)} ${number(row.b)} ${SIGNS[row.t]} `;
  return el("div", { class: `row ${row.t}`, "data-n": gutter }, textOf(row));
};

const sideNode = (row) => {
  if (!row) return el("div", { class: "row blank" });
  const shown = row.n ?? row.b ?? row.a;
  return el("div", { class: `row ${row.t}`, "data-n": ` ${number(shown)} ${SIGNS[row.t]} ` }, textOf(row));
};

const leftNode = ({ left: [lines, size] }) =>
  el("div", { class: "row left" }, `${plural(lines, "line")} (${bytes(size)}) are too many for this page: hydra diff LANE ${ON_RUN} shows them`);

const rowNode = (row) => {
  if (row.t === "head") return headNode(row);
  if (row.t === "heads") return el("div", { class: "both" }, headNode(row.l), headNode(row.r));
  if (row.t === "left") return leftNode(row);
  if (row.t === "pair") return el("div", { class: "both" }, sideNode(row.l), sideNode(row.r));
  return lineNode(row);
};

// Colours a chunk's rows, each side as one text, so that a string over several lines is seen as one.
const colour = (rows, language) => {
  const sides = rows[0] && rows.some((row) => row.t === "pair")
    ? [rows.map((row) => row.l), rows.map((row) => row.r)]
    : [rows.filter((row) => row.t !== "add"), rows.filter((row) => row.t !== "del")];
  for (const side of sides) {
    const lines = side.filter((row) => row && ["add", "del", "ctx"].includes(row.t));
    const found = lines.length ? coloured(lines.map((row) => row.s), language) : null;
    if (!found) continue;
    lines.forEach((row, at) => {
      if (row.s.length <= LONG_LINE) row.p = found[at];
    });
  }
};

let watching = null;
let turn = 0;

const drawRows = (holder, rows, language, wide) => {
  if (watching) watching.disconnect();
  turn += 1;
  const mine = turn;
  const chunks = [];
  for (let at = 0; at < rows.length; at += CHUNK) {
    const node = el("div", { class: "chunk" });
    const size = Math.min(CHUNK, rows.length - at);
    node.style.minHeight = `${size * LINE}px`;
    chunks.push({ node, from: at, to: at + size, drawn: false });
  }
  const fill = (chunk) => {
    if (chunk.drawn) return;
    chunk.drawn = true;
    digits = wide;
    const some = rows.slice(chunk.from, chunk.to);
    colour(some, language);
    chunk.node.append(...some.map(rowNode));
    chunk.node.style.minHeight = "";
    refreshPicks(chunk.node);
  };
  watching = new IntersectionObserver(
    (seen) => {
      for (const one of seen) if (one.isIntersecting) fill(chunks[Number(one.target.dataset.chunk)]);
    },
    { rootMargin: "1500px 0px" },
  );
  chunks.forEach((chunk, at) => {
    chunk.node.dataset.chunk = String(at);
    watching.observe(chunk.node);
  });
  chunks.slice(0, 1).forEach(fill);
  holder.replaceChildren(...chunks.map((chunk) => chunk.node));
  const next = () => {
    if (mine !== turn) return;
    const chunk = chunks.find((one) => !one.drawn);
    if (!chunk || chunk.from > IDLE_MOST) return;
    fill(chunk);
    whenIdle(next);
  };
  whenIdle(next);
  return { chunks, fill };
};

// Cells that the longest line needs, so that the chunks are as wide as it.
const widest = (rows) => {
  let most = 40;
  for (const row of rows) {
    if (row.s === undefined) continue;
    let cells = Math.min(row.s.length, CUT);
    for (let at = 0; at < cells && at < row.s.length; at += 1) {
      const code = row.s.charCodeAt(at);
      if (code === 9) most = Math.max(most, (cells += 3));
      else if (code > 0x10ff) cells += 1;
      if (cells > 2 * CUT) break;
    }
    most = Math.max(most, cells + (row.s.length > CUT ? 50 : 0));
  }
  return Math.min(most, 2 * CUT) + 18;
};
