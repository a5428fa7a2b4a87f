// One CDP client of a task, such as Playwright.

import { attr, el, show, text } from "./dom.js";
import { clock, count, span } from "./words.js";

const answers = { holdfast: "dialogs hidden", client: "answers dialogs", observe: "sees dialogs" };

/** client is a line of the list. */
export function client({ disconnect }) {
  const name = el("span", { class: "title" });
  const mode = el("span", { class: "pill small", "data-tone": "none" });
  const cut = el("span", { class: "pill small", "data-tone": "bad" });
  const button = el("button", { type: "button", class: "danger-quiet", onclick: () => disconnect(node.client) }, "Disconnect");
  const words = el("p", { class: "muted small" });
  const node = el("div", { class: "client" }, el("div", { class: "row" }, name, mode, cut, el("span", { class: "spring" }), button), words);
  node.update = (c) => {
    node.client = c;
    text(name, c.name);
    attr(name, "title", c.client_id);
    attr(button, "aria-label", `Disconnect ${c.name}`);
    text(mode, answers[c.dialogs] ?? c.dialogs);
    show(cut, c.dropped > 0);
    text(cut, "does not read");
    const stalled = c.stalled_s >= 1 ? `, kept us waiting ${span(c.stalled_s)}` : "";
    text(words, `since ${clock(c.connected_at)}, ${count(c.sessions, "session")}, ${count(c.commands, "command")}, ${count(c.events, "event")}${stalled}`);
  };
  return node;
}
