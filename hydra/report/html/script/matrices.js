// Tests: what the checks said on the base and on each patch, test by test, and the lanes' own tests
// on each other's patches. A sign never stands without its word.
const WORDS = {
  passed: ["\u2713", "good", "passes"],
  failed: ["\u2715", "bad", "fails"],
  fixed: ["\u2713", "good strong", "fixed"],
  broken: ["\u2715", "bad strong", "broken"],
  still_failing: ["\u2715", "bad", "still fails"],
  new: ["+", "good", "new, passes"],
  new_failing: ["+", "bad", "new, fails"],
  vanished: ["\u2205", "warn", "gone"],
  flaky: ["~", "warn", "flaky"],
  skipped: ["\u00bb", "warn", "skipped"],
  "not there": ["", "none", "not there"],
  "not run": ["\u2013", "none", "not run"],
  "not tried": ["\u00b7", "none", "not tried"],
  own: ["\u25c6", "own", "its own test"],
  unknown: ["?", "none", "unknown"],
};
const MOST = 300;

// What a lane that is held back passes by its own tests speaks for nothing, and is not green.
const signFor = (lane, sign, style) =>
  lane && lane.state === "held_back" && style.startsWith("good") ? ["!", "warn"] : [sign, style];

// What passes only by its lane's own version of it is no test that is fixed, whatever else is known.
const ownVersion = (lane, id) => Boolean(lane) && list(lane.own_version).includes(id);
const BY_OWN = "passes, by its own version of the test";

const cell = (word, file, extra, lane, id) => {
  const bent = word === "fixed" && ownVersion(lane, id);
  const [plainly, coloured, said] = bent ? ["!", "warn", BY_OWN] : own(WORDS, word) || ["?", "none", word];
  const [sign, style] = signFor(lane, plainly, coloured);
  const says = word === "fixed" && sign === "!" && !bent ? "passes" : said;
  const shown = [el("span", { class: "sign", "aria-hidden": "true" }, sign), el("span", { class: "said" }, says, extra ? ` ${extra}` : "")];
  const href = file && DATA.link ? `${DATA.link}/${String(file).split("/").map(encodeURIComponent).join("/")}` : null;
  const inside = href ? el("a", { href, target: "_blank", rel: "noreferrer", title: file }, shown) : shown;
  return el("td", { class: `cell ${style}` }, inside);
};

const laneHeads = (first) => [
  first.map((name) => el("th", { scope: "col" }, name)),
  LANES.map((lane) => el("th", { scope: "col", class: "cell" }, lane.name, lane.state === "held_back" ? el("small", {}, lane.word) : null)),
];

const table = (caption, head, rows) =>
  scrollable(
    caption,
    el("table", { class: "matrix" }, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)),
  );

const checkNames = () => [...new Set([VERDICT.baseline, ...LANES.map((lane) => lane.checks)].flatMap((checks) => list(checks).map((one) => one.check)))];
const checkOf = (checks, name) => list(checks).find((one) => one.check === name);

const COUNTED = ["fixed", "broken", "still_failing", "new", "new_failing", "vanished", "flaky"];

const checkCell = (check, lane) => {
  if (!check) return el("td", { class: "cell none" }, "not run");
  const counts = (check.comparison && check.comparison.counts) || {};
  // A lane that is held back fixed nothing, whatever its own tests say.
  const counted = COUNTED.filter((name) => own(counts, name) && !(name === "fixed" && lane && lane.state === "held_back"));
  const bent = list(check.comparison && check.comparison.fixed).filter((id) => ownVersion(lane, id));
  const fixed = (name) => counts[name] - (name === "fixed" ? bent.length : 0);
  const told = counted.filter(fixed).map((name) => `${count(fixed(name))} ${name.replaceAll("_", " ")}`);
  const [sign, style] = signFor(lane, ...own(WORDS, check.status === "passed" ? "passed" : "failed"));
  return el(
    "td",
    { class: `cell says ${style}` },
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    el("span", { class: "said" }, check.says),
    told.length ? el("small", {}, told.join(", ")) : null,
    el("small", {}, known(check.seconds) ? `${brief(check.seconds)} ` : null, evidence(check.details || check.output)),
  );
};

const protectedCell = (trials, name) => {
  const one = list(trials).find((trial) => trial.check === name);
  if (!one) return el("td", { class: "cell none" }, trials ? "none" : "");
  const told = { ...one, seconds: null };
  return checkCell(told);
};

