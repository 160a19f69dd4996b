// Figures in words. What is not known is "?", never zero.
const known = (value) => typeof value === "number" && Number.isFinite(value);
const count = (value) => (known(value) ? value.toLocaleString("en-US") : "?");
const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many || `${one}s`}`;
const duration = (seconds) => {
  if (!known(seconds) || seconds < 0) return "?";
  const whole = Math.floor(seconds);
  const pad = (value) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
};
const brief = (seconds) => (known(seconds) && seconds < 60 ? `${seconds.toFixed(1)} s` : duration(seconds));
const tokens = (value) => {
  if (!known(value)) return "?";
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return `${(value / size).toFixed(1)}${unit}`;
  }
  return String(value);
};
const cost = (value) => {
  if (!known(value)) return "?";
  return value > 0 && value < 0.01 ? "<$0.01" : `$${value.toFixed(2)}`;
};
const bytes = (value) => {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (value >= size) return `${(value / size).toFixed(1)} ${unit}`;
  }
  return `${value} B`;
};

const plusMinus = (added, deleted) => [
  el("span", { class: "plus" }, `+${count(added)}`),
  " ",
  el("span", { class: "minus" }, `\u2212${count(deleted)}`),
];

// A file of the run's folder, where the numbers beside it stand.
const evidence = (file) => {
  if (!file) return null;
  const shown = el("span", {}, file);
  if (!DATA.link) return el("span", { class: "evidence" }, shown);
  const parts = String(file).split("/").map(encodeURIComponent);
  const href = `${DATA.link}/${parts.join("/")}`;
  return el("a", { class: "evidence", href, target: "_blank", rel: "noreferrer" }, shown);
};
