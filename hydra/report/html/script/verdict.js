// The verdict: the answer and why, the patch to land beneath it, the lanes beside that. All else is folded.
const fold = (title, ...children) => el("details", { class: "fold" }, el("summary", {}, title), ...children);

const answer = () => {
  const { says, why, help, lines } = DATA.opening;
  return el(
    "div",
    { class: "hero" },
    el("p", { class: "task" }, VERDICT.title),
    el("h1", {}, says),
    why ? el("p", { class: "why" }, why) : null,
    help ? el("p", { class: "muted" }, help) : null,
    lines.map((line) => copyable(line, "The line that lands it")),
    DATA.problems.map((text) => el("p", { class: "warn" }, text)),
  );
};

const laneButton = (lane) =>
  el(
    "li",
    {},
    button(
      [
        el("span", { class: "rank" }, unseen("rank "), lane.place),
        el("strong", {}, lane.name),
        el("span", { class: `pill ${lane.style}` }, lane.word),
        hasPatch(lane) ? el("span", { class: "size" }, plusMinus(lane.patch.insertions, lane.patch.deletions)) : null,
        lane.line ? el("span", { class: "why" }, lane.line) : null,
      ],
      () => showPatch(lane),
      { class: "lane", id: `lane-${lane.index}`, "aria-pressed": "false" },
    ),
  );

const hasPatch = (lane) => Boolean(lane.patch && lane.patch.files);

// Rows of a patch that are drawn here, and files that are named beyond them; Changes has all.
const PATCH_ROWS = 400;
const PATCH_NAMES = 12;

// What a person wrote comes before what a tool makes.
const byHand = (files) => [...files.filter((file) => !file.flags.length), ...files.filter((file) => file.flags.length)];

const patchRows = (file, rows) => {
  colour(rows, file.language);
  digits = gutterDigits(rows);
  // On a phone what matters of a line is often its end, and that would be out of sight.
  const narrow = matchMedia("(max-width: 600px)").matches;
  const drawn = el("div", { class: `rows unified ${narrow ? "wrap" : ""}` }, rows.map((row) =>
    row.t === "head" ? el("div", { class: "head" }, row.hunk.head) : rowNode(row)));
  drawn.style.setProperty("--gutter", `${2 * digits + 5}ch`);
  if (!narrow) drawn.style.minWidth = `${widest(rows)}ch`;
  return drawn;
};

const patchFiles = (lane) => {
  let room = PATCH_ROWS;
  let names = PATCH_NAMES;
  const files = byHand(filesOf(lane.index));
  const drawn = files.flatMap((file) => {
    if (room <= 0 && --names < 0) return [];
    const all = room > 0 ? unifiedRows(file.index, lane.index) : [];
    const rows = all.slice(0, room);
    room -= rows.length;
    const more = all.length - rows.length;
    const size = file.flags.includes("binary") ? "binary" : plusMinus(...file.lanes[lane.index].slice(1));
    return [[
      el("h3", {}, button(file.path, () => goTo(file.index, lane.index), { class: "link" }), " ", el("small", {}, size)),
      rows.length > 1 ? scrollable(`${file.path}: ${lane.name} against the base`, patchRows(file, rows), "diff") : null,
      more > 0 ? el("p", { class: "muted" }, `${plural(more, "more row")} under Changes`) : null,
    ]];
  });
  const rest = files.length - drawn.length;
  return [drawn, rest ? el("p", { class: "muted" }, `${plural(rest, "more file")} under Changes`) : null];
};

const showPatch = (lane) => {
  for (const one of document.querySelectorAll(".lane")) one.setAttribute("aria-pressed", String(one.id === `lane-${lane.index}`));
  const files = filesOf(lane.index);
  const title = lane.plan ? `The plan of ${lane.name}` : files.length ? `What ${lane.name} changes` : lane.name;
  const nothing = files.length || lane.plan ? "" : `${lane.name}: ${lane.problem || "it left no patch"}`;
  $("patch").replaceChildren(...[
    el("h2", {}, title),
    lane.plan ? scrollable(title, lane.plan, "plan") : null,
    nothing ? el("p", { class: "muted" }, nothing) : null,
    ...patchFiles(lane).flat(Infinity),
  ].filter(Boolean));
};

const sure = () => (DATA.opening.sure ? fold("How sure", el("p", {}, DATA.opening.sure)) : null);

const fact = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value));

