// The dialogs that wait, of all tasks the token covers: each a card that stays
// where it is while others come and go, and says how it ended before it leaves.

import { attr, el, keyed, pill, say, show, text, ticking } from "./dom.js";
import { clock, count, ending, now, site, span } from "./words.js";
import { Refused, taskPath } from "./link.js";

const FAREWELL = 6; // seconds a card stays after its dialog has ended
const MOST = 40; // cards drawn at a time

// What can be said to each type, the first being what Enter says. None of them
// stands out: the text above is a page's, and may ask for anything.
const answers = {
  alert: [["accept", "OK"]],
  confirm: [["accept", "Accept"], ["dismiss", "Dismiss"]],
  prompt: [["accept", "Send answer"], ["dismiss", "Dismiss"]],
  beforeunload: [["accept", "Leave the page"], ["dismiss", "Stay"]],
  human: [["accept", "Done"], ["dismiss", "Refuse"]],
  permission: [["accept", "Grant"], ["dismiss", "Deny"]],
};

// asDialog is a blocker that a person can answer here as a dialog.
const asDialog = (b) => ({ ...b, isBlocker: true, frame_url: b.origin ?? b.url, default_prompt: "" });

// waiting is all of a task that waits for an answer.
export const waiting = (t) => [...(t.pending_dialogs ?? []), ...(t.blockers ?? []).filter((b) => b.type === "human" || b.type === "permission").map(asDialog)];

export class Dialogs {
  constructor(root, { link }) {
    this.link = link;
    this.cards = new Map(); // key → what is known of the dialog
    this.first = true;
    this.title = el("h2", { id: "rail-title", tabindex: "-1" }, "Waiting for an answer");
    this.number = el("span", { class: "number" });
    this.box = el("div", { class: "cards" });
    this.none = el("div", { class: "none" }, "No dialog waits.", el("span", { class: "muted small" }, "Alerts, confirms and prompts of every frame show here until they are answered."));
    this.more = el("p", { class: "muted small pad", hidden: true });
    this.root = root;
    this.place = el("div", null, this.box); // of the cards, while they are in the rail
    root.append(el("div", { class: "rail-head" }, this.title, this.number), this.place, this.none, this.more);
    setInterval(() => this.sweep(), 1000);
  }

  /** update takes all tasks, and the one that is chosen. */
  update(tasks, chosen) {
    const open = new Set();
    for (const t of tasks.values()) {
      for (const d of waiting(t)) {
        const key = `${t.task_id}\n${d.id}\n${d.opened_at}`;
        open.add(key);
        const known = this.cards.get(key);
        if (known) known.dialog = d;
        else {
          this.cards.set(key, { key, task: t.task_id, dialog: d, state: "open" });
          if (!this.first) say(`New ${d.type} on ${t.task_id}: ${d.message.slice(0, 200)}`);
        }
      }
    }
    for (const card of this.cards.values()) {
      if (open.has(card.key) || card.state === "closed") continue;
      const closed = tasks.get(card.task)?.closed_dialogs?.findLast((c) => c.id === card.dialog.id);
      this.close(card, closed);
    }
    this.first = false;
    this.waiting = open.size;
    this.chosen = chosen;
    this.draw();
  }

  /** showIn moves the cards to a place on the task's own screen, where those of
   * other tasks are hidden; null is the rail. */
  showIn(place) {
    const to = place ?? this.place;
    if (this.box.parentNode !== to) to.append(this.box);
  }

  /** freeze stops what only a node in reach can know or do. */
  freeze(isFrozen) {
    this.isFrozen = isFrozen;
    for (const card of this.cards.values()) card.node?.update(card);
  }

  close(card, closed) {
    if (card.state === "closed") return;
    const ours = card.sent && closed?.closed_by === "human" && !card.refused;
    card.outcome = ours ? `You answered: ${card.sent === "accept" ? "accepted" : "dismissed"}` : closed ? `It was ${ending(closed)}` : "It is closed";
    if (!ours && card.touched) say(`The ${card.dialog.type} on ${card.task} is closed: ${card.outcome}`);
    card.state = "closed";
    card.until = Date.now() + FAREWELL * 1000;
  }

  draw() {
    const order = (a, b) => (b.task === this.chosen) - (a.task === this.chosen) || a.dialog.opened_at - b.dialog.opened_at || (a.key < b.key ? -1 : 1);
    const all = [...this.cards.values()].sort(order);
    keyed(this.box, all.slice(0, MOST), (c) => c.key, (c) => this.card(c));
    text(this.number, this.waiting || "");
    show(this.none, all.length === 0);
    show(this.more, all.length > MOST);
    if (all.length > MOST) text(this.more, `${count(all.length - MOST, "more dialog waits", "more dialogs wait")}. Answer these first, or choose a task.`);
  }

  /** sweep lets cards go whose dialogs have ended, but not from under the user's
   * hand: the next one would come to lie where the pointer is. */
  sweep() {
    if (this.box.matches(":hover")) return;
    let gone = false;
    for (const c of this.cards.values()) {
      if (c.state !== "closed" || Date.now() < c.until) continue;
      const inside = c.node?.contains(document.activeElement);
      this.cards.delete(c.key);
      gone = true;
      if (inside) {
        this.draw();
        (this.box.querySelector("input, form button") ?? this.title).focus();
      }
    }
    if (gone) this.draw();
  }

