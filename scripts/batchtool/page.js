"use strict";
// A task has its results in all runs. The plots and tables show the tasks that match the filters.
const RUNS = DATA.runs.map(run => run.name);
const KINDS = ["correct", "proved", "unknown", "error", "crash", "violated", "wrong"];  // the worst last
const MEASURES = { cpu: ["processor time", "s"], wall: ["wall time", "s"], memory: ["memory", "MB"] };
const ROWS = 300; // the initial number of rows in the table
const tasks = join();
const state = { property: "", category: "", kind: "", text: "", differ: false, measure: "cpu", x: 0, y: 1, sort: "task", down: false, rows: ROWS, now: null };

function join() {
  const found = new Map();
  DATA.runs.forEach((run, i) => {
    for (const result of run.results) {
      const key = result.task + "\0" + result.property;
      if (!found.has(key)) {
        const { task, property, category, expected } = result;
        found.set(key, { key, task, property, category, expected, runs: Array(RUNS.length).fill(null) });
      }
      found.get(key).runs[i] = result;
    }
  });
  return [...found.values()];
}

const solved = result => result !== null && ["correct", "proved", "violated"].includes(result.kind);
const differs = task => new Set(task.runs.map(r => (r ? r.verdict.split("(")[0] : ""))).size > 1;

function chosen() {
  const text = state.text.toLowerCase();
  return tasks.filter(task =>
    (!state.property || task.property === state.property) &&
    (!state.category || task.category === state.category) &&
    (!state.kind || task.runs.some(r => r && r.kind === state.kind)) &&
    (!state.differ || differs(task)) &&
    (!text || task.task.toLowerCase().includes(text) || task.runs.some(r => r && (r.verdict + " " + r.reason).toLowerCase().includes(text))));
}

// Elements.
function make(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "line", "path", "circle", "text", "rect"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function choice(label, key, options) {
  const select = make("select", { id: key, onchange: () => set(key, select.value) });
  for (const [value, shown] of options) select.append(make("option", { value, selected: String(state[key]) === String(value) }, shown));
  return make("label", {}, label + " ", select);
}

function tip(text) {
  return {
    onmousemove: event => {
      const box = document.getElementById("tip");
      box.textContent = text;
      box.hidden = false;
      box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + "px";
      box.style.top = Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8) + "px";
    },
    onmouseleave: () => { document.getElementById("tip").hidden = true; },
  };
}

function set(key, value) {
  state[key] = value;
  if (!["sort", "down", "rows", "now"].includes(key)) state.rows = ROWS;
  show();
}

function filters() {
  const names = field => [["", "all"], ...[...new Set(tasks.map(t => t[field]))].sort().map(n => [n, n])];
  const present = new Set(tasks.flatMap(t => t.runs.filter(Boolean).map(r => r.kind)));
  const search = make("input", { type: "search", id: "text", placeholder: "name, verdict, reason", oninput: () => set("text", search.value) });
  const parts = [
    choice("property", "property", names("property")),
    choice("category", "category", names("category")),
    choice("result", "kind", [["", "all"], ...KINDS.filter(k => present.has(k)).map(k => [k, k])]),
    search,
  ];
  if (RUNS.length > 1) {
    const box = make("input", { type: "checkbox", id: "differ", onchange: () => set("differ", box.checked) });
    parts.push(make("label", {}, box, " runs differ"));
  }
  document.getElementById("filters").append(...parts);
}

