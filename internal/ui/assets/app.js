// What belongs to no single part: signing in, the current place, and passing on what the
// node sends to the parts that show it.

import { attr, el, pill, show, text, ticking, toast } from "./dom.js";
import { Link, keepToken, keptToken, openSession, takeCode } from "./link.js";
import { List, urgency } from "./list.js";
import { Dialogs } from "./dialogs.js";
import { Task } from "./task.js";
import { Overview } from "./overview.js";
import { clock, now, span } from "./words.js";

const $ = (id) => document.getElementById(id);

const tasks = new Map(); // id → summary
let node = null; // what it says of itself
let place = { view: "overview", task: "" };
let dirty = false;

const link = new Link({
  state: linkIs,
  node: (n) => { node = n; redraw(); },
  tasks: (news) => {
    if (news.all) tasks.clear();
    for (const t of news.tasks) tasks.set(t.task_id, t);
    for (const id of news.gone ?? []) tasks.delete(id);
    document.body.dataset.known = "";
    redraw();
  },
  task: (news) => { task.told(news); redraw(); },
  tree: (t) => { task.tree = t; redraw(); },
  clients: (c) => { task.clients = c.clients; redraw(); },
  unauthorized: (why) => leave(/expired/.test(why) ? "This session has expired: holdfast ui prints a new link." : "This token is not good for this node: it is wrong, or has been replaced."),
  forbidden: () => { toast("The token is not good for this task.", "bad"); location.hash = "#/"; },
});

const list = new List($("list"), { open: (id) => { location.hash = `#/task/${encodeURIComponent(id)}`; }, filtered: () => redraw() });
const dialogs = new Dialogs($("rail"), { link });
const task = new Task({ link, toDialog: (id) => dialogs.focus(id) });
const overview = new Overview({ link, wanted: () => Boolean(link.token) && place.view !== "task" });
const narrow = () => matchMedia("(max-width: 760px)").matches;
// Where the rail is not beside the task, the task's own questions are on its screen.
const railBelow = matchMedia("(max-width: 1180px)");

// ---- where one is

function go() {
  const at = /^#\/(task\/([^/]+)|tasks|dialogs|node)?$/.exec(location.hash);
  let id = "";
  try {
    id = at?.[2] ? decodeURIComponent(at[2]) : "";
  } catch {
    // No id was ever written like that.
  }
  const before = place;
  place = { view: id ? "task" : at?.[1] ?? "overview", task: id };
  if (place.view === "overview" && narrow()) place.view = "tasks";
  document.body.dataset.view = place.view;
  if (id !== before.task) {
    if (id) task.begin(id);
    $("main").scrollTop = 0;
    link.watch(id);
  }
  const shown = id ? task.node : overview.node;
  if ($("main").firstChild !== shown) $("main").replaceChildren(shown);
  if (!id) overview.look();
  redraw();
}

// ---- drawing, once a frame however much is told

function redraw() {
  if (dirty) return;
  dirty = true;
  // A hidden page has no frames; its title is looked at all the same.
  (document.hidden ? setTimeout : requestAnimationFrame)(draw);
}

function draw() {
  dirty = false;
  if (!link.token) return;
  const all = [...tasks.values()].sort((a, b) => urgency(a) - urgency(b) || (a.task_id < b.task_id ? -1 : 1));
  dialogs.update(tasks, place.task);
  dialogs.showIn(place.task && railBelow.matches ? task.questions : null);
  attr(list.home, "aria-current", place.task ? null : "page");
  list.update(all, place.task);
  if (place.task) task.draw();
  else overview.draw(tasks, list.rows.length < all.length ? new Set(list.rows.map((t) => t.task_id)) : null);
  drawNode();
  drawTabs();
  const title = `${dialogs.waiting ? `(${dialogs.waiting}) ` : ""}${place.task ? `${place.task} · ` : ""}Holdfast`;
  if (document.title !== title) document.title = title;
}

// ---- the header

const ready = pill();
const load = el("span", { class: "load" }, el("span"), el("span", { class: "word" }), el("span", { class: "bar", "aria-hidden": "true" }, el("i")));
const queue = el("span", { class: "muted" });
const reason = el("span", { class: "muted cut" });
const build = el("span", { class: "muted wide" });
$("node").append(ready, reason, load, queue, build);
ticking(build, () => { if (node) text(build, `${location.host} · ${node.version || "devel"} · up ${span(now() - node.started_at)}`); });

