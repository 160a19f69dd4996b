// Each agent's time on one axis, and below it what it said and did.
const TIMES = DATA.times;
const STEP = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200];

const axisEnd = () => Math.max(1, ...TIMES.map((one) => one.end));
const placed = (node, from, to, end) => {
  node.style.left = `${(100 * from) / end}%`;
  if (to !== null) node.style.width = `${Math.max(0.3, (100 * (to - from)) / end)}%`;
  return node;
};

const spanNode = ([kind, name, from, to, status], end, last) => {
  const words = { agent: "agent", setup: "set-up", check: name, trial: name };
  const text = words[kind];
  const title = `${text} ${duration(from)} to ${to === null ? "?" : duration(to)}${status ? `: ${status}` : ""}`;
  const until = to === null ? last : to;
  // A label that has no room is in the title alone.
  const label = (until - from) / end > 0.012 * text.length ? el("span", {}, text) : null;
  return placed(el("span", { class: `span ${kind}`, title }, label), from, until, end);
};

const track = (one, end) => {
  const name = one.lane || "the base";
  const ticks = one.ticks.map(([at, kind]) => placed(el("i", { class: `tick ${kind.split(" ")[0]}` }), at, null, end));
  const counts = one.lane ? `${plural(one.messages, "message")}, ${plural(one.calls, "tool call")}` : "";
  return el(
    "li",
    { class: "track" },
    el("div", { class: "who" }, one.lane ? button(name, () => showTimeline(one.lane), { class: "link" }) : name, el("small", {}, counts)),
    el(
      "div",
      { class: "bar", role: "img", "aria-label": `${name}: ${one.spans.map(([kind, what, from, to]) => `${what || kind} from ${duration(from)} to ${to === null ? "?" : duration(to)}`).join(", ")}` },
      one.spans.map((span) => spanNode(span, end, one.end)),
      ticks,
    ),
  );
};

const axis = (end) => {
  const step = STEP.find((one) => end / one <= 8) || end / 8;
  const marks = [];
  for (let at = 0; at <= 0.95 * end; at += step) marks.push(placed(el("span", {}, duration(at)), at, null, end));
  return el("li", { class: "track axis", "aria-hidden": "true" }, el("div", { class: "who" }), el("div", { class: "bar" }, marks));
};

const LABELS = { message: "says", thinking: "thinks", error: "error", done: "done", hydra: "Hydra", warning: "warning" };

const eventRow = ([at, kind, text, word, said, took]) =>
  el(
    "li",
    { class: `event ${kind}${said ? " bad" : ""}` },
    el("time", {}, duration(at)),
    el("span", { class: "kind" }, kind === "tool" ? word : LABELS[kind] || kind),
    el("span", { class: "text" }, kind === "tool" ? el("code", {}, text) : text,
      said ? el("b", { class: "bad" }, ` ${said}`) : null,
      known(took) && took >= 0.1 ? el("small", {}, ` ${brief(took)}`) : null,
      kind === "tool" && took === null ? el("small", {}, " no result seen") : null),
  );

let eventLane = "";
const drawEvents = () => {
  const place = TIMES.findIndex((one) => one.lane === eventLane);
  const holder = $("events");
  holder.replaceChildren();
  if (place < 0) return;
  const kept = read(`time-${place}`);
  const gap = TIMES[place].dropped;
  fill(
    holder,
    el("h2", {}, eventLane || "the base"),
    el(
      "ol",
      { class: "events" },
      kept.first.map(eventRow),
      gap ? el("li", { class: "gap" }, `${plural(gap, "event")} left out here; all are in `, evidence("events.jsonl")) : null,
      kept.last.map(eventRow),
    ),
  );
  for (const one of document.querySelectorAll("#view-timeline [data-lane]")) {
    one.setAttribute("aria-pressed", String(one.dataset.lane === eventLane));
  }
};

const showTimeline = (lane) => {
  eventLane = lane;
  show("timeline");
  drawEvents();
  $("events").scrollIntoView({ block: "nearest" });
};

const timeLegend = () =>
  el("p", { class: "legend muted" },
    [["agent", "agent"], ["check", "check"], ["trial", "other tests on its patch"]].map(([kind, name]) => [el("span", {}, el("i", { class: `swatch ${kind}` }), ` ${name}`), " "]),
    [["message", "message"], ["editing", "edit"], ["running", "command"], ["reading", "other tool"]].map(([kind, name]) => [el("span", {}, el("i", { class: `tick ${kind}` }), ` ${name}`), " "]));

const drawTimeline = () => {
  if (!TIMES.length) {
    fill($("view-timeline"), el("h1", {}, "Timeline"), el("p", { class: "muted" }, "This run has no events that can be read."));
    return;
  }
  const end = axisEnd();
  const order = [...TIMES].sort((a, b) => rankOf(a.lane) - rankOf(b.lane));
  eventLane = eventLane || (order.find((one) => one.lane) || order[0]).lane;
  fill(
    $("view-timeline"),
    el("h1", {}, "Timeline"),
    el("ul", { class: "tracks" }, order.map((one) => track(one, end)), axis(end)),
    timeLegend(),
    el("div", { class: "choices", role: "group", "aria-label": "Whose events" }, order.map((one) =>
      button(one.lane || "the base", () => showTimeline(one.lane), { "data-lane": one.lane, "aria-pressed": "false" }))),
    el("div", { id: "events" }),
  );
  drawEvents();
};

const rankOf = (lane) => {
  const found = LANES.findIndex((one) => one.name === lane);
  return lane === "" ? -1 : found < 0 ? LANES.length : found;
};