// The table of categories.
function summary(list) {
  const labelled = list.some(t => t.expected);
  const columns = ["TRUE", "FALSE", ...(labelled ? ["wrong"] : []), "unknown", "none", ...(labelled ? ["score"] : []), "cpu/s"];
  const head = make("tr", {}, make("th", { class: "text" }, "category"), make("th", {}, "tasks"));
  const over = make("tr", {}, make("th"), make("th"));
  for (const name of RUNS) {
    over.append(make("th", { class: "text first", colspan: columns.length }, name));
    columns.forEach((c, i) => head.append(make("th", { class: i ? "" : "first" }, c)));
  }
  const line = (name, members, kind) => {
    const row = make("tr", { class: kind }, make("td", { class: "text" }, name), make("td", {}, members.length));
    RUNS.forEach((_, i) => {
      const results = members.map(t => t.runs[i]).filter(Boolean);
      const count = test => results.filter(test).length;
      const values = {
        TRUE: [count(r => solved(r) && r.verdict === "TRUE"), labelled ? "correct" : "proved"],
        FALSE: [count(r => solved(r) && r.verdict !== "TRUE"), labelled ? "correct" : "violated"],
        wrong: [count(r => r.kind === "wrong"), "wrong"],
        unknown: [count(r => r.kind === "unknown"), "unknown"],
        none: [count(r => r.kind === "error" || r.kind === "crash"), "error"],
        score: [results.reduce((sum, r) => sum + (DATA.points[r.status] || 0), 0), ""],
        "cpu/s": [Math.round(results.reduce((sum, r) => sum + r.cpu, 0)), ""],
      };
      columns.forEach((c, at) => {
        const [value, kind] = values[c];
        row.append(make("td", { class: `${at ? "" : "first "}${value === 0 ? "zero" : kind}` }, value));
      });
    });
    return row;
  };
  const groups = new Map();
  for (const task of list) groups.set(task.category, [...(groups.get(task.category) || []), task]);
  const rows = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, members]) => line(name, members, ""));
  if (rows.length > 1) rows.push(line("all", list, "all"));
  place("summary", make("h2", {}, "By category"), make("table", {}, make("thead", {}, over, head), make("tbody", {}, ...rows)));
}

// Plots.
const WIDTH = 560, HEIGHT = 380, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 44;

function powers(values) {
  const positive = values.filter(v => v > 0);
  if (!positive.length) return [0.1, 10];
  const low = Math.floor(Math.log10(Math.min(...positive.map(v => Math.max(v, 0.01)))));
  const high = Math.ceil(Math.log10(Math.max(...positive)) + 1e-9);
  return [10 ** low, 10 ** Math.max(high, low + 1)];
}

function scale([low, high], from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  return value => from + ((Math.log10(Math.min(Math.max(value, low), high)) - a) / (b - a)) * (to - from);
}

function ticks([low, high]) {
  const found = [];
  for (let v = low; v <= high * 1.0001; v *= 10) found.push(Number(v.toPrecision(6)));
  return found;
}