function drawNode() {
  if (!node) return;
  const p = node.pressure;
  const why = node.checks?.find((c) => !c.advisory)?.reason;
  if (p.draining) ready.update("Draining", "warn");
  else ready.update(node.ready ? "Ready" : "Not ready", node.ready ? "ok" : "bad");
  attr(ready, "title", why ?? null);
  text(reason, node.ready || p.draining ? "" : why ?? "");
  show(reason, reason.textContent !== "");
  const limit = p.limits?.tasks ?? 0;
  text(load.firstChild, node.scope === "admin" ? `${p.running.toLocaleString("en")} running` : node.scope);
  text(load.children[1], limit && node.scope === "admin" ? `of ${limit.toLocaleString("en")} allowed` : "");
  load.lastChild.firstChild.style.setProperty("--left", limit ? Math.min(1, p.running / limit) : 0);
  show(load.lastChild, limit > 0 && node.scope === "admin");
  text(queue, p.queued ? `${p.queued} queued` : "");
  show(queue, p.queued > 0);
  build.tick();
}

const tabs = [["#/tasks", "Tasks", "tasks"], ["#/dialogs", "Dialogs", "dialogs"], ["#/node", "Node", "node"]].map(([href, word, view]) => {
  const number = el("span", { class: "number" });
  const a = el("a", { href }, word, number);
  a.view = view;
  a.number = number;
  $("tabs").append(a);
  return a;
});

function drawTabs() {
  for (const a of tabs) attr(a, "aria-current", a.view === place.view || (a.view === "tasks" && place.view === "task") ? "page" : null);
  text(tabs[1].number, dialogs.waiting || "");
}

let lost = 0;
let linkState = "";
function linkIs(state, details) {
  clearInterval(lost);
  if (state === linkState && state !== "lost") return;
  linkState = state;
  const box = $("link");
  document.body.dataset.link = state;
  away(state === "lost");
  if (state === "live") { text(box, "Live"); attr(box, "data-tone", "ok"); }
  if (state === "connecting") { text(box, "Connecting…"); attr(box, "data-tone", "info"); }
  if (state === "lost") {
    attr(box, "data-tone", "bad");
    const words = () => text(box, `${details.refused ? "Refused" : "Connection lost"} – retrying${details.next > Date.now() + 1500 ? ` in ${span((details.next - Date.now()) / 1000)}` : ""}`);
    words();
    lost = setInterval(words, 1000);
    attr(box, "title", details.refused || null);
    if (!$("login").hidden) text($("login-error"), "The node does not answer. Trying again…");
  }
  if (state === "live" && !$("login").hidden) enter();
}

// away says across the whole page that what it shows is old, and of when it is.
let heard = 0;
function away(isAway) {
  if (!isAway) heard = now();
  dialogs.freeze(isAway);
  show($("away"), isAway);
  if (isAway) text($("away"), heard ? `The node is out of reach. What you see is of ${clock(heard)}; it may have changed since.` : "The node is out of reach.");
}

const themes = ["auto", "light", "dark"];
function showTheme() {
  const theme = document.documentElement.dataset.theme ?? "auto";
  text($("theme"), { auto: "◐", light: "☀", dark: "☾" }[theme]);
  attr($("theme"), "aria-label", `Colours: ${theme}. Change`);
  attr($("theme"), "title", `Colours: ${theme}`);
}
$("theme").addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % themes.length];
  if (next === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    if (next === "auto") localStorage.removeItem("holdfast-theme");
    else localStorage.setItem("holdfast-theme", next);
  } catch {
    // It holds for as long as the page.
  }
  showTheme();
});

// ---- signing in and out

function enter() {
  keepToken(link.token);
  $("token").value = "";
  text($("login-error"), "");
  show($("login"), false);
  show($("app"), true);
  go();
}

function leave(why) {
  link.stop();
  keepToken("");
  tasks.clear();
  node = null;
  show($("app"), false);
  show($("login"), true);
  text($("login-error"), why);
  document.title = "Holdfast";
  $("token").focus();
}

$("login-form").addEventListener("submit", (e) => {
  e.preventDefault();
  const token = $("token").value.trim();
  if (!token) return;
  text($("login-error"), "");
  linkState = "";
  // What a header cannot carry is no token.
  if (!/^[\x21-\x7e]+$/.test(token)) return leave("This is no token.");
  link.start(token);
});
$("leave").addEventListener("click", () => leave(""));
$("skip").addEventListener("click", (e) => { e.preventDefault(); $("main").focus(); });
// begin shows the node to a token that is taken for good until the node says no.
function begin(token) {
  keepToken(token);
  linkState = "";
  text($("login-error"), "");
  show($("login"), false);
  show($("app"), true);
  link.follow = "";
  link.token = token;
  go();
  link.start(token);
}

// signIn opens a session by a code from the address; where that fails, a session
// that there is stays.
async function signIn(code) {
  const before = keptToken();
  try {
    begin(await openSession(code));
  } catch (e) {
    if (before) toast(e.message, "bad");
    else leave(e.message);
  }
}
addEventListener("hashchange", () => {
  const code = takeCode();
  if (code) signIn(code);
  go();
});
matchMedia("(max-width: 760px)").addEventListener("change", go);
railBelow.addEventListener("change", redraw);

showTheme();
const code = takeCode();
const token = keptToken();
if (/^[\x21-\x7e]+$/.test(token)) begin(token);
else if (!code) leave("");
if (code) signIn(code);