const checksTable = () => {
  const names = checkNames();
  if (!names.length) return el("p", { class: "muted" }, "No checks were run: name one with --check.");
  const trials = [...new Set(LANES.flatMap((lane) => list(lane.protected).map((one) => one.check)))];
  const row = (name, checks, put, lane) =>
    el("tr", {}, el("th", { scope: "row" }, name, lane && lane.state === "held_back" ? el("small", {}, lane.word) : null), names.map((one) => checkCell(checkOf(checks, one), lane)), trials.map((one) => protectedCell(put, one)));
  const heads = [...names, ...trials.map((name) => `${name}, with the base's tests`)];
  return table(
    "What each check said",
    ["on", ...heads].map((name) => el("th", { scope: "col" }, name)),
    [row("the base", VERDICT.baseline, null), LANES.map((lane) => row(lane.name, lane.checks, lane.protected, lane))],
  );
};

// Tests that do not simply pass everywhere: how each stands on each lane, as far as the page knows.
const told = (check) => {
  const found = new Map();
  const comparison = (check && check.comparison) || {};
  for (const name of [...COUNTED, "skipped", "unknown"]) {
    for (const id of list(comparison[name])) found.set(id, name);
  }
  const cut = [...COUNTED, "skipped"].some((name) => (own(comparison.counts, name) || 0) > list(comparison[name]).length);
  return { found, cut, there: Boolean(check && check.comparison) };
};

const testRows = (name) => {
  const base = checkOf(VERDICT.baseline, name);
  const failing = new Set(list(base && base.tests && base.tests.failing));
  const lanes = LANES.map((lane) => told(checkOf(lane.checks, name)));
  const ids = new Set([...failing, ...lanes.flatMap((lane) => [...lane.found.keys()])]);
  const isNew = (id) => lanes.some((lane) => ["new", "new_failing"].includes(lane.found.get(id)));
  const onBase = (id) => (failing.has(id) ? "failed" : isNew(id) ? "not there" : base && base.tests ? "passed" : "unknown");
  const onLane = (lane, id) => {
    if (!lane.there) return "not run";
    return lane.found.get(id) || (lane.cut ? "unknown" : isNew(id) ? "not there" : onBase(id));
  };
  return [...ids].map((id) => ({ id, base: onBase(id), lanes: lanes.map((lane) => onLane(lane, id)) }));
};

const byHundreds = (rows, draw, caption, head) => {
  const shown = rows.slice(0, MOST).map(draw);
  const holder = el("div", {}, table(caption, head, shown));
  let at = MOST;
  if (rows.length > at) {
    const more = button(`Show the other ${count(rows.length - at)} rows`, () => {
      holder.querySelector("tbody").append(...rows.slice(at).map(draw));
      at = rows.length;
      more.remove();
    });
    holder.append(more);
  }
  return holder;
};

const testsTables = () =>
  checkNames().flatMap((name) => {
    const rows = testRows(name);
    if (!rows.length) return [];
    const draw = (row) => el("tr", {}, el("th", { scope: "row", class: "id" }, breakable(row.id)), cell(row.base), row.lanes.map((word, at) => cell(word, null, "", LANES[at], row.id)));
    const title = checkNames().length > 1 ? `Test by test: ${name}` : "Test by test";
    return [
      el("h3", {}, title),
      el("p", { class: "muted" }, "Tests that passed on the base and pass on every patch are left out. Of each kind the first 100 are known to this page; all of them are in the files linked above."),
      byHundreds(rows, draw, title, laneHeads(["test", "base"])),
    ];
  });

const crossTable = () => {
  const tests = list(VERDICT.cross);
  if (!tests.length) return [el("p", { class: "muted" }, "No new test was tried on the others.")];
  const draw = (test) =>
    el(
      "tr",
      { class: test.weighs ? "" : "light" },
      el("th", { scope: "row", class: "id" }, breakable(test.id), el("small", {}, `by ${test.author}`, test.says ? `; ${test.says}` : "", test.weighs ? "" : "; does not count")),
      cell(test.base, own(test.files, "") || own(test.files, "_base")),
      LANES.map((lane) => cell(own(test.cells, lane.name) || "not tried", own(test.files, lane.name))),
    );
  return [
    el("p", { class: "muted" }, "A test that fails on every patch, or passes on the base, does not count; many tests of one lane count no more than a few."),
    byHundreds(tests, draw, "Each lane's new tests on every patch", laneHeads(["new test", "base"])),
  ];
};

const legend = () =>
  el("p", { class: "legend muted" }, "Signs: ", Object.values(WORDS).filter(([sign]) => sign).map(([sign, style, said]) => [el("span", { class: style }, el("b", {}, sign), ` ${said}`), " "]), el("span", { class: "warn" }, el("b", {}, "!"), " passes, but the patch is held back"));

const drawTests = () => {
  fill(
    $("view-tests"),
    el("h1", { class: "unseen" }, "Tests"),
    el("h2", {}, "Checks"),
    checksTable(),
    testsTables(),
    el("h2", {}, "Each lane's new tests on the others"),
    crossTable(),
    legend(),
  );
};
