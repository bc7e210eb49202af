"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const run = data.run;
const $ = id => document.getElementById(id);

/** An element: `make("td", {className: "number"}, "3")`. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
/** The function at which execution starts. Steps before it are added by Proviso. */
const START = "__start";
const entry = data.functions.find(({name}) => name === START)?.calls.find(name => data.functions.some(other => other.name === name && other.origin === "source")) ?? "main";
// A file is shown by the shortest end of its path that distinguishes it from the others.
const called = path => {
  const parts = path.split("/");
  for (let n = 1; n < parts.length; n++) {
    const end = "/" + parts.slice(-n).join("/");
    if (!data.files.some(file => file.path !== path && `/${file.path}`.endsWith(end))) return end.slice(1);
  }
  return path;
};
const place = spot => spot ? `${called(spot.file)}:${spot.line}` : "";

// Light or dark: the setting of the reader's system, until the button is used.
const theme = dark => document.documentElement.dataset.theme = dark ? "dark" : "light";
theme(matchMedia("(prefers-color-scheme: dark)").matches);
$("theme").onclick = () => theme(document.documentElement.dataset.theme !== "dark");

// The head.
const statistic = name => run.statistics[name];
$("verdict").append(make("span", {className: `badge ${run.verdict.toLowerCase()}`}, run.verdict_line));
const facts = [
  ["", run.files.map(called).join(", ")],
  ["property", run.properties.length > 4 ? `${run.properties.length} checks` : run.properties.join(", ")],
  ["data model", run.data_model],
  ["analysis", run.decided_by && run.decided_by !== run.analysis ? `${run.analysis} (${run.decided_by})` : run.analysis],
  ["time", statistic("total_seconds") === undefined ? null : `${statistic("total_seconds").toFixed(2)} s`],
];
$("facts").title = [...run.files, run.properties.join(", ")].join("\n");
for (const [name, value] of facts) {
  if (value) $("facts").append(name ? `  ·  ${name} ` : "", make("b", {}, value));
}

// The source: rows are made when a file is first shown.
const violations = data.violations;
let violation = violations[0];              // the selected one
let steps = violation?.trace ?? [];
const lines = new Map();                    // path -> line -> {notes, classes}
function about(spot) {
  if (!lines.has(spot.file)) lines.set(spot.file, new Map());
  const file = lines.get(spot.file);
  if (!file.has(spot.line)) file.set(spot.line, {notes: [], path: false, error: false});
  return file.get(spot.line);
}
for (const {location, message, help} of violations) {
  if (!location) continue;
  const line = about(location);
  line.error = true;
  line.notes.push(["violation", help ? `${message}\nhelp: ${help}` : message]);
}
for (const invariant of data.invariants) invariant.location = invariant.locations.reduce((first, other) => other.line < first.line ? other : first);
data.invariants.sort(({location: a}, {location: b}) => a.file.localeCompare(b.file) || a.line - b.line);
for (const invariant of data.invariants) {
  const spot = invariant.location;
  about(spot).notes.push(["invariant", `invariant: ${invariant.conditions.join("\n           ")}`]);
}
if (run.reason?.location) about(run.reason.location).notes.push(["approximation", run.reason.text]);
for (const note of run.notes) {
  if (note.location && note.text !== run.reason?.text) about(note.location).notes.push(["approximation", note.text]);
}

for (const file of lines.values()) {
  for (const line of file.values()) line.notes = [...new Map(line.notes.map(note => [note.join(), note])).values()];
}

