// One file at a time: a lane against the base, unified or side by side, or two lanes beside each other.
const SHOWN = { file: -1, lane: -1, other: -1, split: false, wrap: false, drawn: null, hunk: -1, rows: [] };
const shownFile = () => SHOWN.file;

const openFile = (file, lane) => {
  SHOWN.file = file;
  show("changes");
  const by = FILES[file].by;
  if (lane !== undefined && by.includes(lane)) SHOWN.lane = lane;
  else if (!by.includes(SHOWN.lane)) SHOWN.lane = by[0];
  if (SHOWN.other === SHOWN.lane || !by.includes(SHOWN.other)) SHOWN.other = -1;
  drawFile();
  refreshTree();
};

// The tree is brought to where the file is: not when the view is drawn, since it costs a layout.
const findInTree = () => {
  const entry = document.querySelector(`[data-open="${SHOWN.file}"]`);
  if (entry) entry.scrollIntoView({ block: "nearest" });
};

const choose = (what) => {
  Object.assign(SHOWN, what);
  if (SHOWN.other === SHOWN.lane) SHOWN.other = -1;
  drawFile();
};

const pressed = (text, on, act, given) => button(text, act, { "aria-pressed": String(on), ...given });

const laneChoices = (file) =>
  el(
    "div",
    { class: "choices", role: "group", "aria-label": "Lane" },
    file.by.map((lane) => pressed([LANES[lane].name, el("small", {}, plusMinus(...file.lanes[lane].slice(1)))], lane === SHOWN.lane, () => choose({ lane }), { "data-choice": lane })),
  );

const besideChoice = (file) => {
  const select = el(
    "select",
    { id: "beside", on: { change: () => choose({ other: Number(select.value) }) } },
    el("option", { value: -1 }, "the base"),
    file.by.filter((lane) => lane !== SHOWN.lane).map((lane) => el("option", { value: lane, selected: lane === SHOWN.other }, LANES[lane].name)),
  );
  return el("label", { class: "beside" }, "against ", select);
};

const modeChoices = () =>
  el(
    "div",
    { class: "choices", role: "group", "aria-label": "View" },
    pressed("Unified", !SHOWN.split && SHOWN.other < 0, () => choose({ split: false, other: -1 })),
    pressed("Side by side", SHOWN.split || SHOWN.other >= 0, () => choose({ split: true })),
    pressed("Wrap", SHOWN.wrap, () => choose({ wrap: !SHOWN.wrap })),
  );

const fileBox = (lane, file) =>
  el(
    "label",
    { class: "pick whole" },
    el("input", { type: "checkbox", "data-file": `${lane} ${file.index}`, on: { change: () => togglePickFile(lane, file.index) } }),
    `Take this file from ${LANES[lane].name}`,
  );

const factsOf = (file) => {
  const moved = own(file.moved, SHOWN.lane);
  const [status] = file.lanes[SHOWN.lane];
  const away = status === "deleted" ? "moved to" : "moved from";
  return [status, ...file.flags, moved === undefined ? "" : `${away} ${FILES[moved].path}; a pick takes both`].filter(Boolean);
};

const fileHead = (file) =>
  el(
    "div",
    { class: "file-head" },
    el("h2", {}, file.path),
    el("p", { class: "muted" }, factsOf(file).join(" \u00b7 "), file.by.length > 1 ? "" : ` \u00b7 no other lane touches it`),
    el("div", { class: "toolbar" }, laneChoices(file), besideChoice(file), modeChoices()),
    el("div", { class: "takes" }, fileBox(SHOWN.lane, file), SHOWN.other >= 0 ? fileBox(SHOWN.other, file) : null),
  );

const rowsOf = (file) => {
  if (SHOWN.other >= 0) return lanesRows(file, SHOWN.lane, SHOWN.other);
  return SHOWN.split ? splitRows(file, SHOWN.lane) : unifiedRows(file, SHOWN.lane);
};

