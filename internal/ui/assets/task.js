// One task: its links, pages, actors, frames, and what happened.

import { attr, confirm, el, keyed, pill, show, text, ticking, toast } from "./dom.js";
import { bridged, clock, condition, count, ending, outage, pageHelp, plain, recoveries, recoveryWords, site, tone, whyNoAnchor } from "./words.js";
import { Refused, taskPath } from "./link.js";
import { actorTree, branch } from "./actors.js";
import { client } from "./clients.js";
import { tree } from "./tree.js";
import { waiting } from "./dialogs.js";

const MOST_EVENTS = 200;

export class Task {
  constructor({ link, toDialog }) {
    this.link = link;
    this.toDialog = toDialog;
    this.events = [];
    this.ever = 0; // events, ever
    this.node = this.build();
  }

  build() {
    const part = (title, ...kids) => el("section", { class: "card part", "aria-label": title }, el("h3", null, title), ...kids);

    this.name = el("h1", { class: "task-name" });
    this.state = pill();
    this.reason = el("p", { class: "reason" });
    this.labels = el("p", { class: "row labels" });
    this.stop = el("button", { type: "button", class: "danger-quiet", onclick: () => this.askStop() }, "Stop task");
    this.again = el("button", { type: "button", onclick: () => this.startAgain() }, "Start again");
    this.questions = el("div", { class: "questions" });
    this.asks = el("button", { type: "button", class: "asks", onclick: () => this.toDialog(this.id) });

    const lane = (title) => {
      const state = pill();
      const words = el("span", { class: "muted small" });
      const node = el("div", { class: "lane" }, el("span", { class: "lane-name" }, title), state, words);
      node.update = (link, off) => {
        state.update(off ? "off" : plain(link), off ? "none" : tone(link));
        text(words, off ? whyNoAnchor[off] ?? off : "");
      };
      return node;
    };
    this.primary = lane("Primary");
    this.anchor = lane("Anchor");
    const fact = (title) => {
      const value = el("dd");
      const node = el("div", null, el("dt", null, title), value);
      node.update = (v) => text(value, v);
      return node;
    };
    this.reconnects = fact("Reconnects");
    this.gap = fact("Last gap");
    this.restarts = fact("Browser restarts");
    this.bridge = fact("Dialogs");
    this.endpoint = el("p", { class: "muted small cut mono" });

    this.pages = el("div", { class: "pages" });
    this.noPages = el("p", { class: "muted small" }, "No page.");
    this.clientList = el("div", { class: "pages" });
    this.noClients = el("p", { class: "muted small" }, "No CDP client is connected.");
    this.actors = actorTree({ about: (a) => this.about(a) });
    this.frames = tree({
      label: "Frames of the current page",
      row: () => {
        const url = el("span", { class: "cut" });
        const own = el("span", { class: "pill small", "data-tone": "info" }, "own process");
        const asks = el("span", { class: "pill small", "data-tone": "warn" }, "asks");
        const line = el("span", { class: "frame" }, url, own, asks);
        line.update = ({ frame, asking }) => {
          text(url, frame.url || "about:blank");
          attr(url, "title", `${frame.url} (frame ${frame.frame_id})`);
          show(own, Boolean(frame.is_oopif));
          show(asks, Boolean(asking));
        };
        return line;
      },
    });
    this.noFrames = el("p", { class: "muted small" });
    this.past = el("div", { class: "log short" });
    this.noPast = el("p", { class: "muted small" }, "No dialog has been closed yet.");
    this.console = el("div", { class: "log short" });
    this.noConsole = el("p", { class: "muted small" }, "No errors.");
    this.log = el("div", { class: "log", role: "log", "aria-live": "off", "aria-label": "Events, the newest first", tabindex: "0" });

    this.gone = el("div", { class: "card none big", hidden: true });
    this.lastPage = el("p", { class: "mono" });
    this.last = part("Last page", this.lastPage);
    this.happened = part("Events", this.log);
    // Only a task that runs has these.
    this.living = [
      part("Pages", this.pages, this.noPages),
      part("Connections", el("div", { class: "lanes" }, this.primary, this.anchor), el("dl", { class: "facts" }, this.reconnects, this.gap, this.restarts, this.bridge), this.endpoint),
      part("Clients", this.clientList, this.noClients),
      part("Frames", this.frames, this.noFrames),
      part("Closed dialogs", this.past, this.noPast),
      part("Console errors", this.console, this.noConsole),
      part("Supervision tree", this.actors),
    ];
    const [pages, connections, clients, frames, past, errors, actors] = this.living;
    this.parts = el("div", { class: "parts" }, this.last, pages, connections, clients, frames, this.happened, past, errors, actors);
    this.head = el("div", { class: "task-head" },
      el("a", { class: "back", href: "#/tasks" }, "‹ Tasks"),
      el("div", { class: "row wrap" }, this.name, this.state, el("span", { class: "spring" }), this.asks, this.again, this.stop), this.labels, this.reason, this.questions);
    return el("div", { class: "task-view" }, this.head, this.gone, this.parts);
  }

