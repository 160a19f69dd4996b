// What the page carries. The head is read at once, a file's hunks and a lane's rows when asked for.
const held = new Map();
const read = (id) => {
  if (!held.has(id)) {
    const block = $(id);
    held.set(id, block ? JSON.parse(block.textContent) : {});
  }
  return held.get(id);
};

const DATA = read("data");
const VERDICT = DATA.verdict;
const ON_RUN = `-r ${DATA.run.split("-").pop()}`;
const LANES = list(VERDICT.lanes).map((told, index) => ({
  ...told,
  index,
  name: String(told.lane),
  ...DATA.lanes[index],
}));
const FILES = DATA.files.map((told, index) => ({
  ...told,
  index,
  by: Object.keys(told.lanes).map(Number),
}));
const filesOf = (lane) => FILES.filter((file) => own(file.lanes, lane) !== undefined);
const hunksOf = (file) => read(`file-${file}`).hunks;
const laneNamed = (name) => LANES.find((lane) => lane.name === name);
const fileNamed = (path) => FILES.find((file) => file.path === path);

// The hunks of one lane in one file: [place in the file's list, hunk, its short id in that lane].
const laneHunks = (file, lane) =>
  hunksOf(file).flatMap((hunk, at) => {
    const mine = hunk.lanes.find(([number]) => number === lane);
    return mine ? [{ at, hunk, short: mine[1] }] : [];
  });
