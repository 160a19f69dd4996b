// The keyboard. A letter alone is a shortcut, unless one types or has turned them off.
const SHORTCUTS = [
  ["1 2 3 4", "Verdict, Changes, Tests, Timeline"],
  ["j k", "next, previous file (in Verdict and Timeline: lane)"],
  ["n p", "next, previous hunk"],
  ["x", "tick the hunk in focus, or the file"],
  ["u s", "unified, side by side"],
  ["o", "the same against the next lane, or the base"],
  ["l", "the same file of the next lane"],
  ["w", "wrap long lines"],
  ["/", "filter files"],
  ["c", "copy the line of the picks"],
  ["t", "dark, light, or as the system has it"],
  ["?", "this help"],
  ["Esc", "close, or leave a field"],
];

let single = remember("keys") !== "off";

const helpBody = () => {
  const box = el("input", { type: "checkbox", on: { change: () => {
    single = box.checked;
    remember("keys", single ? "on" : "off");
  } } });
  box.checked = single;
  return [
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", {}, SHORTCUTS.map(([keys, what]) => el("div", {}, el("dt", {}, keys.split(" ").map((key) => [el("kbd", {}, key), " "])), el("dd", {}, what)))),
    el("p", {}, el("label", {}, box, " Shortcuts of one key")),
    el("p", { class: "muted" }, `Hydra ${DATA.hydra}. This page is one file and asks nobody for anything.`),
    button("Close", () => $("keys").close()),
  ];
};

const showHelp = () => {
  const dialog = $("keys");
  if (dialog.open) dialog.close();
  else {
    dialog.replaceChildren(...helpBody());
    dialog.showModal();
  }
};

const nextOf = (all, now, by) => all[(all.indexOf(now) + by + all.length) % all.length];

const goLane = (by) => {
  if (view === "timeline") {
    const names = TIMES.filter((one) => one.lane).map((one) => one.lane).sort((a, b) => rankOf(a) - rankOf(b));
    if (names.length) showTimeline(nextOf(names, eventLane, by));
    return;
  }
  const cards = [...document.querySelectorAll(".lane")];
  const now = cards.findIndex((card) => card.contains(document.activeElement));
  const card = cards[Math.max(0, Math.min(cards.length - 1, now + by))];
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
};

const inChanges = (act) => () => {
  if (view === "changes" && SHOWN.file >= 0) act();
};
const go = (by) => (view === "changes" ? goFile(by) : goLane(by));
const ACTS = {
  j: () => go(1),
  k: () => go(-1),
  n: inChanges(() => goHunk(1)),
  p: inChanges(() => goHunk(-1)),
  x: inChanges(tickHere),
  u: inChanges(() => choose({ split: false, other: -1 })),
  s: inChanges(() => choose({ split: true })),
  w: inChanges(() => choose({ wrap: !SHOWN.wrap })),
  l: inChanges(() => choose({ lane: nextOf(FILES[SHOWN.file].by, SHOWN.lane, 1) })),
  o: inChanges(() => choose({ other: nextOf([-1, ...FILES[SHOWN.file].by.filter((lane) => lane !== SHOWN.lane)], SHOWN.other, 1) })),
  c: () => document.querySelector("#picks .copyable button")?.click(),
  t: () => nextTheme(),
  "/": () => {
    show("changes");
    $("filter")?.focus();
  },
  "?": () => showHelp(),
};

const typing = (node) => node && (node.matches("select, textarea") || (node.matches("input") && node.type !== "checkbox"));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (typing(document.activeElement)) document.activeElement.blur();
    return;
  }
  if (typing(event.target) || $("keys").open && event.key !== "?") return;
  const number = VIEWS.findIndex((_, at) => event.key === String(at + 1));
  const act = number >= 0 ? () => show(VIEWS[number][0]) : own(ACTS, event.key);
  if (!act || (!single && event.key !== "?")) return;
  event.preventDefault();
  act();
});