  /** begin turns to another task, of which nothing is known yet. */
  begin(id) {
    this.id = id;
    this.snapshot = undefined;
    this.tree = null;
    this.clients = [];
    this.events = [];
    text(this.name, id);
    this.draw();
  }

  /** told takes what the stream tells of the task. */
  told({ snapshot, events }) {
    // Versions only grow, but for a task that was started anew under the id.
    if (snapshot && this.snapshot && snapshot.version < this.snapshot.version) this.events = [];
    this.snapshot = snapshot ?? null;
    // After a reconnect the node tells again what it still knows.
    const known = this.events[0]?.version ?? 0;
    for (const e of events ?? []) {
      if (e.type === "reset" || e.version <= known) continue;
      const last = this.events[0];
      const said = sentence(e);
      // A run of events that say the same is one line, with their number.
      if (last && last.type === e.type && last.text === said) Object.assign(last, { version: e.version, at: e.at, times: last.times + 1 });
      else this.events.unshift({ key: ++this.ever, version: e.version, type: e.type, text: said, at: e.at, times: 1 });
    }
    this.events.length = Math.min(this.events.length, MOST_EVENTS);
  }

  draw() {
    const s = this.snapshot;
    const active = Boolean(s?.active);
    const how = s ? condition(s) : { word: s === undefined ? "…" : "not running", tone: "none" };
    this.state.update(how.word, how.tone);
    const reason = s?.reason || (active ? outage(s.connection) : "");
    text(this.reason, reason);
    show(this.reason, Boolean(reason));
    keyed(this.labels, Object.entries(s?.labels ?? {}), ([k]) => k, () => {
      const node = el("span", { class: "label" });
      node.update = ([k, v]) => text(node, `${k}=${v}`);
      return node;
    });
    show(this.labels, Object.keys(s?.labels ?? {}).length > 0);
    show(this.stop, active || s?.state === "lost");
    text(this.stop, active ? "Stop task" : "Remove");
    show(this.again, Boolean(s) && !active);
    const asks = waiting(s ?? {}).length;
    show(this.asks, asks > 0);
    text(this.asks, asks > 0 ? `${count(asks, "question")} ${asks === 1 ? "waits" : "wait"}` : "");
    show(this.gone, s === null || (s !== undefined && !active));
    show(this.parts, s !== null && s !== undefined);
    for (const p of this.living) show(p, active);
    show(this.last, Boolean(s) && !active && Boolean(s.last_page));
    text(this.lastPage, s?.last_page ? `${s.last_page.title ? `${s.last_page.title}: ` : ""}${s.last_page.url}` : "");
    if (s === null) text(this.gone, "There is no such task, or it has stopped. Start it: holdfast task start " + this.id);
    else if (s && !active) text(this.gone, s.state === "lost" ? "This task was lost. What happened is below; its browser's pages are not the task's any more." : "This task has stopped.");
    this.drawEvents();
    if (!active) return;

    this.primary.update(s.connection.primary);
    this.anchor.update(s.connection.anchor, s.connection.anchor_off);
    this.reconnects.update(s.connection.reconnects.toLocaleString("en"));
    this.gap.update(s.connection.reconnects ? `${s.connection.last_gap_ms.toLocaleString("en")} ms` : "–");
    this.restarts.update(s.connection.browser_restarts);
    const over = s.connection.bridge === "on";
    this.bridge.update(over ? "bridge" : "native");
    attr(this.bridge, "title", over ? `by ${s.connection.bridge_by}` : null);
    text(this.endpoint, s.connection.endpoint);

    keyed(this.pages, s.pages ?? [], (p) => p.target_id, () => this.page());
    show(this.noPages, !s.pages?.length);
    keyed(this.clientList, this.clients, (c) => c.client_id, () => client({ disconnect: (c) => this.askDisconnect(c) }));
    show(this.noClients, this.clients.length === 0);
    if (this.tree) this.actors.update([branch(this.tree.root)]);
    this.drawFrames(s);
    this.drawPast(s);
    this.drawConsole(s);
  }