const panes = new Map();
let shown = null;
/** Marks the lines on the path to the selected violation. */
function markWay() {
  for (const file of lines.values()) for (const line of file.values()) line.path = false;
  for (const step of steps) if (step.location) about(step.location).path = true;
  panes.clear();
  shown = null;
}
markWay();
function highlighted(text) {
  // Spans may cross lines: they are closed at the end of each and opened again on the next.
  const open = [];
  return hljs.highlight(text, {language: "c", ignoreIllegals: true}).value.split("\n").map(line => {
    const before = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? []) {
      if (tag === "</span>") open.pop(); else open.push(tag);
    }
    return before + line + "</span>".repeat(open.length);
  });
}
/** The results of the checks of a line: the worst as a sign, all in its title. */
const WORST = ["violated", "unknown", "not checked", "proved"];
function mark(checks) {
  if (!checks) return '<span class="c"></span>';
  const worst = WORST.find(word => checks.some(([, [, came]]) => came === word));
  const title = checks.map(([name, [count, came]]) => `${name}: ${came}${count > 1 ? ` (${count} places)` : ""}`).join("\n");
  const sign = {violated: "✗", unknown: "?", "not checked": "·", proved: "✓"}[worst];
  return `<span class="c ${worst.replace(" ", "-")}" title="${title.replaceAll('"', "&quot;")}">${sign}</span>`;
}
function pane(file) {
  const pane = make("div");
  if (file.text === null) {
    pane.append(make("p", {className: "note"}, "The text of this file is not in the report."));
    return pane;
  }
  const told = new Map(file.told ?? []);
  const code = new Map((file.code ?? []).map(([line, kept, reached]) => [line, {kept, reached}]));
  const checks = new Map(Object.entries(file.checks ?? {}).map(([line, checks]) => [Number(line), Object.entries(checks)]));
  const marked = lines.get(file.path) ?? new Map();
  // One text for all rows, because creating thousands of rows one by one takes seconds.
  pane.innerHTML = highlighted(file.text.replace(/\n$/, "")).map((html, index) => {
    const line = index + 1;
    const here = marked.get(line);
    const known = code.get(line);
    const classes = ["row", known ? (known.kept ? "kept" : "cut") : "", known?.reached === true ? "came" : known?.reached === false ? "missed" : "",
      told.has(line) ? `told ${told.get(line)}` : "", here?.path ? "path" : "", here?.error ? "error" : ""].filter(name => name);
    return `<div class="${classes.join(" ")}" data-line="${line}"><span class="n">${line}</span>${mark(checks.get(line))}<span class="t">${html || " "}</span></div>`;
  }).join("");
  const rows = [...pane.children];
  for (const [line, {notes}] of marked) rows[line - 1]?.after(...notes.map(([kind, text]) => make("div", {className: `note ${kind}`}, text)));
  return pane;
}
function showFile(path) {
  const file = data.files.find(file => file.path === path);
  if (!file) return null;
  if (shown !== path) {
    if (!panes.has(path)) panes.set(path, pane(file));
    $("source").replaceChildren(panes.get(path));
    shown = path;
    for (const button of $("files").children) button.setAttribute("aria-selected", button.dataset.path === path);
  }
  return panes.get(path);
}
function goTo(spot) {
  if (!spot) return;
  const pane = showFile(spot.file);
  document.querySelectorAll(".row.now").forEach(row => row.classList.remove("now"));
  const row = pane?.querySelector(`.row[data-line="${spot.line}"]`);
  row?.classList.add("now");
  row?.scrollIntoView({block: "nearest"});
}
for (const file of data.files) {
  const name = file.path.split("/").pop();
  const button = make("button", {title: file.path, onclick: () => showFile(file.path)}, name);
  button.dataset.path = file.path;
  button.setAttribute("role", "tab");
  $("files").append(button);
}
const legend = [["--accent", "decides the property"], ["--line", "sliced away"]];
const told = new Set(data.files.flatMap(file => (file.told ?? []).map(([, what]) => what)));
for (const [what, color, text] of [["ut", "--green", "all paths verified"], ["rt", "--red", "on a path to an error"], ["cand", "--yellow", "on a candidate"], ["open", "--dim", "open"]]) {
  if (told.has(what)) legend.push([color, text]);
}
const codes = data.files.flatMap(file => file.code ?? []);
if (codes.some(([, , reached]) => reached !== null)) {
  legend.push(["--came", "explored: an execution may reach this line"]);
  if (codes.some(([, , reached]) => reached === false)) legend.push(["--missed", data.complete ? "no execution comes here" : "not explored"]);
}
if (data.files.some(file => file.checks)) legend.push([null, "checks: ✓ proved ✗ violated ? unknown · not checked"]);
if (steps.length) legend.push(["--now", "on the path to the error"]);
if (data.invariants.length) legend.push(["--green-back", "invariant of the proof"]);
if (run.notes.length || run.reason) legend.push(["--yellow-back", "approximated"]);
for (const [color, text] of legend) {
  const swatch = make("i");
  swatch.style.background = color ? `var(${color})` : "none";
  $("legend").append(make("span", {}, swatch, text), " ");
}