const NOTHING = "There are no lines to show: it is empty, binary, or changed in its mode alone.";

const drawFile = () => {
  const file = FILES[SHOWN.file];
  const beside = SHOWN.split || SHOWN.other >= 0;
  SHOWN.rows = rowsOf(file.index);
  SHOWN.hunk = -1;
  const digits = gutterDigits(SHOWN.rows);
  const rows = el("div", { class: `rows ${beside ? "pairs" : "unified"} ${SHOWN.wrap || beside ? "wrap" : ""}` });
  rows.style.setProperty("--gutter", `${beside ? digits + 4 : 2 * digits + 5}ch`);
  if (!beside && !SHOWN.wrap) rows.style.minWidth = `${widest(SHOWN.rows)}ch`;
  const against = SHOWN.other < 0 ? "the base" : LANES[SHOWN.other].name;
  const names = beside && el("div", { class: "both names", "aria-hidden": "true" }, SHOWN.other < 0 ? [el("div", {}, "base"), el("div", {}, LANES[SHOWN.lane].name)] : [SHOWN.lane, SHOWN.other].map((lane) => el("div", {}, LANES[lane].name)));
  const nothing = SHOWN.rows.every((row) => ["head", "heads"].includes(row.t));
  const label = `${file.path}: ${LANES[SHOWN.lane].name} against ${against}`;
  const pane = scrollable(label, [names, rows, nothing ? el("p", { class: "muted nothing" }, NOTHING) : null], "diff");
  SHOWN.drawn = drawRows(rows, SHOWN.rows, file.language, digits);
  $("file").replaceChildren(fileHead(file), pane);
  refreshPicks($("file"));
};

const hunkPlaces = () => SHOWN.rows.flatMap((row, at) => (row.t === "head" || row.t === "heads" ? [at] : []));

const goHunk = (by) => {
  const places = hunkPlaces();
  if (!places.length) return;
  SHOWN.hunk = Math.max(0, Math.min(places.length - 1, SHOWN.hunk + by));
  const at = places[SHOWN.hunk];
  const chunk = SHOWN.drawn.chunks.find((one) => at < one.to);
  SHOWN.drawn.fill(chunk);
  const head = chunk.node.children[at - chunk.from];
  const focused = head.matches(".head") ? head : head.querySelector(".head:not(.none)");
  focused.focus({ preventScroll: true });
  head.scrollIntoView({ block: "center" });
};

const tickHere = () => {
  const head = document.activeElement && document.activeElement.closest(".head");
  const box = (head && head.querySelector("input")) || $("file").querySelector("input[data-file]");
  if (box) box.click();
};

// From another view.
const goTo = (file, lane) => {
  openFile(file, lane);
  whenIdle(findInTree);
};

const goFile = (by) => {
  if (!shownFiles.length) return;
  const at = shownFiles.indexOf(SHOWN.file);
  openFile(shownFiles[Math.max(0, Math.min(shownFiles.length - 1, at + by))]);
  findInTree();
};

// Of the best lane's files the one that most lanes touch.
const firstFile = () => {
  const lane = LANES.find((one) => filesOf(one.index).length).index;
  const mine = shownFiles.filter((file) => FILES[file].by.includes(lane));
  return mine.reduce((best, file) => (FILES[file].by.length > FILES[best].by.length ? file : best), mine[0]);
};

const drawChanges = () => {
  if (!FILES.length) {
    fill($("view-changes"), el("h1", {}, "Changes"), el("p", { class: "muted" }, "No lane left a patch."), el("ul", {}, LANES.filter((lane) => lane.problem).map((lane) => el("li", {}, `${lane.name}: ${lane.problem}`))));
    return;
  }
  fill($("view-changes"), el("h1", { class: "unseen" }, "Changes"), treePane(), el("div", { id: "file" }));
  drawTree(false);
  if (SHOWN.file < 0) goTo(firstFile());
};