  drawEvents() {
    keyed(this.log, this.events, (e) => e.key, () => {
      const at = el("span", { class: "muted mono" });
      const kind = el("span", { class: "kind" });
      const what = el("span", { class: "what" });
      const line = el("p", null, at, kind, what);
      line.update = (e) => {
        text(at, clock(e.at));
        text(kind, plain(e.type));
        text(what, e.times > 1 ? `${e.text} ×${e.times}` : e.text);
      };
      return line;
    });
  }

  page() {
    const state = pill();
    const title = el("span", { class: "title" });
    const current = el("span", { class: "pill small", "data-tone": "none" }, "current");
    const unbridged = el("span", { class: "pill small", "data-tone": "warn" }, "no bridge");
    const url = el("p", { class: "muted small cut mono" });
    const help = el("p", { class: "small" });
    const actions = el("dl", { class: "recoveries" });
    const node = el("div", { class: "page" }, el("div", { class: "row" }, state, title, current, unbridged), url, help, actions);
    node.update = (p) => {
      node.page = p;
      state.update(plain(p.page_state), tone(p.page_state));
      text(title, p.title || site(p.url) || "untitled");
      text(url, p.url);
      attr(url, "title", p.url);
      show(current, p.target_id === this.snapshot.page_target_id && this.snapshot.pages.length > 1);
      show(unbridged, p.bridge === "unavailable");
      show(help, p.page_state in pageHelp);
      text(help, pageHelp[p.page_state] ?? "");
      const ways = recoveries[p.page_state] ?? [];
      show(actions, ways.length > 0);
      keyed(actions, ways, (a) => a, (a) => el("div", null,
        el("dt", null, el("button", { type: "button", class: a === "close" ? "danger-quiet" : "", onclick: () => this.askRecover(node.page, a) }, a[0].toUpperCase() + a.slice(1))),
        el("dd", { class: "small" }, `${a === ways[0] ? "Recommended. " : ""}${recoveryWords[a]}`)));
    };
    return node;
  }

  drawFrames(s) {
    const t = s.frame_tree;
    show(this.frames, Boolean(t));
    text(this.noFrames, t ? (t.truncated ? `There are more: holdfast snapshot ${this.id} --full` : "") : "The current page has no frames yet.");
    show(this.noFrames, !t || t.truncated);
    if (!t) return;
    const asking = new Set((s.pending_dialogs ?? []).map((d) => d.frame_id));
    const node = (f) => ({ key: f.frame_id, frame: f, asking: asking.has(f.frame_id), children: [] });
    const top = node(t.top);
    const known = new Map([[t.top.frame_id, top]]);
    for (const f of t.children ?? []) {
      const n = node(f);
      (known.get(f.parent_frame_id) ?? top).children.push(n);
      if (!known.has(f.frame_id)) known.set(f.frame_id, n);
    }
    this.frames.update([top]);
  }

  drawPast(s) {
    const list = [...(s.recent_dialogs ?? [])].reverse();
    keyed(this.past, list, (d) => `${d.id} ${d.opened_at}`, (d) => el("p", null, el("span", { class: "muted mono" }, clock(d.closed_at)), el("span", { class: "kind" }, d.type), el("span", { class: "what" }, `“${d.message}” ${ending(d)}`)));
    show(this.past, list.length > 0);
    show(this.noPast, list.length === 0);
  }

  drawConsole(s) {
    const list = [...(s.console_errors ?? [])].reverse();
    keyed(this.console, list.map((e, i) => ({ e, key: `${e.ts} ${list.length - i}` })), (k) => k.key, ({ e }) => el("p", null, el("span", { class: "muted mono" }, clock(e.ts)), el("span", { class: "kind" }, e.level), el("span", { class: "what mono" }, e.text)));
    show(this.console, list.length > 0);
    show(this.noConsole, list.length === 0);
  }