// What its agent told, else what Hydra reckons from its tokens, marked so.
const spent = (lane) => {
  const told = (lane.usage || {}).cost_usd;
  const reckoned = (lane.usage_estimate || {}).cost_usd;
  return known(told) || !known(reckoned) ? cost(told) : `~${cost(reckoned)}`;
};

const laneFacts = (lane) => {
  const patch = lane.patch || {};
  const usage = lane.usage || {};
  const checks = list(lane.checks).slice(0, 4).map((check) =>
    fact(check.check, el("span", { class: check.status === "passed" ? signFor(lane, "", "good")[1] : "bad" }, check.says)));
  const more = list(lane.checks).length - checks.length;
  return el(
    "dl",
    { class: "facts" },
    checks,
    more > 0 ? fact("checks", `${more} more`) : null,
    fact("lines", hasPatch(lane) ? plusMinus(patch.insertions, patch.deletions) : "none"),
    fact("files", hasPatch(lane) ? count(patch.files) : "none"),
    fact("time", duration(lane.seconds)),
    fact("cost", spent(lane)),
    fact("tokens in", tokens(usage.input_tokens)),
    fact("of these cached", tokens(usage.cached_tokens)),
    fact("tokens out", tokens(usage.output_tokens)),
  );
};

const placeLink = (reason) => {
  const file = reason.path && fileNamed(reason.path);
  const text = `${reason.path}${known(reason.line) ? `:${reason.line}` : ""}`;
  if (!reason.path) return null;
  if (!file) return el("span", { class: "evidence" }, text);
  return button(text, () => goTo(file.index), { class: "evidence link" });
};

// What a sentence is about, in a person's words.
const ABOUT = {
  base: "its checks",
  protected: "the base's tests",
  cross: "new tests",
  agreement: "other lanes",
  scope: "what it touches",
  unknown: "not known",
};

const reasonItem = (reason, gate, lane) =>
  el(
    "li",
    { class: gate ? "gate" : "reason" },
    el("span", { class: "kind" }, gate ? lane.word : own(ABOUT, reason.kind) || String(reason.kind).replaceAll("_", " ")),
    el("span", { class: "text" }, reason.text, " ", placeLink(reason), " ", evidence(reason.file)),
  );

const reasonList = (title, reasons, gate, lane) =>
  reasons.length
    ? [el("h4", {}, title), el("ul", { class: "reasons" }, reasons.map((one) => reasonItem(one, gate, lane)))]
    : [];

const protectedList = (lane) =>
  list(lane.protected).map((one) =>
    el("li", { class: "reason" }, el("span", { class: "kind" }, one.check), el("span", { class: "text" },
      `${one.says}, with the base's version of ${list(one.paths).join(", ") || "the tests"}`,
      " ", evidence(one.details))));

const remarkList = (lane) => {
  const told = list(lane.patch && lane.patch.remarks);
  const items = told.map((one) => ({ kind: one.kind, text: one.text, path: one.path }));
  return reasonList("Look at this before you land it", items, false);
};

const laneDetails = (lane) => {
  const shown = protectedList(lane);
  // A plan is no patch that changed nothing; what is to be looked at has a list of its own.
  const gates = lane.plan ? [] : list(lane.gates);
  const reasons = list(lane.reasons).filter((one) => one.kind !== "risk");
  return [
    el(
      "div",
      { class: "columns" },
      el(
        "div",
        {},
        reasonList("What speaks against it", gates, true, lane),
        reasonList("Why, the most important first", reasons, false),
        shown.length ? [el("h4", {}, "With the base's tests"), el("ul", { class: "reasons" }, shown)] : null,
        remarkList(lane),
        lane.message ? [el("h4", {}, "What it said last"), el("blockquote", {}, lane.message)] : null,
      ),
      el(
        "div",
        {},
        laneFacts(lane),
      ),
    ),
    el(
      "p",
      { class: "acts" },
      lane.problem ? el("span", { class: "muted" }, lane.problem) : null,
      filesOf(lane.index).length
        ? [
            button("See its changes", () => goTo(filesOf(lane.index)[0].index, lane.index)),
            button("Take all of it", () => togglePickLane(lane.index), { "data-pick-lane": lane.index, "aria-pressed": "false" }),
          ]
        : null,
      button("See its timeline", () => showTimeline(lane.name)),
    ),
  ];
};

