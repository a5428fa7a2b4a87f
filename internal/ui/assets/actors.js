// The supervision tree, drawn from what GET /v1/tree and the live stream tell.

import { attr, el, pill, text, ticking } from "./dom.js";
import { now, plain, span, tone } from "./words.js";
import { tree } from "./tree.js";

/** actorTree is a treegrid of actors; about(key) may say what a session is. */
export function actorTree(options = {}) {
  const about = options.about ?? (() => "");
  return tree({
    label: "Supervision tree", grid: true, toggled: options.toggled,
    head: ["Actor", "State", "Restarts", "Mailbox", "Age"],
    row: () => {
      const name = el("span", { class: "actor-name" });
      const note = el("span", { class: "muted cut" });
      const state = pill("small");
      const restarts = el("span", { class: "num" });
      const mailbox = el("span", { class: "num" });
      let actor;
      const age = ticking(el("span", { class: "num" }), (node) => {
        if (!actor) return;
        const n = actor;
        text(node, n.restart_at ? `in ${span(n.restart_at - now())}` : n.started_at ? span(now() - n.started_at) : "");
      });
      const line = el("div", null, el("span", { class: "cell-name" }, name, note), el("span", null, state), restarts, mailbox, age);
      line.update = ({ actor: a }) => {
        actor = a;
        const serves = about(a);
        text(name, nameOf(a, serves));
        attr(name, "title", a.key);
        text(note, serves);
        state.update(plain(a.state), tone(a.state));
        text(restarts, a.restarts || "–");
        attr(restarts, "data-tone", a.restarts ? "warn" : null);
        text(mailbox, a.mailbox || "–");
        attr(mailbox, "data-tone", a.mailbox > 100 ? "warn" : null);
        age.tick();
      };
      return line;
    },
  });
}

/** nameOf names an actor; of a session's key only as much as tells it apart, and
 * only where it is not known what it serves. */
function nameOf(a, serves) {
  if (a.kind === "session") return serves ? "session" : `session ${a.key.replace(/^session\//, "").slice(0, 6)}…`;
  return a.key === a.kind || a.key === "node" ? a.kind : `${a.kind} ${a.key}`;
}

/** branch turns an actor and all below into nodes of a tree. A key has no
 * generation in it: an actor that is restarted keeps its line. */
export function branch(a, above = "") {
  const key = `${above}/${a.kind}:${a.key}`;
  return { key, actor: a, children: (a.children ?? []).map((c) => branch(c, key)) };
}
