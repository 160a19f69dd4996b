// Views, theme, and the beginning. A view is drawn when it is first shown.
const VIEWS = [
  ["verdict", "Verdict", drawVerdict],
  ["changes", "Changes", drawChanges],
  ["tests", "Tests", drawTests],
  ["timeline", "Timeline", drawTimeline],
];
let view = "";
const drawnViews = new Set();

const show = (name) => {
  if (view === name) return;
  view = name;
  for (const [id] of VIEWS) {
    $(`view-${id}`).hidden = id !== name;
    const link = document.querySelector(`#views a[href="#${id}"]`);
    if (id === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (location.hash !== `#${name}`) history.replaceState(null, "", `#${name}`);
  if (!drawnViews.has(name)) {
    drawnViews.add(name);
    VIEWS.find(([id]) => id === name)[2]();
  }
  scrollTo(0, 0);
};

const fromHash = () => {
  const named = location.hash.slice(1);
  show(VIEWS.some(([id]) => id === named) ? named : "verdict");
};

const THEMES = ["system", "light", "dark"];
const setTheme = (theme) => {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = `Theme: ${theme}`;
  remember("theme", theme);
};
const nextTheme = () => setTheme(nextOf(THEMES, document.documentElement.dataset.theme, 1));

// Paper is light; a browser leaves the dark behind its letters away.
const printLight = () => {
  const { theme } = document.documentElement.dataset;
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = remember("theme") || theme;
  });
};

const begin = () => {
  const saved = remember("theme");
  setTheme(THEMES.includes(saved) ? saved : "system");
  $("theme").addEventListener("click", nextTheme);
  printLight();
  $("help").addEventListener("click", showHelp);
  $("race").textContent = VERDICT.run;
  $("views").append(el("ul", {}, VIEWS.map(([id, name]) => el("li", {}, el("a", { href: `#${id}` }, name)))));
  addEventListener("hashchange", fromHash);
  fromHash();
};
begin();
