// Where picks of two lanes change one place, as `git merge-tree` would see it: edits that touch. Equal
// edits are one change. docs/reference/landing.md has the rules.
const editsOf = (hunk) => {
  if (hunk.edits) return hunk.edits;
  const [a] = numbersOf(hunk.head);
  const empty = /^@@ -\d+,0 /.test(hunk.head);
  let at = empty ? a + 1 : a;
  let edit = null;
  hunk.edits = [];
  for (const row of bodyRows(hunk)) {
    if (row.t === "ctx") {
      edit = null;
      at = row.a + 1;
    } else if (row.t === "note") {
      if (edit) edit.text += "\\";
    } else {
      if (!edit) hunk.edits.push((edit = { from: at, to: at, text: "" }));
      if (row.t === "del") edit.to = at = row.a + 1;
      else edit.text += `${row.s}\n`;
    }
  }
  return hunk.edits;
};

const sameEdit = (one, other) => one.from === other.from && one.to === other.to && one.text === other.text;

// The first line of the base that both change, or null.
const touching = (mine, theirs) => {
  let [a, b] = [0, 0];
  while (a < mine.length && b < theirs.length) {
    const [one, other] = [mine[a], theirs[b]];
    if (one.from <= other.to && other.from <= one.to && !sameEdit(one, other)) return Math.max(one.from, other.from);
    if (one.to < other.to || (one.to === other.to && one.from < other.from)) a += 1;
    else b += 1;
  }
  return null;
};

const place = (file, line) => `${file.path}${line ? `, line ${line}` : ""}`;

const conflictOf = (file, mine, theirs) => {
  const same = (one, all) => all.includes(one);
  const left = mine.filter((one) => !same(one, theirs));
  const right = theirs.filter((one) => !same(one, mine));
  if (!left.length || !right.length) return null;
  const kinds = (all, kind) => all.some((one) => one.kind === kind);
  if (kinds(left, "whole") || kinds(right, "whole")) return place(file);
  if (kinds(left, "mode") && kinds(right, "mode")) return `${place(file)}: its mode`;
  const edits = (all) => all.filter((one) => one.kind === "lines").flatMap(editsOf).sort((x, y) => x.from - y.from);
  // What both take is one change, but it can stand against the rest of either.
  const line = touching(edits(mine), edits(theirs));
  return line === null ? null : place(file, line);
};

// Sentences, one for each pair of lanes and place; `chosen` is lane -> file -> [hunks].
const conflictsIn = (chosen) => {
  const found = [];
  const lanes = [...chosen.keys()];
  lanes.forEach((mine, at) => {
    for (const theirs of lanes.slice(at + 1)) {
      const who = `${LANES[mine].name} and ${LANES[theirs].name}`;
      for (const [file, hunks] of chosen.get(mine)) {
        const others = chosen.get(theirs).get(file);
        const where = others && conflictOf(FILES[file], hunks, others);
        if (where) found.push(`${who} change one place: ${where}`);
      }
      found.push(...foldersAndFiles(chosen.get(mine), chosen.get(theirs), who));
    }
  });
  return found;
};

const foldersAndFiles = (mine, theirs, who) => {
  const stays = (picked) => [...picked.keys()].filter((file) => !picked.get(file).some((hunk) => hunk.head === "deleted file")).map((file) => FILES[file].path);
  const clash = (files, folders) => {
    const all = new Set(files);
    return folders.flatMap((path) => {
      const parts = path.split("/");
      return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join("/")).filter((folder) => all.has(folder));
    });
  };
  const [left, right] = [stays(mine), stays(theirs)];
  return [...new Set([...clash(left, right), ...clash(right, left)])].map((path) => `${who}: ${path} is a file in one and a folder in the other`);
};
