// What is ticked: lane -> file -> "all", or a set of places in the file's list of hunks.
const PICKS = new Map();

const picked = (lane, file) => PICKS.get(lane)?.get(file);
const pickedHunk = (lane, file, at) => {
  const held = picked(lane, file);
  return held === "all" || Boolean(held && held.has(at));
};

const setPick = (lane, file, value) => {
  if (!PICKS.has(lane)) PICKS.set(lane, new Map());
  if (value) PICKS.get(lane).set(file, value);
  else PICKS.get(lane).delete(file);
  if (!PICKS.get(lane).size) PICKS.delete(lane);
};

// A rename is one thing: either side takes both.
const setFile = (lane, file, value) => {
  setPick(lane, file, value);
  const other = own(FILES[file].moved, lane);
  if (other !== undefined) setPick(lane, other, value);
};

const togglePickFile = (lane, file) => {
  setFile(lane, file, picked(lane, file) === "all" ? null : "all");
  picksChanged();
};

const togglePickHunk = (lane, file, at) => {
  const all = laneHunks(file, lane).map((one) => one.at);
  const held = picked(lane, file);
  const now = new Set(held === "all" ? all : held || []);
  if (now.has(at)) now.delete(at);
  else now.add(at);
  const whole = hunksOf(file)[at].kind === "whole";
  if (whole || now.size === all.length) setFile(lane, file, now.size ? "all" : null);
  else {
    setFile(lane, file, null);
    setPick(lane, file, now.size ? now : null);
  }
  picksChanged();
};

const wholeLane = (lane) => {
  const files = filesOf(lane);
  return files.length > 0 && files.every((file) => picked(lane, file.index) === "all");
};

const togglePickLane = (lane) => {
  const value = wholeLane(lane) ? null : "all";
  for (const file of filesOf(lane)) setPick(lane, file.index, value);
  picksChanged();
};

// Letters that no shell reads as anything but themselves; other names come quoted with the data.
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

const fileArgs = (lane) => {
  const name = LANES[lane].arg;
  const whole = new Set([...PICKS.get(lane)].filter(([, held]) => held === "all").map(([file]) => file));
  if (filesOf(lane).every((file) => whole.has(file.index))) return [`--pick ${name}:.`];
  const folders = wholeFolders(lane, whole);
  const covered = (file) => folders.some((folder) => file.path.startsWith(folder));
  const rest = [...whole].map((file) => FILES[file]).filter((file) => !covered(file));
  return [...folders, ...rest.map((file) => file.arg || file.path)].map((what) => `--pick ${name}:${what}`);
};

// The highest folders all of whose changes in this lane are taken, where that is two files or more.
const wholeFolders = (lane, whole) => {
  const counts = new Map();
  for (const file of filesOf(lane)) {
    const parts = file.path.split("/").slice(0, -1);
    parts.forEach((_, n) => {
      const folder = `${parts.slice(0, n + 1).join("/")}/`;
      const held = counts.get(folder) || { all: 0, taken: 0, plain: PLAIN.test(folder) };
      counts.set(folder, { ...held, all: held.all + 1, taken: held.taken + (whole.has(file.index) ? 1 : 0) });
    });
  }
  const full = [...counts].filter(([, held]) => held.plain && held.all > 1 && held.all === held.taken).map(([folder]) => folder);
  return full.filter((folder) => !full.some((other) => other !== folder && folder.startsWith(other)));
};

const hunkArgs = (lane) =>
  [...PICKS.get(lane)].filter(([, held]) => held !== "all").flatMap(([file, held]) =>
    laneHunks(file, lane).filter((one) => held.has(one.at)).map((one) => `--hunk ${LANES[lane].arg}:${one.short}`));

// Of less than a whole lane the checks decide, unless there are none, or it takes a file in which
// lies what speaks against the lane.
const countsAsLane = (lane) =>
  wholeLane(lane) ||
  VERDICT.checked === false ||
  filesOf(lane).some((file) => picked(lane, file.index) === "all" && LANES[lane].against.includes(file.path));

const mergeLine = () => {
  const lanes = [...PICKS.keys()].sort((a, b) => a - b);
  const needs = lanes.filter(countsAsLane).map((lane) => LANES[lane].needs).find(Boolean) || "";
  if (lanes.length === 1 && wholeLane(lanes[0])) return `hydra merge ${LANES[lanes[0]].arg} ${ON_RUN}${needs}`;
  const words = [...lanes.flatMap((lane) => (PICKS.get(lane) ? fileArgs(lane) : [])), ...lanes.flatMap(hunkArgs)];
  return ["hydra merge", ON_RUN, ...words].join(" ") + needs;
};