const evidenceOf = (lane) => {
  const model = [lane.label || lane.adapter, lane.model].filter(Boolean).join(" \u00b7 ");
  const tied = list(lane.tied).length ? `tied with ${lane.tied.join(", ")}` : "";
  const details = fold([el("strong", {}, lane.name), el("span", { class: "muted" }, [` ${model}`, tied].filter(Boolean).join(", "))]);
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) {
      fill(details, laneDetails(lane));
      refreshPicks();
    }
  });
  return details;
};

const GROUPS = {
  identical: "the same patch, byte for byte",
  equivalent: "the same patch but for formatting, comments and the order of imports",
  alike: "pass and fail the same tests",
};

const sharedItem = (one) => {
  const file = fileNamed(one.path);
  const place = file ? button(one.path, () => goTo(file.index), { class: "link" }) : one.path;
  const who = `${list(one.lanes).length} of ${plural(LANES.filter(hasPatch).length, "patch", "patches")}`;
  return el("li", {}, `${who} changed `, one.name ? [el("code", {}, one.name), " in "] : null, place, el("span", { class: "muted" }, ` (${list(one.lanes).join(", ")})`));
};

const agreement = () => {
  const groups = list(VERDICT.groups).map((group) =>
    el("li", {}, el("strong", {}, list(group.lanes).join(", ")), `: ${own(GROUPS, group.kind) || group.kind}`));
  const shared = list(VERDICT.shared);
  const shown = shared.slice(0, 12).map(sharedItem);
  if (!groups.length && !shown.length) return null;
  const more = shared.slice(12);
  const rest = more.length ? fold(`${more.length} more`, el("ul", {}, more.slice(0, 500).map(sharedItem))) : null;
  return fold("Where lanes agree", el("ul", {}, groups, shown), rest);
};

const sentences = (title, texts) =>
  texts.length ? fold(title, el("ul", {}, texts.map((text) => el("li", {}, text)))) : null;

// Tests that an agent was asked for: the input that separates patches, and what each gives.
const separatingTest = (one) => {
  const gives = Object.entries(one.gives || {}).map(([lane, told]) =>
    el("tr", {}, el("th", { scope: "row" }, lane), el("td", {}, el("code", {}, String(told)))));
  return el(
    "li",
    {},
    el("strong", {}, one.id),
    one.source ? el("pre", { tabindex: 0, role: "region", "aria-label": `The test ${one.id}` }, one.source) : null,
    gives.length ? scrollable(`What each patch gives in ${one.id}`, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "lane"), el("th", { scope: "col" }, "gives"))), el("tbody", {}, gives))) : null,
  );
};

// What was asked and what came of it stands unfolded; beneath it the tests, and why the others count nothing.
const separated = () => {
  if (!DATA.opening.separated) return null;
  const { shown, tests, warnings } = VERDICT.separated;
  const others = list(tests).filter((test) => test && test.why).map((test) => `${test.id}: ${test.why}`);
  const said = [...others, ...list(warnings)].slice(0, 100).map((text) => el("li", {}, text));
  const telling = list(shown).filter(Boolean).slice(0, 20).map(separatingTest);
  return fold(DATA.opening.separated, el("ul", { class: "separated" }, telling, said));
};

const drawVerdict = () => {
  const reviews = list(VERDICT.notes).map((note) => sentences(`${note.reviewer} on the patches (it changes no rank)`,
    String(note.text).split("\n").filter((line) => line.trim())));
  const short = String(VERDICT.base || "").slice(0, 7);
  const named = VERDICT.base_name ? ` (${VERDICT.base_name})` : "";
  const warnings = list(VERDICT.warnings);
  const untried = list(VERDICT.not_tried).map((text) => text.replace(/^not tried: /, ""));
  fill(
    $("view-verdict"),
    answer(),
    el(
      "div",
      { class: "first" },
      el("div", { id: "patch" }),
      el("div", { class: "beside-it" }, el("h2", {}, plural(LANES.length, "lane")), el("ol", { class: "lanes" }, LANES.map(laneButton))),
    ),
    el("h2", {}, "Evidence"),
    LANES.map(evidenceOf),
    sure(),
    separated(),
    agreement(),
    sentences("What was not tried", untried),
    reviews,
    sentences(plural(warnings.length, "warning"), warnings),
    fold("Base and files", el("p", {}, `The base is ${short}${named}. Every file named here is in `, el("code", {}, VERDICT.folder), ".")),
  );
  const first = laneNamed(VERDICT.top) || LANES.find((lane) => lane.plan || filesOf(lane.index).length) || LANES[0];
  if (first) showPatch(first);
};
