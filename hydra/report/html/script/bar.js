// The bar of picks: how many, the line to copy, and what stands against it. Every tick in the page
// shows the same state.
const tally = () => {
  let [files, hunks] = [0, 0];
  for (const held of PICKS.values()) {
    for (const value of held.values()) {
      if (value === "all") files += 1;
      else hunks += value.size;
    }
  }
  const told = [files ? plural(files, "file") : "", hunks ? plural(hunks, "hunk") : ""].filter(Boolean).join(" and ");
  return `${told} of ${plural(PICKS.size, "lane")}`;
};

const gated = () => {
  const against = [...PICKS.keys()].map((lane) => LANES[lane]).filter((lane) => lane.style === "bad");
  return against.length ? el("p", { class: "muted" }, `${against.map((lane) => `${lane.name}: ${lane.word}`).join("; ")}. Look at what you take.`) : null;
};

const picksChanged = () => {
  const bar = $("picks");
  bar.hidden = PICKS.size === 0;
  document.body.classList.toggle("picking", PICKS.size > 0);
  bar.replaceChildren();
  if (PICKS.size) {
    fill(
      bar,
      el("div", { class: "summary" }, el("strong", {}, tally()), button("Clear", clearPicks, { class: "quiet" })),
      gated(),
      copyable(mergeLine(), "The line that lands these picks"),
      el("p", { class: "muted where" }, VERDICT.repository ? ["in ", el("code", {}, VERDICT.repository), "; add ", el("code", {}, "--dry-run"), " to look first"] : null),
    );
    say(tally());
  } else say("No picks");
  refreshPicks();
};

const clearPicks = () => {
  PICKS.clear();
  picksChanged();
};

const refreshPicks = (within) => {
  const root = within || document;
  const file = shownFile();
  for (const box of root.querySelectorAll("input[data-hunk]")) {
    const [lane, at] = box.dataset.hunk.split(" ").map(Number);
    box.checked = pickedHunk(lane, file, at);
  }
  for (const box of root.querySelectorAll("input[data-file]")) {
    const [lane, of] = box.dataset.file.split(" ").map(Number);
    const held = picked(lane, of);
    box.checked = held === "all";
    box.indeterminate = Boolean(held) && held !== "all";
  }
  for (const one of root.querySelectorAll("[data-pick-lane]")) {
    one.setAttribute("aria-pressed", String(wholeLane(Number(one.dataset.pickLane))));
  }
  if (!within) refreshTree();
};
