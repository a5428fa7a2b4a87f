// The list of tasks: a listbox of which only the rows in sight exist, so that a
// thousand tasks cost what twenty do.

import { attr, el, keyed, pill, show, text } from "./dom.js";
import { condition, outage, site, tone } from "./words.js";

const HEIGHT = 60; // of a row, as in the style sheet
const MARGIN = 6; // rows beyond each edge

/** urgency orders a list: what waits for a person first, then what is broken. */
export const urgency = (t) => (t.pending_dialogs?.length > 0 ? 0 : troubled(t) ? 1 : 2);

/** troubled says that a task needs attention. */
export const troubled = (t) =>
  ["recovering", "wedged", "lost"].includes(t.state) || t.unwell > 0 || (t.active && t.state !== "starting" && t.connection.primary !== "up");

const filters = [
  { id: "all", word: "All", keep: () => true },
  { id: "trouble", word: "Trouble", keep: troubled },
  { id: "dialogs", word: "Dialogs", keep: (t) => t.pending_dialogs?.length > 0 },
];

export class List {
  /** open(id) is called for the task that is chosen; filtered() when another
   * part of the tasks is shown. */
  constructor(root, { open, filtered }) {
    this.open = open;
    this.filtered = filtered;
    this.filter = filters[0];
    this.words = "";
    this.all = [];
    this.rows = [];
    this.cursor = 0;
    this.chosen = "";

    this.search = el("input", { type: "search", placeholder: "Search tasks", "aria-label": "Search tasks by id, page or label", autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/" });
    this.search.addEventListener("input", () => { this.words = this.search.value.trim().toLowerCase(); this.sift(); this.box.scrollTop = 0; this.draw(); filtered(); });
    this.search.addEventListener("keydown", (e) => {
      if (e.key === "ArrowDown") { e.preventDefault(); this.box.focus(); }
      if (e.key === "Escape" && this.search.value) { e.preventDefault(); this.search.value = ""; this.search.dispatchEvent(new Event("input")); }
    });
    this.chips = filters.map((f) => {
      const number = el("span", { class: "number" });
      const chip = el("button", { type: "button", class: "chip", onclick: () => { this.filter = f; this.sift(); this.box.scrollTop = 0; this.draw(); filtered(); } }, f.word, number);
      chip.filter = f;
      chip.number = number;
      return chip;
    });
    this.box = el("div", { class: "rows", role: "listbox", tabindex: "0", "aria-label": "Tasks" });
    this.tall = el("div", { class: "tall", role: "presentation" });
    this.none = el("div", { class: "none", hidden: true });
    this.box.append(this.tall);
    this.box.addEventListener("scroll", () => this.paint(), { passive: true });
    this.box.addEventListener("keydown", (e) => this.key(e));
    this.box.addEventListener("focus", () => this.paint());
    this.box.addEventListener("blur", () => this.paint());
    new ResizeObserver(() => this.paint()).observe(this.box);
    this.home = el("a", { class: "home", href: "#/node" }, "Overview");
    root.append(
      el("div", { class: "list-head" }, this.home, el("h2", { class: "unseen" }, "Tasks"), this.search, el("div", { class: "chips", role: "group", "aria-label": "Which tasks" }, ...this.chips)),
      this.box, this.none,
    );
    addEventListener("keydown", (e) => {
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) return;
      e.preventDefault();
      this.search.focus();
    });
  }

  /** update takes all tasks, by id, and the one that is chosen. */
  update(all, chosen) {
    if (chosen !== this.chosen) {
      this.chosen = chosen;
      const at = this.rows.findIndex((t) => t.task_id === chosen);
      if (at >= 0) this.cursor = at;
    }
    const at = this.rows[this.cursor]?.task_id;
    this.all = all;
    this.sift();
    // The cursor stays with its task when others come and go above it.
    const moved = this.rows.findIndex((t) => t.task_id === at);
    if (moved >= 0) this.cursor = moved;
    this.draw();
  }

  sift() {
    const words = this.words;
    const hit = (t) => !words || t.task_id.toLowerCase().includes(words) || t.state.includes(words) ||
      (t.url ?? "").toLowerCase().includes(words) || (t.title ?? "").toLowerCase().includes(words) ||
      Object.entries(t.labels ?? {}).some(([k, v]) => `${k}=${v}`.toLowerCase().includes(words));
    this.rows = this.all.filter((t) => this.filter.keep(t) && hit(t));
    this.cursor = Math.max(0, Math.min(this.cursor, this.rows.length - 1));
  }

  draw() {
    for (const chip of this.chips) {
      attr(chip, "aria-pressed", String(chip.filter === this.filter));
      text(chip.number, this.all.filter(chip.filter.keep).length.toLocaleString("en"));
    }
    this.tall.style.height = `${this.rows.length * HEIGHT}px`;
    show(this.box, this.rows.length > 0);
    show(this.none, this.rows.length === 0);
    if (this.rows.length === 0) {
      if (this.all.length > 0) text(this.none, "No task is like that.");
      else if (!this.none.querySelector("code")) {
        this.none.replaceChildren("No tasks yet. Start one:", el("code", null, "holdfast task start my-task"));
      }
    }
    this.paint();
  }

  /** paint draws the rows that are in sight. */
  paint() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / HEIGHT) - MARGIN);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / HEIGHT) + MARGIN);
    const seen = [];
    for (let i = first; i < last; i++) seen.push(i);
    // The cursor's row exists always: it is what a screen reader stands on.
    if (this.rows.length > 0 && (this.cursor < first || this.cursor >= last)) seen.push(this.cursor);
    const focused = document.activeElement === this.box;
    keyed(this.tall, seen.map((i) => ({ task: this.rows[i], at: i, of: this.rows.length, chosen: this.rows[i].task_id === this.chosen, cursor: focused && i === this.cursor })), (r) => r.task.task_id, () => this.row());
    const current = this.rows[this.cursor];
    attr(this.box, "aria-activedescendant", current ? rowID(current.task_id) : null);
  }

  row() {
    const name = el("span", { class: "name" });
    const where = el("span", { class: "where" });
    const state = pill();
    const links = el("span", { class: "links", "aria-hidden": "true" }, el("i"), el("i"));
    const node = el("div", { class: "task", role: "option" }, el("span", { class: "line" }, name, state), el("span", { class: "line" }, where, links));
    node.addEventListener("click", () => { this.cursor = node.at; this.open(node.task); });
    node.update = ({ task: t, at, of, chosen, cursor }) => {
      node.task = t.task_id;
      node.at = at;
      node.style.transform = `translateY(${at * HEIGHT}px)`;
      attr(node, "id", rowID(t.task_id));
      attr(node, "aria-posinset", at + 1);
      attr(node, "aria-setsize", of);
      attr(node, "aria-selected", String(chosen));
      attr(node, "data-cursor", cursor);
      text(name, t.task_id);
      const how = condition(t);
      state.update(how.word, how.tone);
      text(where, t.active ? outage(t.connection) || t.title || site(t.url) || "no page" : t.reason || "");
      attr(links.children[0], "data-tone", t.active ? tone(t.connection.primary) : "none");
      attr(links.children[1], "data-tone", t.active ? (t.connection.anchor_off ? "none" : tone(t.connection.anchor)) : "none");
      attr(links, "title", t.active ? `primary ${t.connection.primary}, anchor ${t.connection.anchor}` : null);
    };
    return node;
  }

  key(e) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / HEIGHT) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[e.key];
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      if (this.rows[this.cursor]) this.open(this.rows[this.cursor].task_id);
    } else if (step !== undefined) {
      e.preventDefault();
      this.cursor = Math.max(0, Math.min(this.rows.length - 1, this.cursor + step));
      const top = this.cursor * HEIGHT;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (top + HEIGHT > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + HEIGHT - this.box.clientHeight;
      this.paint();
    }
  }
}

const rowID = (id) => `task-${id}`;
