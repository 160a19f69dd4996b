// Colours for lines of code, as pieces of text with a class of ours: the library's tree of tokens is
// walked, its HTML never used. What is long, or has taken long before, is left plain.
const LONG_LINE = 400;
const LONG_TEXT = 60_000;
const SLOW = 400;
const CLASSES = {
  keyword: "k", built_in: "b", type: "b", literal: "n", number: "n", string: "s", regexp: "s", subst: "",
  comment: "c", doctag: "c", quote: "c", meta: "m", title: "f", section: "f", attr: "a", attribute: "a",
  property: "a", variable: "a", name: "k", tag: "", selector: "f", symbol: "n", link: "s", bullet: "n",
};
const slow = new Set();

const walk = (node, style, pieces) => {
  if (typeof node === "string") {
    pieces.push([node, style]);
    return;
  }
  const scope = String(node.scope || "").split(/[.-]/)[0];
  const mine = own(CLASSES, scope) ?? style;
  for (const child of node.children) walk(child, mine, pieces);
};

// [[text, class], ...] for each line; null where the text did not come back as it went in.
const coloured = (lines, language) => {
  const text = lines.map((line) => (line.length > LONG_LINE ? "" : line)).join("\n");
  if (!language || slow.has(language) || text.length > LONG_TEXT || !hljs.getLanguage(language)) return null;
  const began = performance.now();
  const pieces = [];
  walk(hljs.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode, "", pieces);
  if (performance.now() - began > SLOW) slow.add(language);
  if (pieces.map(([piece]) => piece).join("") !== text) return null;
  const found = [[]];
  for (const [piece, style] of pieces) {
    piece.split("\n").forEach((part, at) => {
      if (at) found.push([]);
      if (part) found.at(-1).push([part, style]);
    });
  }
  return found;
};

// Pieces of one line, with the part from..to marked as what changed in it.
const marked = (pieces, [from, to]) => {
  let at = 0;
  return pieces.flatMap(([text, style]) => {
    const start = at;
    at += text.length;
    const cuts = [0, from - start, to - start, text.length].map((cut) => Math.min(text.length, Math.max(0, cut)));
    return [0, 1, 2]
      .map((part) => [text.slice(cuts[part], cuts[part + 1]), part === 1 ? `${style} changed` : style])
      .filter(([piece]) => piece);
  });
};

// Where two versions of a line differ: [from, to] in each, or null where they have little in common.
const differing = (one, other) => {
  if (one.length > LONG_LINE || other.length > LONG_LINE) return null;
  const most = Math.min(one.length, other.length);
  let front = 0;
  while (front < most && one[front] === other[front]) front += 1;
  let back = 0;
  while (back < most - front && one.at(-1 - back) === other.at(-1 - back)) back += 1;
  const common = one.slice(0, front).trim().length + one.slice(one.length - back).trim().length;
  if (common * 3 < most) return null;
  return [[front, one.length - back], [front, other.length - back]];
};
