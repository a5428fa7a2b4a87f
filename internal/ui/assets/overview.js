// The node as a whole: the states of its tasks, which of them need attention, and the
// supervision tree from its root.

import { el, keyed, pill, show, text } from "./dom.js";
import { condition, count, tone } from "./words.js";
import { actorTree, branch } from "./actors.js";
import { troubled } from "./list.js";

const MOST = 200; // supervisors drawn at a time
const MOST_OPEN = 12; // of them, those whose actors are asked for
const EVERY = 1500; // milliseconds between two looks at the tree

const states = ["active", "starting", "recovering", "wedged", "lost"];

export class Overview {
  constructor({ link, wanted }) {
    this.link = link;
    this.wanted = wanted;
    this.opened = new Set();
    this.node = this.build();
    setInterval(() => this.look(), EVERY);
  }

  build() {
    this.tiles = el("div", { class: "tiles" }, ...states.map((state) => {
      const n = el("b");
      const node = el("div", { class: "tile", "data-tone": tone(state) }, n, el("span", null, state));
      node.update = (v) => { text(n, v.toLocaleString("en")); node.dataset.zero = v === 0; };
      node.state = state;
      return node;
    }));
    this.trouble = el("div", { class: "troubles" });
    this.noTrouble = el("p", { class: "muted" }, "No problems.");
    this.moreTrouble = el("p", { class: "muted small" });
    this.actors = actorTree({ toggled: (n, open) => { if (open) this.opened.add(n.actor.key); else this.opened.delete(n.actor.key); this.look(); } });
    this.note = el("p", { class: "muted small" });
    this.empty = el("section", { class: "card none big" },
      el("h3", null, "No tasks yet"),
      el("p", null, "Start one:"), el("code", null, "holdfast task start my-task"),
      el("p", { class: "muted small" }, "It shows here by itself. With --cdp-url it attaches to a browser of yours."));
    this.trouble.box = el("section", { class: "card part", "aria-label": "Trouble" }, el("h3", null, "Trouble"), this.trouble, this.noTrouble, this.moreTrouble);
    return el("div", { class: "overview" }, el("h1", { class: "unseen" }, "Overview"), this.tiles, this.empty, this.trouble.box,
      el("section", { class: "card part", "aria-label": "Supervision tree" }, el("h3", null, "Supervision tree"), this.actors, this.note));
  }

  draw(tasks, only) {
    const sifted = only?.size !== this.only?.size;
    this.only = only;
    const all = [...tasks.values()];
    for (const tile of this.tiles.children) tile.update(all.filter((t) => t.state === tile.state).length);
    show(this.empty, all.length === 0);
    show(this.trouble.box, all.length > 0);
    const bad = all.filter(troubled);
    show(this.noTrouble, bad.length === 0);
    show(this.moreTrouble, bad.length > 10);
    text(this.moreTrouble, bad.length > 10 ? `and ${bad.length - 10} more: the list's filter “Trouble” shows them` : "");
    keyed(this.trouble, bad.slice(0, 10), (t) => t.task_id, () => {
      const state = pill();
      const name = el("a", { class: "task-link" });
      const why = el("span", { class: "muted small cut" });
      const node = el("div", { class: "trouble" }, state, name, why);
      node.update = (t) => {
        const how = condition(t);
        state.update(how.word, how.tone);
        text(name, t.task_id);
        name.href = `#/task/${encodeURIComponent(t.task_id)}`;
        text(why, t.reason || (t.unwell ? count(t.unwell, "page") + " not answering" : `primary ${t.connection.primary}`));
      };
      return node;
    });
    if (sifted) this.drawTree(); // else with the next look
  }

  drawTree() {
    if (!this.top) return;
    const root = branch(this.top.root);
    let list = root.children;
    if (this.only) list = list.filter((n) => this.only.has(n.actor.key));
    const all = list.length;
    list = list.slice(0, MOST);
    for (const n of list) {
      n.closed = true;
      const whole = this.below?.get(n.actor.key);
      if (whole) Object.assign(n, { children: branch(whole, root.key).children });
    }
    root.children = list;
    this.actors.update([root]);
    show(this.note, all > list.length || this.top.truncated);
    text(this.note, `${list.length} of ${count(all, "supervisor")}: search tasks to see others`);
  }

  /** look asks for the tree: supervisors alone, and the actors of those that are
   * open. */
  async look() {
    if (document.hidden || !this.wanted() || this.looking) return;
    this.looking = true;
    try {
      const top = await this.link.call("GET", "/v1/tree?depth=1");
      const below = new Map();
      const open = [...this.opened].slice(-MOST_OPEN);
      await Promise.all(open.map(async (id) => {
        const t = await this.link.call("GET", `/v1/tree?task_id=${encodeURIComponent(id)}`);
        const supervisor = t.root.children?.[0];
        if (supervisor) below.set(id, supervisor);
        else this.opened.delete(id);
      }));
      this.top = top;
      this.below = below;
      if (this.wanted()) this.drawTree();
    } catch {
      // The stream says whether the node is there.
    } finally {
      this.looking = false;
    }
  }
}