  /** about says which page or frame a session serves. */
  about(a) {
    if (a.kind !== "session") return "";
    const id = a.key.replace(/^session\//, "");
    const s = this.snapshot;
    const page = s?.pages?.find((p) => p.session_id === id);
    if (page) return site(page.url);
    const frame = s?.frame_tree?.children?.find((f) => f.session_id === id);
    return frame ? `frame ${site(frame.url)}` : "";
  }

  async askStop() {
    const id = this.id;
    const isOver = !this.snapshot?.active;
    const words = isOver ? "It leaves the list. What is known of its end is forgotten." : "Its connections end and the tabs it made are closed. Dialogs that wait are dismissed.";
    if (!(await confirm({ title: isOver ? `Remove ${id}?` : `Stop ${id}?`, words, yes: isOver ? "Remove" : "Stop task" }))) return;
    await order(() => this.link.call("DELETE", taskPath(id)), isOver ? `${id} is removed.` : `${id} has stopped.`);
  }

  /** startAgain starts a task that has ended as it was started before. */
  async startAgain() {
    const id = this.id;
    await order(() => this.link.call("POST", taskPath(id, "/restart")), `${id} has started again.`);
  }

  async askDisconnect(c) {
    const id = this.id;
    if (!(await confirm({ title: `Disconnect ${c.name}?`, words: "Its connection ends. The task's pages stay as they are, and it may connect again.", yes: "Disconnect" }))) return;
    await order(() => this.link.call("DELETE", taskPath(id, `/clients/${encodeURIComponent(c.client_id)}`)), `${c.name} is disconnected.`);
  }

  async askRecover(page, action) {
    const id = this.id;
    if (!(await confirm({ title: `${action[0].toUpperCase()}${action.slice(1)} this page?`, words: `${page.title || site(page.url)}: ${recoveryWords[action]}`, yes: action[0].toUpperCase() + action.slice(1) }))) return;
    await order(() => this.link.call("POST", taskPath(id, "/recover"), { action, target_id: page.target_id }), `${plain(action)}: done.`);
  }
}

/** order does what was asked for, and says what came of it. */
async function order(what, done) {
  try {
    await what();
    toast(done);
  } catch (e) {
    toast(e instanceof Refused ? e.message : "The node does not answer.", "bad");
  }
}

/** sentence is an event in words. */
function sentence(e) {
  if (e.dialog) return `${e.dialog.type} “${e.dialog.message}”`;
  if (e.blocker) return `${e.blocker.type}: ${e.blocker.message}`;
  if (e.closed_blocker) return `${e.closed_blocker.type} ${ending(e.closed_blocker)}`;
  if (e.recovery) return `${e.recovery.action} ${e.recovery.result}${e.recovery.automatic ? ", unasked" : ""}`;
  if (e.closed_dialog) return `${e.closed_dialog.type} ${ending(e.closed_dialog)}`;
  if (e.page) return pageSentence(e);
  if (e.frame_tree) return `${count((e.frame_tree.children?.length ?? 0) + 1, "frame")} on ${site(e.frame_tree.top?.url)}`;
  if (e.connection) return `primary ${e.connection.primary}, anchor ${e.connection.anchor_off ? "off" : e.connection.anchor}${bridged(e.connection)}${e.reason ? ` (${e.reason})` : ""}`;
  if (e.console_error) return `${e.console_error.level}: ${e.console_error.text}`;
  return `${plain(e.state)}${e.reason ? ` (${e.reason})` : ""}`;
}

/** pageSentence says what is new about a page. */
function pageSentence({ page, changed = [] }) {
  const words = { title: `title “${page.title}”`, url: page.url, page_state: plain(page.page_state), bridge: `bridge ${page.bridge}`, session_id: "new session" };
  const news = changed.map((c) => words[c]).filter(Boolean);
  if (news.length === 0) return `${plain(page.page_state)}${bridged(page)} ${page.url}`;
  return changed.includes("url") ? news.join(", ") : `${news.join(", ")} on ${page.url}`;
}
