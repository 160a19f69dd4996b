// The verdict: one sentence, how sure, and the lanes in the order of their ranks.
const confidenceBlock = (told) => {
  const share = known(told.share)
    ? [
        el("meter", { min: 0, max: 1, value: told.share, "aria-label": "Confidence" }),
        el("p", { class: "share" }, `A winner like this one was right in ${percent(told.share)} of the measured cases.`),
      ]
    : el("p", { class: "share" }, "Not measured for a case like this one.");
  return el(
    "div",
    { class: "confidence" },
    el("h2", {}, "Confidence"),
    el("p", { class: "word" }, told.word || "unknown", known(told.share) ? el("span", {}, percent(told.share)) : null),
    share,
    told.why ? el("p", { class: "muted" }, told.why) : null,
  );
};

const landing = () => {
  const top = laneNamed(VERDICT.top);
  if (top) return copyable(`hydra merge ${top.arg} ${ON_RUN}`, "The line that lands it");
  const some = LANES.some((lane) => lane.mergeable);
  const why = some
    ? "No lane is ahead of the others: choose one below, or pick files and hunks under Changes."
    : "No lane is mergeable as it is. What is good in them can be picked under Changes.";
  return el("p", { class: "muted" }, why);
};

const hero = () => {
  const short = String(VERDICT.base || "").slice(0, 7);
  const named = VERDICT.base_name ? ` (${VERDICT.base_name})` : "";
  return el(
    "div",
    { class: "hero" },
    el(
      "div",
      { class: "main" },
      el("p", { class: "task" }, VERDICT.title),
      el("h1", {}, VERDICT.says),
      landing(),
      el(
        "p",
        { class: "facts-line" },
        [`base ${short}${named}`, plural(LANES.length, "lane"), `${count(VERDICT.mergeable)} mergeable`]
          .map((text) => el("span", {}, text)),
      ),
    ),
    confidenceBlock(VERDICT.confidence || {}),
  );
};

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
    fact(check.check, el("span", { class: `says ${check.status === "passed" ? "good" : "bad"}` }, check.says)));
  const more = list(lane.checks).length - checks.length;
  return el(
    "dl",
    { class: "facts" },
    checks,
    more > 0 ? fact("checks", `${more} more`) : null,
    fact("lines", lane.patch ? plusMinus(patch.insertions, patch.deletions) : "none"),
    fact("files", lane.patch ? count(patch.files) : "none"),
    fact("tokens", tokens(sum(usage.input_tokens, usage.output_tokens))),
    fact("cost", spent(lane)),
    fact("time", duration(lane.seconds)),
  );
};

const placeLink = (reason) => {
  const file = reason.path && fileNamed(reason.path);
  const text = `${reason.path}${known(reason.line) ? `:${reason.line}` : ""}`;
  if (!reason.path) return null;
  if (!file) return el("span", { class: "evidence" }, text);
  return button(text, () => goTo(file.index), { class: "evidence link" });
};

const reasonItem = (reason, gate) =>
  el(
    "li",
    { class: gate ? "gate" : "reason" },
    el("span", { class: "kind" }, String(reason.kind).replaceAll("_", " ")),
    el("span", { class: "text" }, reason.text, " ", placeLink(reason), " ", evidence(reason.file)),
  );

const reasonList = (title, reasons, gate) =>
  reasons.length
    ? [el("h4", {}, title), el("ul", { class: "reasons" }, reasons.map((one) => reasonItem(one, gate)))]
    : [];

const scoreTable = (score) => {
  if (!score || !list(score.dimensions).length) return null;
  const rows = list(score.dimensions).map((one) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, one.name),
      el("td", { class: "number" }, count(one.weight)),
      el("td", { class: "number" }, known(one.value) ? one.value.toFixed(1) : "?"),
      el("td", { class: "formula" }, one.formula),
    ));
  const head = ["part", "weight", "value", "how"].map((name) => el("th", { scope: "col" }, name));
  return el(
    "div",
    { class: "score" },
    el("h4", {}, "Score ", el("span", { class: "total" }, known(score.total) ? score.total.toFixed(1) : "?"), el("span", { class: "muted" }, " of 100; shown beside the rank, which does not follow it")),
    scrollable("Score", el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))),
  );
};

const protectedList = (lane) =>
  list(lane.protected).map((one) =>
    el("li", { class: "reason" }, el("span", { class: "kind" }, "protected"), el("span", { class: "text" },
      `${one.check}: ${one.says}, with the base's own ${list(one.paths).join(", ") || "tests"} put back`,
      " ", evidence(one.details))));

const remarkList = (lane) => {
  const told = list(lane.patch && lane.patch.remarks);
  const notes = list(VERDICT.notes).filter((note) => note.lane === lane.name);
  const items = told.map((one) => ({ kind: one.kind, text: one.text, path: one.path }));
  const said = notes.map((one) => ({ kind: `remark by ${one.reviewer}`, text: one.text, path: one.path }));
  return reasonList("Remarks, which weigh nothing", [...items, ...said], false);
};