// Views on the right.
const views = [];
let current = null;
function view(name, build, fixed = false) {
  const button = make("button", {onclick: () => open(name)}, name);
  button.setAttribute("role", "tab");
  $("tabs").append(button);
  views.push({name, build, button, fixed, content: null});
}
function open(name) {
  current = name;
  for (const view of views) {
    view.button.setAttribute("aria-selected", view.name === name);
    if (view.name !== name) continue;
    view.content ??= view.build();
    $("view").classList.toggle("fixed", view.fixed);
    $("view").replaceChildren(...view.content);
  }
}
const link = spot => spot ? make("span", {className: "link mono", onclick: () => goTo(spot)}, place(spot)) : "";
const table = (head, rows) => make("table", {},
  ...(head ? [make("tr", {}, ...head.map(cell => make("th", {}, cell)))] : []),
  ...rows.map(row => make("tr", {}, ...row.map(cell => make("td", {className: typeof cell === "number" ? "number" : ""},
    cell instanceof Node ? cell : String(cell ?? ""))))));

// The counterexample, step by step.
let at = 0;
let all = false;
let chosen = [];
function choose() {
  chosen = steps.map((step, index) => index).filter(index => all || steps[index].matters);
  if (!chosen.length) chosen = steps.map((step, index) => index);
}
const globals = new Set(data.globals);
const whole = name => /^[^.[<]*/.exec(name)[0];
const isPart = (key, whole) => key !== whole && key.startsWith(whole) && ".[<".includes(key[whole.length]);
/** Values after the steps 0 to `last`: frames, globals and the heap, each with its content, and the changes since step `previous`. */
function valuesAt(last, previous) {
  const world = new Map();
  const stack = [];
  const frame = depth => {
    while (stack.length <= depth) stack.push({name: "", values: new Map()});
    return stack[depth];
  };
  const write = ({frame: depth, object, path, value}, index) => {
    const values = depth === null ? world : frame(depth).values;
    const target = object + path;
    // A write of a whole changes its parts, and a write of a part changes the whole.
    for (const key of values.keys()) if (isPart(key, target) || isPart(target, key)) values.delete(key);
    values.set(target, {value, changed: index > previous});
  };
  for (let index = 0; index <= last; index++) {
    const step = steps[index];
    stack.length = Math.min(stack.length, step.depth + 1);
    const top = frame(step.depth);
    top.name ||= step.function;
    for (const written of step.writes ?? []) write(written, index);
    if (step.step === "call") {
      frame(step.depth + 1).name = step.callee;
      for (const {name, value} of step.arguments) if (name) write({frame: step.depth + 1, object: name, path: "", value}, index);
    } else if (step.step === "uninitialised" && step.target) {
      write({frame: globals.has(step.target) ? null : step.depth, object: step.target, path: "", value: step.value}, index);
    }
    // A value that was not written since the start is known once it is read. The target of a pointer is known only then.
    for (const {name, value} of step.operands ?? []) {
      if (!/^[A-Za-z_]\w*$/.test(name) && (index < last || name.includes("("))) continue;
      const isLocal = top.values.has(name) || !globals.has(name);
      if ((isLocal ? top.values : world).get(name)?.value !== value) write({frame: isLocal ? step.depth : null, object: name, path: "", value}, index);
    }
  }
  return {world, stack};
}
function showStep(index) {
  at = Math.max(0, Math.min(index, chosen.length - 1));
  const list = $("steps");
  list.querySelector(".now")?.classList.remove("now");
  const row = list.querySelector(`[data-at="${at}"]`);
  row?.classList.add("now");
  row?.scrollIntoView({block: "nearest"});
  $("slider").value = at;
  $("position").textContent = `step ${at + 1} of ${chosen.length}`;
  $("first").disabled = $("back").disabled = at === 0;
  $("next").disabled = $("last").disabled = at === chosen.length - 1;
  const {world, stack} = valuesAt(chosen[at], at === 0 ? -1 : chosen[at - 1]);
  // Values of one object are grouped.
  const objects = values => {
    const order = new Map();
    for (const [name] of values) order.set(whole(name), order.get(whole(name)) ?? order.size);
    return [...values].sort(([a], [b]) => order.get(whole(a)) - order.get(whole(b)) || a.localeCompare(b, "en", {numeric: true}));
  };
  const rows = values => objects(values).map(([name, {value, changed}]) =>
    make("tr", {className: changed ? "changed" : ""}, make("td", {}, name), make("td", {}, value)));
  const frames = [...stack].reverse().filter(({values}, depth) => values.size || depth === 0);
  const part = (name, values) => [make("div", {className: "frame"}, name), make("table", {className: "mono"}, ...rows(values))];
  const [heap, global] = [true, false].map(isHeap => [...world].filter(([name]) => name.startsWith("block #") === isHeap));
  $("values").replaceChildren(...frames.flatMap(({name, values}) => part(`in ${name}`, values)),
    ...(global.length ? part("global", global) : []), ...(heap.length ? part("on the heap", heap) : []));
  goTo(steps[chosen[at]].location ?? steps.slice(0, chosen[at]).reverse().find(step => step.location)?.location);
}
function fillSteps() {
  const rows = [];
  let pending = violation.left_out > 0;
  chosen.forEach((index, position) => {
    const step = steps[index];
    if (pending && index >= violation.cut) {
      rows.push(make("div", {className: "step dim"}, `… ${violation.left_out} steps are left out here`));
      pending = false;
    }
    const row = make("div", {className: `step mono ${step.step}`, onclick: () => showStep(position)},
      make("span", {className: "at"}, step.location ? String(step.location.line) : ""), make("span", {className: "what"}, step.text));
    row.dataset.at = position;
    rows.push(row);
  });
  $("steps").replaceChildren(...rows);
  $("slider").max = chosen.length - 1;
}
/** The call with which the program starts, and the objects to which its pointers point. */
function callTable(call) {
  const pointer = target => target === null ? "NULL" : target === "function" ? "a function" : `&object${target + 1}`;
  const shown = ({value, object}) => value ?? pointer(object);
  const member = entry => (entry.path ? `${entry.path} = ` : "") + shown(entry);
  const rows = call.objects.map(({type, size, members}, index) =>
    [`object${index + 1}`, `${type}, ${size} ${size === 1 ? "byte" : "bytes"}`, members.map(member).join(", ") || "0"]);
  const args = call.arguments.map(argument => `${argument.name} = ${shown(argument)}`);
  const content = table(null, [["call", "", `${call.function}(${args.join(", ")})`], ...rows]);
  content.classList.add("mono");
  content.id = "call";
  return content;
}
/** Selects another violation. */
function lookAt(index) {
  violation = violations[index];
  steps = violation.trace ?? [];
  markWay();
  at = 0;
  for (const view of views) if (!view.fixed || view.name === "Counterexample") view.content = null;
  open("Counterexample");
}
if (violations.some(({trace}) => trace?.length)) {
  view("Counterexample", () => {
    choose();
    const which = make("select", {id: "violation", title: "which violation", onchange: event => lookAt(Number(event.target.value))},
      ...violations.map(({property, location, message}, index) =>
        make("option", {value: String(index), selected: violations[index] === violation}, `${place(location)} ${property}: ${message}`)));
    if (!steps.length) return [which, make("p", {className: "dim"}, "There was no time left for the counterexample.")];
    const button = (id, text, title, target) => make("button", {id, title, onclick: () => showStep(target())}, text);
    const toggle = make("input", {type: "checkbox", id: "all", onchange: event => {
      const index = chosen[at];
      all = event.target.checked;
      choose();
      fillSteps();
      showStep(chosen.findIndex(other => other >= index));
    }});
    const content = [
      ...(violations.length > 1 ? [make("div", {className: "controls"}, which)] : []),
      make("div", {className: "controls"},
        button("first", "|◀", "first step (Home)", () => 0), button("back", "◀", "step back (←)", () => at - 1),
        button("next", "▶", "next step (→)", () => at + 1), button("last", "▶|", "last step (End)", () => chosen.length - 1),
        make("input", {type: "range", id: "slider", min: 0, ariaLabel: "step", oninput: event => showStep(Number(event.target.value))}),
        make("span", {id: "position", className: "dim"}),
        make("label", {title: "includes steps that do not depend on an input"}, toggle, " all steps")),
      ...(violation.call ? [callTable(violation.call)] : []),
      make("div", {id: "steps"}),
      make("div", {id: "values"}),
    ];
    queueMicrotask(() => { fillSteps(); showStep(chosen.length - 1); });
    return content;
  }, true);
  document.addEventListener("keydown", event => {
    if (current !== "Counterexample" || !steps.length || ["INPUT", "SELECT"].includes(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = {ArrowRight: at + 1, ArrowLeft: at - 1, j: at + 1, k: at - 1, Home: 0, End: chosen.length - 1}[event.key];
    if (target === undefined) return;
    event.preventDefault();
    showStep(target);
  });
}

/** The time slices of the analyses: a row for each analysis of each thread, with its slices from left to right. */
function turnsPicture() {
  const rows = [...new Set(run.turns.map(turn => `${turn.thread} ${turn.analysis}`))];
  const end = Math.max(...run.turns.map(turn => turn.end_seconds), 1e-6);
  const [left, width, height] = [130, 520, 22];
  const x = seconds => left + width * seconds / end;
  const picture = svg("svg", {class: "turns", viewBox: `0 0 ${left + width + 60} ${height * rows.length + 24}`, role: "img",
    "aria-label": "time slices of the analyses"});
  rows.forEach((row, index) => {
    const name = svg("text", {x: left - 8, y: height * index + 15, "text-anchor": "end"});
    const [thread, analysis] = row.split(" ");
    name.textContent = run.turns.some(turn => turn.thread > 0) ? `${analysis} (${Number(thread) + 1})` : analysis;
    picture.append(name, svg("line", {x1: left, x2: left + width, y1: height * (index + 1), y2: height * (index + 1)}));
  });
  for (const turn of run.turns) {
    const decided = turn.ended === "proof" || turn.ended === "violation";
    const bar = svg("rect", {x: x(turn.start_seconds), y: height * rows.indexOf(`${turn.thread} ${turn.analysis}`) + 4,
      width: Math.max(x(turn.end_seconds) - x(turn.start_seconds), 1.5), height: height - 8, rx: 2, class: decided ? "decided" : turn.ended === "gave up" ? "ended" : ""});
    const title = svg("title");
    title.textContent = `${turn.analysis}: ${turn.start_seconds.toFixed(3)} to ${turn.end_seconds.toFixed(3)} s, ` +
      `${turn.edges.toLocaleString("en")} operations, ${turn.solver_calls.toLocaleString("en")} solver calls: ${turn.ended}`;
    bar.append(title);
    picture.append(bar);
  }
  for (const part of [0, .25, .5, .75, 1]) {
    const mark = svg("text", {x: x(end * part), y: height * rows.length + 17, "text-anchor": part ? "middle" : "start"});
    mark.textContent = `${(end * part).toFixed(end < 1 ? 3 : 1)} s`;
    picture.append(mark);
  }
  return picture;
}

// Inputs, environment and assumptions.
view("Summary", () => {
  const out = [];
  const section = (title, ...content) => out.push(make("h2", {}, title), ...content);
  if (run.assumptions.length) section("Assumed", make("ul", {}, ...run.assumptions.map(text => make("li", {}, text))));
  if (violation?.call) section("Called as", callTable(violation.call));
  if (run.proof) section("Proof", make("p", {}, run.proof));
  if (violation) {
    const told = ({message, location, function: name}) => make("span", {}, `${message} `, link(location), name ? ` in ${name}` : "");
    if (violations.length === 1) section("Violation", make("p", {}, told(violation)));
    else section("Violations", table(null, violations.map((other, index) => [
      make("span", {className: "link", onclick: () => lookAt(index)}, other.property), told(other)])));
    if (violation.help) section("Help", make("p", {id: "help"}, violation.help));
    const inputs = violation.inputs ?? [];
    if (inputs.length) {
      section(violations.length > 1 ? `Inputs (${violation.property}, ${place(violation.location)})` : "Inputs", table(["", "from", "type", "value", "at"],
        inputs.map(input => [input.number, input.source, input.type,
          [input.value, ...(input.writes ?? []).map(({name, value}) => `${name} = ${value}`)].filter(text => text).join(", "), link(input.location)])));
    }
    if (violation.uninitialised?.length) {
      section("Uninitialised", table(["", "value", "at"], violation.uninitialised.map(input => [input.source, input.value, link(input.location)])));
    }
    const environment = violation.environment;
    const started = [];
    if (environment?.arguments) started.push(["arguments", environment.arguments.slice(1).map(text => JSON.stringify(text)).join(" ") || "none"]);
    if (environment && environment.stdin !== null) started.push(["standard input", JSON.stringify(environment.stdin)]);
    for (const [name, value] of Object.entries(environment?.variables ?? {})) started.push([name, value === null ? "not set" : JSON.stringify(value)]);
    if (started.length) section("Started with", table(null, started));
    for (const doubt of environment?.doubts ?? []) out.push(make("p", {className: "note approximation"}, `A native run may not show it: ${doubt}`));
  }
  const checks = (run.checks ?? []).filter(check => check.places || check.result !== "proved");
  if (checks.length > 1) section("Checks", table(["", "places", "proved", "violated", "open", ""],
    checks.map(check => [check.name, check.places, check.places_proved, check.places_violated, check.places_open, check.result])));
  const reached = data.files.flatMap(file => file.code ?? []).filter(([, kept, reached]) => kept && reached !== null);
  if (reached.length) {
    const came = reached.filter(([, , reached]) => reached).length;
    section("Coverage", make("p", {}, `${came} of ${reached.length} lines that matter were explored` +
      (came < reached.length ? `; ${data.complete ? "no execution reaches the others" : "the others were not reached"}.` : ".")));
  }
  if (run.reason) section("Why there is no verdict", make("p", {}, `${run.reason.text} `, link(run.reason.location)));
  if (data.invariants.length) {
    section("Invariants of the proof", table(["loop", "in", "holds at its head"],
      data.invariants.map(({location, function: name, conditions}) => [link(location), name,
        make("div", {className: "mono"}, ...conditions.map(text => make("div", {}, text)))])));
  }
  if (run.refinements.length) {
    section("Refinements", table(["", "tracks", "to refute a path to"],
      run.refinements.map(({location, tracked}, index) => [index + 1, make("span", {className: "mono"}, tracked.join(", ")), link(location)])));
  }
  const notes = run.notes.filter(note => note.text !== run.reason?.text);
  if (notes.length) section("Approximations", table(null, notes.map(note => [note.text, link(note.location)])));
  if (run.models.length) section("Library functions modelled", make("p", {className: "mono"}, run.models.join(", ")));
  if (run.turns.length) section("Time slices of the analyses", turnsPicture());
  const numbers = Object.entries(run.statistics).filter(([, value]) => value);
  const shape = value => Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3);
  section("Statistics", make("table", {}, ...numbers.map(([name, value]) =>
    make("tr", {}, make("td", {}, name.replaceAll("_", " ")), make("td", {className: "number"}, shape(value))))));
  return out;
});

// Control flow: the blocks of a function, laid out when the function is selected.
const MOST_BLOCKS = 600;
function picture(title, nodes, edges, onclick) {
  const graph = new dagre.graphlib.Graph({multigraph: true}).setGraph({nodesep: 24, ranksep: 34, marginx: 12, marginy: 12}).setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) {
    const width = Math.max(30, ...node.lines.map(([text]) => text.length * 6.7)) + 14;
    graph.setNode(node.id, {width, height: Math.max(1, node.lines.length) * 14 + 10, node});
  }
  edges.forEach(({from, to, label, kind}, index) => graph.setEdge(from, to, {label, kind, width: (label ?? "").length * 6.7, height: label ? 14 : 0, labelpos: "c"}, String(index)));
  dagre.layout(graph);
  const layer = svg("g");
  for (const name of graph.edges()) {
    const edge = graph.edge(name);
    const points = edge.points.map(({x, y}) => `${x.toFixed(1)},${y.toFixed(1)}`);
    layer.append(svg("path", {d: `M${points.join("L")}`, class: edge.kind ?? "", "marker-end": "url(#arrow)"}));
    if (edge.label) layer.append(svg("text", {x: edge.x, y: edge.y + 4, "text-anchor": "middle", class: edge.kind ?? ""}, edge.label));
  }
  for (const id of graph.nodes()) {
    const {x, y, width, height, node} = graph.node(id);
    const group = svg("g", {class: `block ${node.kind ?? ""}`, transform: `translate(${x - width / 2},${y - height / 2})`, "data-id": id},
      svg("rect", {width, height, rx: 4}));
    node.lines.forEach(([text, cut], index) => group.append(svg("text", {x: 7, y: 16 + 14 * index, class: cut ? "cut" : ""}, text)));
    group.addEventListener("click", () => onclick(node, group));
    layer.append(group);
  }
  const arrow = svg("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
    svg("path", {d: "M0,0L8,4L0,8z", style: "fill: var(--dim); stroke: none"}));
  const {width, height} = graph.graph();
  const drawing = svg("svg", {role: "img", "aria-label": title}, svg("defs", {}, arrow), layer);
  let scale = 1, x = 0, y = 0;
  const move = () => layer.setAttribute("transform", `translate(${x},${y}) scale(${scale})`);
  const zoom = (factor, px, py) => {
    const next = Math.min(4, Math.max(.03, scale * factor));
    x = px - (px - x) * next / scale;
    y = py - (py - y) * next / scale;
    scale = next;
    move();
  };
  drawing.addEventListener("wheel", event => {
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  drawing.addEventListener("pointermove", event => {
    if (event.buttons !== 1) return;
    x += event.movementX;
    y += event.movementY;
    move();
  });
  const fit = () => {
    const box = drawing.getBoundingClientRect();
    scale = Math.min(1, box.width / width, box.height / height);
    x = (box.width - width * scale) / 2;
    y = 0;
    move();
  };
  /** As `fit`, but large enough to be read, with the first node in view. */
  const enter = () => {
    fit();
    if (scale >= .6 || !nodes.length) return;
    const box = drawing.getBoundingClientRect();
    scale = .8;
    x = box.width / 2 - graph.node(nodes[0].id).x * scale;
    y = Math.min(0, box.height / 4 - graph.node(nodes[0].id).y * scale);
    move();
  };
  return {drawing, fit, enter, zoom};
}
function functionPicture(record) {
  const nodes = record.blocks.map(block => ({
    id: String(block.id), kind: `${block.kind} ${block.head ? "head" : ""}`,
    line: block.steps.find(([line]) => line > 0)?.[0],
    lines: block.steps.length ? block.steps.map(([line, text, kept]) => [`${line ? `${line}: ` : ""}${text}`.slice(0, 100), !kept]) : [["", false]],
  }));
  const known = new Set(nodes.map(node => node.id));
  const edges = record.blocks.flatMap(block => block.next.filter(([to]) => known.has(String(to))).map(([to, label, branch]) =>
    ({from: String(block.id), to: String(to), label: label?.slice(0, 60), kind: label === undefined ? "" : branch ? "then" : "else"})));
  return picture(`control flow of ${record.name}`, nodes, edges, (node, group) => {
    document.querySelectorAll(".block.now").forEach(block => block.classList.remove("now"));
    group.classList.add("now");
    if (node.line && record.file) goTo({file: record.file, line: node.line});
  });
}
function callPicture(select) {
  const own = data.functions.filter(({origin, name}) => origin === "source" && name !== START).slice(0, 300);
  const names = new Set(own.map(({name}) => name));
  const nodes = own.map(({name, file, line}) => ({id: name, lines: [[name, false]], file, at: line}));
  const edges = own.flatMap(({name, calls}) => calls.filter(callee => names.has(callee)).map(to => ({from: name, to})));
  return picture("calls", nodes, edges, node => select(node.id));
}
if (data.functions.length) {
  view("Control flow", () => {
    const canvas = make("div", {id: "canvas"});
    const select = make("select", {id: "function"}, make("option", {value: ""}, "call graph"),
      ...data.functions.map(({name, origin, blocks}, index) =>
        make("option", {value: String(index), disabled: !blocks.length}, `${name}${origin === "source" ? "" : `  (${origin})`}`)));
    let drawn = null;
    const draw = () => {
      const record = data.functions[select.value];
      if (record && record.blocks.length > MOST_BLOCKS) {
        canvas.replaceChildren(make("p", {className: "dim"}, `${record.name} has ${record.blocks.length} blocks, too many for a picture.`));
        drawn = null;
        return;
      }
      drawn = select.value === "" ? callPicture(choose) : functionPicture(record);
      canvas.replaceChildren(drawn.drawing);
      drawn.enter();
      if (record?.line) goTo({file: record.file, line: record.line});
    };
    const choose = name => {
      const index = data.functions.findIndex(other => other.name === name && other.blocks.length);
      if (index >= 0) { select.value = String(index); draw(); }
    };
    select.onchange = draw;
    const centre = factor => {
      const box = canvas.getBoundingClientRect();
      drawn?.zoom(factor, box.width / 2, box.height / 2);
    };
    queueMicrotask(() => { choose(violation?.function || entry); if (!drawn) draw(); });
    return [make("div", {className: "controls"}, select,
      make("button", {onclick: () => centre(1.3), title: "closer"}, "+"), make("button", {onclick: () => centre(1 / 1.3), title: "farther"}, "−"),
      make("button", {onclick: () => drawn?.fit()}, "fit"),
      make("span", {className: "dim"}, "loop heads have a thick frame; blocks removed by slicing are grey; drag and scroll")), canvas];
  }, true);
}
/** The part of the abstract reachability graph in one function: an edge from each state to the next one in the function. */
function statesPicture(number) {
  const {parents, functions, lines, status, names} = data.states;
  const own = functions.flatMap((of, state) => of === number ? [state] : []);
  const shown = own.slice(0, MOST_BLOCKS);
  const kinds = {e: "error", c: "covered", w: "waits", m: "merged", x: ""};
  const words = {e: "error", c: "covered", w: "waits", m: "merged"};
  const file = data.functions.find(({name}) => name === names[number])?.file;
  const nodes = shown.map(state => ({id: String(state), kind: kinds[status[state]], line: lines[state],
    lines: [[[lines[state] ? `line ${lines[state]}` : "", words[status[state]] ?? ""].filter(word => word).join(": "), false]]}));
  const edges = shown.flatMap(state => {
    let parent = parents[state];
    const through = new Set();
    while (parent >= 0 && functions[parent] !== number) {
      through.add(names[functions[parent]]);
      parent = parents[parent];
    }
    return parent < 0 ? [] : [{from: String(parent), to: String(state), label: through.size ? [...through].slice(0, 3).join(", ") : undefined}];
  });
  const drawn = picture(`states in ${names[number]}`, nodes, edges, (node, group) => {
    document.querySelectorAll(".block.now").forEach(block => block.classList.remove("now"));
    group.classList.add("now");
    if (node.line && file) goTo({file, line: node.line});
  });
  return {...drawn, said: own.length > shown.length ? `the first ${shown.length} of ${own.length} states in ${names[number]}` : `${own.length} states in ${names[number]}`};
}
if (data.pixels) {
  view("States", () => {
    const said = make("p", {className: "dim"});
    const place = make("div", {id: "canvas"});
    const select = make("select", {id: "states"}, make("option", {value: ""}, "all, as pixels"),
      ...(data.states?.names ?? []).map((name, index) => make("option", {value: String(index)}, name)));
    let drawn = null;
    const draw = () => {
      drawn = select.value === "" ? null : statesPicture(Number(select.value));
      said.textContent = drawn ? `${drawn.said}; an edge through other functions is named after them` +
          (data.states.left_out ? `; ${data.states.left_out.toLocaleString("en")} states are not in the report` : "") :
        "A pixel is a state. A row has the states at one distance from the start. Dark is explored, red is an error, green is covered by another state, yellow is where paths were merged, white is waiting.";
      place.replaceChildren(drawn ? drawn.drawing : make("div", {id: "pixels", innerHTML: data.pixels}));
      for (const button of zooms) button.disabled = !drawn;
      drawn?.enter();
    };
    select.onchange = draw;
    const centre = factor => {
      const box = place.getBoundingClientRect();
      drawn?.zoom(factor, box.width / 2, box.height / 2);
    };
    const zooms = [make("button", {onclick: () => centre(1.3), title: "closer"}, "+"),
      make("button", {onclick: () => centre(1 / 1.3), title: "farther"}, "−"), make("button", {onclick: () => drawn?.fit()}, "fit")];
    queueMicrotask(draw);
    return [make("div", {className: "controls"}, select, ...zooms), said, place];
  }, true);
}

const first = violation?.location?.file ?? run.reason?.location?.file ?? data.invariants[0]?.location?.file ?? data.files[0]?.path;
if (first) showFile(data.files.some(file => file.path === first) ? first : data.files[0]?.path);
open(views[0].name);
if (run.reason?.location) goTo(run.reason.location);
else if (!violation) goTo(data.functions.filter(({name, line}) => name === entry && line).map(({file, line}) => ({file, line}))[0]);

// The divider.
$("divider").addEventListener("pointerdown", event => {
  $("divider").setPointerCapture(event.pointerId);
  $("divider").onpointermove = move => $("left").style.flexBasis = `${100 * move.clientX / innerWidth}%`;
  $("divider").onpointerup = () => $("divider").onpointermove = null;
});
