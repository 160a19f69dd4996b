// The files that any lane touches, in their folders, and who touched what.
const TREE_FIRST = 1_500;
let filter = "";
let filterLane = -1;
let shownFiles = [];

const WORD = { added: "A", modified: "M", deleted: "D" };

const fitting = () => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return FILES.filter((file) => (filterLane < 0 || file.by.includes(filterLane)) && words.every((word) => file.path.toLowerCase().includes(word)));
};

const marksOf = (file) =>
  el(
    "span",
    { class: "marks", "aria-hidden": "true" },
    LANES.length <= 8
      ? LANES.map((lane) => {
          const told = own(file.lanes, lane.index);
          return el("span", { class: told ? `mark ${told[0]}` : "mark none", "data-mark": `${lane.index} ${file.index}`, title: told ? `${lane.name}: ${told[0]}` : `${lane.name}: not touched` }, told ? WORD[told[0]] : "\u00b7");
        })
      : el("span", { class: "mark many" }, `${file.by.length}/${LANES.length}`),
  );

const fileRow = (file, depth) => {
  const name = file.path.split("/").at(-1);
  const who = file.by.map((lane) => LANES[lane].name).join(", ");
  const row = button(
    [el("span", { class: "file" }, name), el("span", { class: "unseen" }, `, touched by ${who}`), el("span", { class: "taken", "aria-hidden": "true" }), marksOf(file)],
    () => openFile(file.index),
    { class: "entry", "data-open": file.index, title: `${file.path}: ${who}` },
  );
  row.style.paddingInlineStart = `${0.5 + depth * 0.8}rem`;
  return el("li", {}, row);
};

// Folders that hold nothing but one folder are one line with it.
const nest = (files) => {
  const root = { folders: new Map(), files: [] };
  for (const file of files) {
    let at = root;
    for (const part of file.path.split("/").slice(0, -1)) {
      if (!at.folders.has(part)) at.folders.set(part, { folders: new Map(), files: [] });
      at = at.folders.get(part);
    }
    at.files.push(file);
  }
  return root;
};

const treeRows = (node, depth) => {
  const rows = [];
  for (const [part, below] of node.folders) {
    let [name, at] = [part, below];
    while (!at.files.length && at.folders.size === 1) {
      const [[next, only]] = at.folders;
      [name, at] = [`${name}/${next}`, only];
    }
    const folder = el("span", { class: "folder" }, `${name}/`);
    folder.style.paddingInlineStart = `${0.5 + depth * 0.8}rem`;
    rows.push(el("li", {}, folder, el("ul", {}, treeRows(at, depth + 1))));
  }
  return [...rows, ...node.files.map((file) => fileRow(file, depth))];
};

// In the order in which they stand in the tree: folders first.
const inOrder = (node) => [...[...node.folders.values()].flatMap(inOrder), ...node.files];

const drawTree = (all) => {
  const files = fitting();
  const nested = nest(all ? files : files.slice(0, TREE_FIRST));
  shownFiles = inOrder(nested).map((file) => file.index);
  const holder = $("tree");
  holder.replaceChildren(
    el("p", { class: "muted count", role: "status" }, files.length === FILES.length ? plural(files.length, "file") : `${count(files.length)} of ${plural(FILES.length, "file")}`),
    el("ul", { class: "tree" }, treeRows(nested, 0)),
  );
  if (!all && files.length > TREE_FIRST) {
    holder.append(button(`Show the other ${count(files.length - TREE_FIRST)}`, () => drawTree(true)));
  }
  refreshTree();
};

const refreshTree = () => {
  const tree = $("tree");
  if (!tree) return;
  for (const entry of tree.querySelectorAll("[data-open]")) {
    const file = Number(entry.dataset.open);
    const taken = FILES[file].by.filter((lane) => picked(lane, file));
    entry.toggleAttribute("aria-current", false);
    if (file === shownFile()) entry.setAttribute("aria-current", "true");
    entry.querySelector(".taken").textContent = taken.length ? "\u2713" : "";
    for (const mark of entry.querySelectorAll("[data-mark]")) {
      mark.classList.toggle("picked", Boolean(picked(Number(mark.dataset.mark.split(" ")[0]), file)));
    }
  }
};

const laneLegend = () =>
  LANES.length <= 8
    ? el("p", { class: "marks-head muted", "aria-hidden": "true" }, el("span", { class: "who" }, LANES.map((lane) => el("span", {}, `${lane.index + 1} ${lane.name}`))), el("span", { class: "marks" }, LANES.map((lane) => el("span", { class: "mark", title: lane.name }, lane.index + 1))))
    : null;

const treePane = () => {
  const search = el("input", {
    type: "search",
    id: "filter",
    placeholder: "Filter files  /",
    "aria-label": "Filter files by their path",
    on: {
      input: () => {
        filter = search.value;
        drawTree(false);
      },
    },
  });
  const lanes = el(
    "select",
    {
      "aria-label": "Files touched by",
      on: {
        change: () => {
          filterLane = Number(lanes.value);
          drawTree(false);
        },
      },
    },
    el("option", { value: -1 }, "any lane"),
    LANES.map((lane) => el("option", { value: lane.index }, lane.name)),
  );
  return el("nav", { class: "side", "aria-label": "Files" }, el("div", { class: "filters" }, search, lanes), laneLegend(), el("div", { id: "tree" }));
};