const laneDetails = (lane) => {
  const usage = lane.usage || {};
  const shown = protectedList(lane);
  return [
    el(
      "div",
      { class: "columns" },
      el(
        "div",
        {},
        reasonList("Why it is not mergeable", list(lane.gates), true),
        reasonList("Reasons, the weightiest first", list(lane.reasons), false),
        shown.length ? [el("h4", {}, "With the base's tests"), el("ul", { class: "reasons" }, shown)] : null,
        remarkList(lane),
        lane.message ? [el("h4", {}, "What it said last"), el("blockquote", {}, lane.message)] : null,
      ),
      el(
        "div",
        {},
        scoreTable(lane.score),
        el("h4", {}, "Spent"),
        el(
          "dl",
          { class: "facts" },
          fact("tokens in", tokens(usage.input_tokens)),
          fact("of these cached", tokens(usage.cached_tokens)),
          fact("tokens out", tokens(usage.output_tokens)),
          fact("cost", spent(lane)),
        ),
        known(lane.chance) ? [el("h4", {}, "Chance by the tests of all lanes"), el("p", {}, `${chanceOf(lane.chance)}: what the tests say by themselves. How often such a winner was right is the confidence.`)] : null,
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

const laneCard = (lane, openAtFirst) => {
  const details = el("details", {}, el("summary", {}, "Reasons and evidence"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) {
      fill(details, laneDetails(lane));
      refreshPicks();
    }
  });
  details.open = openAtFirst;
  const model = [lane.label || lane.adapter, lane.model].filter(Boolean).join(" \u00b7 ");
  const tied = list(lane.tied).length ? `tied with ${lane.tied.join(", ")}` : "";
  const status = lane.status && lane.status !== "completed" ? lane.status.replaceAll("_", " ") : "";
  return el(
    "li",
    { class: `lane ${lane.mergeable ? "yes" : "no"}`, id: `lane-${lane.index}`, tabindex: -1 },
    el("div", { class: "rank" }, el("span", { class: "unseen" }, "rank "), known(lane.rank) ? lane.rank : "\u2013"),
    el(
      "div",
      { class: "body" },
      el(
        "div",
        { class: "name" },
        el("h3", {}, lane.name),
        el("span", { class: "pill" }, lane.mergeable ? "\u2713 " : "\u2715 ", MERGEABLE(lane)),
        tied ? el("span", { class: "pill tie" }, "= ", tied) : null,
        status ? el("span", { class: "pill tie" }, status) : null,
        el("span", { class: "muted" }, model),
      ),
      el("p", { class: "why" }, lane.why),
      laneFacts(lane),
      details,
    ),
  );
};

const GROUPS = {
  identical: "the same patch, byte for byte",
  equivalent: "the same patch but for formatting, comments and the order of imports",
  alike: "pass and fail the same tests",
};

const sharedItem = (one) => {
  const file = fileNamed(one.path);
  const place = file ? button(one.path, () => goTo(file.index), { class: "link" }) : one.path;
  const who = `${list(one.lanes).length} of ${LANES.length} lanes`;
  return el("li", {}, `${who} changed `, one.name ? [el("code", {}, one.name), " in "] : null, place, el("span", { class: "muted" }, ` (${list(one.lanes).join(", ")})`));
};

const agreement = () => {
  const groups = list(VERDICT.groups).map((group) =>
    el("li", {}, el("strong", {}, list(group.lanes).join(", ")), `: ${own(GROUPS, group.kind) || group.kind}`));
  const shared = list(VERDICT.shared);
  const shown = shared.slice(0, 12).map(sharedItem);
  if (!groups.length && !shown.length) return null;
  const more = shared.slice(12);
  const rest = more.length
    ? el("details", {}, el("summary", {}, `${more.length} more`), el("ul", {}, more.slice(0, 500).map(sharedItem)))
    : null;
  return el("div", { class: "panel" }, el("h2", {}, "Where lanes agree"), el("ul", {}, groups, shown), rest);
};

const sentences = (title, texts) =>
  texts.length ? el("div", { class: "panel" }, el("h2", {}, title), el("ul", {}, texts.map((text) => el("li", {}, text)))) : null;

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

const separated = () => {
  const told = VERDICT.separated;
  const tests = list(told && told.tests);
  if (!tests.length) return null;
  const shown = list(told.shown);
  const says = shown.length
    ? `${count(shown.length)} of ${plural(tests.length, "test")} that ${told.agent} wrote tell patches apart.`
    : `${plural(tests.length, "test")} of ${told.agent}'s: none tells the leading patches apart.`;
  return el("div", { class: "panel wide separated" }, el("h2", {}, "What tells the leading lanes apart"), el("p", {}, says), el("ul", {}, shown.slice(0, 20).map(separatingTest)));
};

const drawVerdict = () => {
  const notes = list(VERDICT.notes).filter((note) => !laneNamed(note.lane)).map((note) => note.text);
  fill(
    $("view-verdict"),
    hero(),
    el("h2", { class: "heading" }, "Lanes"),
    el("ol", { class: "lanes" }, LANES.map((lane, at) => laneCard(lane, at === 0 && LANES.length < 9))),
    el(
      "div",
      { class: "panels" },
      separated(),
      agreement(),
      sentences("What was not tried", list(VERDICT.not_tried)),
      sentences("Remarks", notes),
      sentences("Warnings", [...list(VERDICT.warnings), ...DATA.problems]),
    ),
    VERDICT.folder ? el("p", { class: "folder muted" }, "Every file named here lies in ", el("code", {}, VERDICT.folder), ".") : null,
  );
};
