// Nodes are made here and nowhere else, from tags and attributes that this script names; every text
// of the data becomes a text node.
const el = (tag, given, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    } else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  return fill(made, ...children);
};

// Lists are laid open, and what is not there is left out.
const fill = (node, ...children) => {
  node.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return node;
};

const $ = (id) => document.getElementById(id);
const own = (record, key) => (record && Object.hasOwn(record, key) ? record[key] : undefined);
const list = (value) => (Array.isArray(value) ? value : []);
const unseen = (text) => el("span", { class: "unseen" }, text);
const button = (text, act, given) =>
  el("button", { type: "button", ...given, on: { click: act } }, text);

// A long name breaks where its parts end; anywhere only where one part alone is too long.
const breakable = (text) => String(text).split(/(?<=[._:/])(?=[^._:/])/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));

// Said to screen readers.
const say = (text) => {
  $("said").textContent = text;
};

// A box in which wide and long things scroll, with a shadow at the edge where there is more.
const scrollable = (label, child, style = "scroll") => {
  const box = el("div", { class: style, tabindex: 0, role: "region", "aria-label": label }, child);
  const frame = el("div", { class: "frame" }, box);
  const look = () => {
    frame.classList.toggle("before", box.scrollLeft > 1);
    frame.classList.toggle("after", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    frame.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 1);
  };
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
  return frame;
};

const copyText = async (text, from) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(from);
    document.execCommand("copy");
  }
};

const copyable = (line, label) => {
  // A narrow screen breaks the line between its words, not at their hyphens.
  const shown = line.split(/( )/).map((word) => (word === " " ? word : el("span", {}, word)));
  const code = el("code", { class: "line", tabindex: 0, "aria-label": label }, shown);
  const copy = button("Copy", async () => {
    await copyText(code.textContent, code);
    copy.textContent = "Copied";
    say("Copied");
    setTimeout(() => {
      copy.textContent = "Copy";
    }, 1500);
  });
  return el("div", { class: "copyable" }, code, copy);
};

const remember = (key, value) => {
  try {
    if (value === undefined) return localStorage.getItem(`hydra-${key}`);
    localStorage.setItem(`hydra-${key}`, value);
  } catch {
    // A browser may forbid it: nothing is remembered then.
  }
  return null;
};