function axes(svg, xs, x, ys, y, titleX, titleY) {
  for (const v of xs) {
    svg.append(make("line", { class: "grid", x1: x(v), x2: x(v), y1: TOP, y2: HEIGHT - BOTTOM }));
    svg.append(make("text", { x: x(v), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, String(v)));
  }
  for (const v of ys) {
    svg.append(make("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(v), y2: y(v) }));
    svg.append(make("text", { x: LEFT - 7, y: y(v) + 4, "text-anchor": "end" }, String(v)));
  }
  svg.append(make("text", { class: "title", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, titleX));
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  svg.append(make("text", { class: "title", x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, titleY));
}

function title(measure) {
  const [name, unit] = MEASURES[measure];
  return `${name} (${unit})`;
}

const colour = i => `var(--s${i % 8})`;

/** A quantile plot: the measure of the n-th cheapest solved task of each run, over n. It includes the tasks that all runs have. */
function quantiles(list) {
  const common = list.filter(t => t.runs.every(Boolean));
  const series = RUNS.map((name, i) => ({ name, i, values: common.map(t => t.runs[i]).filter(solved).map(r => Math.max(r[state.measure], 0.01)).sort((a, b) => a - b) }));
  const most = Math.max(...series.map(s => s.values.length), 1);
  const range = powers(series.flatMap(s => s.values));
  const y = scale(range, HEIGHT - BOTTOM, TOP);
  const x = n => LEFT + (n / most) * (WIDTH - RIGHT - LEFT);
  const step = Math.max(1, [1, 2, 5].map(f => f * 10 ** Math.floor(Math.log10(most / 5 || 1))).find(s => most / s <= 8) || most);
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "quantile plot" });
  const xs = [];
  for (let n = 0; n <= most; n += step) xs.push(n);
  axes(svg, xs, x, ticks(range), y, "tasks solved, each within", title(state.measure));
  const legend = make("div", { class: "controls" }, choice("measure", "measure", Object.entries(MEASURES).map(([k, [n]]) => [k, n])));
  for (const { name, i, values } of series) {
    // The curve has one step for each task.
    const points = values.map((v, n) => `${n ? "L" : "M"}${x(n).toFixed(1)},${y(v).toFixed(1)}L${x(n + 1).toFixed(1)},${y(v).toFixed(1)}`).join("");
    const dash = i >= 8 ? "6 4" : null;
    svg.append(make("path", { class: "curve", d: points || "M0,0", stroke: colour(i), "stroke-dasharray": dash, ...tip(`${name}: ${values.length} solved`) }));
    legend.append(make("span", { style: `color: ${colour(i)}` }, `━ ${name} (${values.length})`));
  }
  const shown = common.length ? svg : make("div", { class: "empty" }, "no task that all runs have");
  place("quantiles", make("h2", {}, "Quantiles"), legend, shown);
}

/** A scatter plot that compares two runs. If there is only one run, it shows memory over time. Tasks without a verdict are at the far edge. */
function scatter(list) {
  const two = RUNS.length > 1;
  const [i, j] = two ? [Number(state.x), Number(state.y)] : [0, 0];
  const [mx, my] = two ? [state.measure, state.measure] : ["cpu", "memory"];
  const both = list.filter(t => t.runs[i] && t.runs[j]);
  const rangeOf = (run, m) => powers(both.map(t => t.runs[run][m]));
  let [rx, ry] = [rangeOf(i, mx), rangeOf(j, my)];
  if (two) rx = ry = [Math.min(rx[0], ry[0]), Math.max(rx[1], ry[1])];
  const edge = two ? 16 : 0;
  const x = scale(rx, LEFT, WIDTH - RIGHT - edge), y = scale(ry, HEIGHT - BOTTOM, TOP + edge);
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "scatter plot" });
  axes(svg, ticks(rx), x, ticks(ry), y, (two ? RUNS[i] + ": " : "") + title(mx), (two ? RUNS[j] + ": " : "") + title(my));
  if (two) {
    svg.append(make("line", { class: "frame", x1: x(rx[0]), y1: y(ry[0]), x2: x(rx[1]), y2: y(ry[1]) }));
    svg.append(make("path", { class: "frame", d: `M${LEFT},${TOP + edge / 2}H${WIDTH - RIGHT - edge / 2}V${HEIGHT - BOTTOM}` }));
  }
  // The worst results are drawn last, on top of the others.
  const worst = task => Math.max(KINDS.indexOf(task.runs[i].kind), KINDS.indexOf(task.runs[j].kind));
  for (const task of both.toSorted((t, u) => worst(t) - worst(u))) {
    const [a, b] = [task.runs[i], task.runs[j]];
    const cx = two && !solved(a) ? WIDTH - RIGHT - edge / 2 : x(a[mx]), cy = two && !solved(b) ? TOP + edge / 2 : y(b[my]);
    const says = r => `${r.verdict}${r.reason && !r.verdict.includes(r.reason) ? ` (${r.reason})` : ""}, ${r.cpu} s, ${r.memory} MB`;
    const text = `${task.task}\n${task.property}\n` + (two ? `${RUNS[i]}: ${says(a)}\n${RUNS[j]}: ${says(b)}` : says(a));
    const point = { class: "point", cx, cy, r: 4, fill: `var(--${KINDS[worst(task)]})`, onclick: () => goTo(task), ...tip(text) };
    svg.append(make("circle", point));
  }
  const controls = make("div", { class: "controls" });
  if (two) controls.append(choice("across", "x", RUNS.map((n, k) => [k, n])), choice("up", "y", RUNS.map((n, k) => [k, n])));
  const present = KINDS.filter(k => both.some(t => t.runs[i].kind === k || t.runs[j].kind === k));
  controls.append(...present.map(k => make("span", { class: k }, `● ${k}`)));
  place("scatter", make("h2", {}, two ? "Two runs" : "Time and memory"), controls, both.length ? svg : make("div", { class: "empty" }, "nothing to show"));
}

function goTo(task) {
  state.rows = Infinity;
  set("now", task.key);
  document.querySelector("tr.now")?.scrollIntoView({ block: "center" });
}

// The table of tasks.
function table(list) {
  const value = {
    task: t => t.task, property: t => t.property, category: t => t.category, expected: t => t.expected,
  };
  RUNS.forEach((_, i) => {
    value[`verdict${i}`] = t => (t.runs[i] ? KINDS.indexOf(t.runs[i].kind) + t.runs[i].verdict : "~");
    for (const m of ["cpu", "memory"]) value[m + i] = t => (t.runs[i] ? t.runs[i][m] : -1);
  });
  const order = value[state.sort];
  const sorted = [...list].sort((a, b) => {
    const [x, y] = [order(a), order(b)];
    return (x < y ? -1 : x > y ? 1 : a.key < b.key ? -1 : 1) * (state.down ? -1 : 1);
  });
  const header = (key, text, kind = "text") => make("th", {
    class: `sorts ${kind}`,
    "aria-sort": state.sort === key ? (state.down ? "descending" : "ascending") : null,
    onclick: () => { state.down = state.sort === key ? !state.down : /cpu|memory/.test(key); set("sort", key); },
  }, text + (state.sort === key ? (state.down ? " ▾" : " ▴") : ""));
  const over = make("tr", {}, make("th", { colspan: 4 }));
  const head = make("tr", {}, header("task", "task"), header("property", "property"), header("category", "category"), header("expected", "expected"));
  RUNS.forEach((name, i) => {
    over.append(make("th", { class: "text first", colspan: 4 }, name));
    head.append(header(`verdict${i}`, "verdict", "text first"), header(`cpu${i}`, "cpu/s", ""), header(`memory${i}`, "MB", ""), make("th", { class: "text" }, "why"));
  });
  const body = make("tbody");
  for (const task of sorted.slice(0, state.rows)) {
    const row = make("tr", { class: task.key === state.now ? "now" : null },
      make("td", { class: "text name", title: task.task }, task.task), make("td", { class: "text" }, task.property),
      make("td", { class: "text" }, task.category), make("td", { class: "text" }, task.expected));
    const findings = new Set();
    task.runs.forEach(r => {
      const reason = r ? r.reason : "";
      const verdict = r ? r.verdict.replace(/^UNKNOWN\(.*$/s, "UNKNOWN") : "";
      row.append(make("td", { class: `text first ${r ? r.kind : ""}` }, verdict), make("td", {}, r ? r.cpu.toFixed(2) : ""),
        make("td", {}, r ? Math.round(r.memory) : ""), make("td", { class: "text why", title: reason }, reason));
      // Findings are shown only for tasks without an expected verdict.
      for (const finding of r && !task.expected ? r.findings : []) findings.add((finding.place && finding.place + ": ") + finding.text);
    });
    body.append(row);
    for (const finding of findings) body.append(make("tr", {}, make("td", { class: "finding", colspan: 4 + 4 * RUNS.length }, finding)));
  }
  const rest = sorted.length - state.rows;
  const more = rest > 0 ? [make("button", { onclick: () => set("rows", state.rows * 4) }, `${rest} more`)] : [];
  place("tasks", make("h2", {}, `Tasks (${sorted.length})`), make("table", {}, make("thead", {}, ...(RUNS.length > 1 ? [over] : []), head), body), ...more);
}

/** The findings, each place and message once, with the tasks that have it and the steps to it. Tasks with an expected verdict
 * are left out. */
function findings(list) {
  const found = new Map();
  for (const task of list.filter(t => !t.expected)) {
    for (const finding of task.runs.flatMap(r => (r ? r.findings : []))) {
      const key = [finding.rule, finding.place, finding.text].join("\0");
      if (!found.has(key)) found.set(key, { finding, tasks: new Set() });
      found.get(key).tasks.add(task.task);
    }
  }
  const shown = [...found.values()].slice(0, state.rows).map(({ finding, tasks }) => {
    const where = [...tasks].slice(0, 5).join(", ") + (tasks.size > 5 ? `, and ${tasks.size - 5} more` : "");
    const steps = finding.steps.map(([at, text]) => make("tr", {}, make("td", { class: "text at" }, at), make("td", { class: "text" }, text)));
    return make("details", { class: "found" },
      make("summary", {}, make("b", {}, finding.place), " ", finding.text, make("span", { class: "dim" }, ` ${finding.rule}`)),
      make("div", { class: "dim" }, `in ${where}`), make("table", {}, make("tbody", {}, ...steps)));
  });
  place("findings", ...(shown.length ? [make("h2", {}, `Findings (${found.size})`), ...shown] : []));
}

function place(id, ...content) {
  document.getElementById(id).replaceChildren(...content);
}

function show() {
  const list = chosen();
  document.getElementById("facts").textContent = `${list.length} of ${tasks.length} tasks; ${RUNS.join(", ")}`;
  summary(list);
  quantiles(list);
  scatter(list);
  findings(list);
  table(list);
}

const root = document.documentElement;
root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });
filters();
show();