  /** focus goes to the first dialog of a task. */
  focus(task) {
    const card = [...this.cards.values()].find((c) => c.task === task && c.state === "open");
    (card?.node?.querySelector("input, form button") ?? this.title).focus();
  }

  /** send gives the answer to the node, and returns what is closed by it. */
  async send(card, action, written) {
    const { dialog: d, task } = card;
    if (d.isBlocker) {
      const { blocker } = await this.link.call("POST", taskPath(task, "/blocker"), { action, blocker_id: d.id, by: "human", ...(written ? { text: written } : {}) });
      return blocker;
    }
    const body = { action, dialog_id: d.id, by: "human" };
    if (action === "accept" && written !== undefined) body.prompt_text = written;
    const { dialog } = await this.link.call("POST", taskPath(task, "/dialog"), body);
    return dialog;
  }

  card(card) {
    const { dialog: d } = card;
    const kind = pill();
    const task = el("a", { class: "task-link", href: `#/task/${encodeURIComponent(card.task)}` }, card.task);
    const message = el("p", { class: "message" }, d.message || "(empty message)");
    const whole = el("button", { type: "button", class: "quiet whole", hidden: true, onclick: () => { card.isRead = true; attr(node, "data-whole", true); node.update(card); } }, "Show the whole question");
    const asker = d.type === "human" ? "an agent" : d.frame_url ? site(d.frame_url) : `frame ${d.frame_id}`;
    const age = ticking(el("p", { class: "muted small cut", title: `${d.frame_url ?? ""} at ${clock(d.opened_at)}` }), (node) => text(node, `${span(now() - d.opened_at)} ago, by ${asker}${d.waits_for === "human" ? "; a rule leaves it to a person" : ""}`));
    const left = ticking(el("span"), (node) => {
      if (this.isFrozen) return text(node, "out of reach");
      const s = d.expires_at - now();
      text(node, d.expires_at ? (s > 0 ? `dismissed in ${span(s)}` : "being dismissed") : "");
      attr(node, "data-tone", d.expires_at && s < 30 ? "bad" : null);
    });
    const bar = el("span", { class: "bar", "aria-hidden": "true" }, el("i"));
    ticking(bar, () => this.isFrozen || bar.firstChild.style.setProperty("--left", d.expires_at ? Math.max(0, (d.expires_at - now()) / (d.expires_at - d.opened_at)) : 1));
    const field = d.type === "prompt" || d.type === "human" ? el("input", { type: "text", value: d.default_prompt, "aria-label": `Answer to: ${d.message.slice(0, 120)}`, autocomplete: "off" }) : null;
    const note = el("p", { class: "error", role: "alert", hidden: true });
    const outcome = el("p", { class: "outcome", role: "status", hidden: true });
    const buttons = (answers[d.type] ?? answers.confirm).map(([action, word], i) =>
      el("button", { type: i === 0 ? "submit" : "button", onclick: i === 0 ? () => {} : () => answer(action) }, word));
    const form = el("form", null, field, el("div", { class: "row" }, ...buttons), note);
    const node = el("article", { class: "card dialog", "aria-label": `${d.type} of ${card.task}` },
      el("header", { class: "row" }, kind, task),
      message, whole, age, form, el("p", { class: "muted small row foot" }, bar, left), outcome);

    const isCut = () => !card.isRead && message.scrollHeight > message.clientHeight + 1;
    new ResizeObserver(() => show(whole, card.state === "open" && isCut())).observe(message);
    const answer = async (action) => {
      if (card.state !== "open" || this.isFrozen) return;
      if (action === "accept" && isCut()) {
        card.note = "The question is longer than what you see. Show the whole of it first.";
        node.update(card);
        whole.focus();
        return;
      }
      card.state = "sending";
      card.sent = action;
      card.refused = false;
      node.update(card);
      try {
        this.close(card, await this.send(card, action, field?.value));
      } catch (e) {
        card.refused = true;
        if (card.state === "closed") return;
        const code = e instanceof Refused ? e.code : "";
        if (["dialog_already_answered", "dialog_not_found", "no_dialog", "dialog_lost", "not_found"].includes(code)) {
          this.close(card, null);
          card.outcome = code === "dialog_lost" ? "It was lost with its connection, before your answer" : "Another client answered first";
          say(card.outcome);
        } else {
          card.state = "open";
          card.note = e instanceof Refused ? e.message : "The node does not answer. Try again.";
        }
      }
      node.update(card);
    };
    form.addEventListener("submit", (e) => { e.preventDefault(); answer("accept"); });
    field?.addEventListener("input", () => { card.touched = true; });
    node.update = (c) => {
      kind.update(d.type, "warn");
      const busy = c.state !== "open" || this.isFrozen;
      show(whole, c.state === "open" && isCut());
      // Not disabled: a button that is loses the focus.
      for (const b of buttons) attr(b, "aria-disabled", busy ? "true" : null);
      attr(node, "data-state", c.state);
      attr(node, "data-chosen", c.task === this.chosen);
      left.tick?.();
      show(note, c.state === "open" && Boolean(c.note));
      if (c.note) text(note, c.note);
      if (c.state === "closed") {
        if (field) field.readOnly = true;
        show(outcome, true);
        text(outcome, `${c.outcome}.`);
        text(left, "");
        delete left.dataset.tick;
        delete bar.dataset.tick;
      }
    };
    card.node = node;
    return node;
  }
}
