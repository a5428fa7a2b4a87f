// How things are said: states with their tone, times, names.

const tones = {
  active: "ok", ok: "ok", up: "ok", running: "ok",
  starting: "info", dialing: "info", dialog: "warn", recovering: "warn", backoff: "warn", waiting: "warn", stopping: "warn",
  wedged: "bad", lost: "bad", down: "bad", crashed: "bad", hung: "bad", dialog_unreachable: "bad", paused: "warn", blocked_elsewhere: "warn",
};

/** tone is the colour of a state; an unknown one has none. */
export const tone = (state) => tones[state] ?? "none";

/** condition is the one word for how a task is, with its tone. A page that waits
 * for an answer or does not answer says more than a task that is active. */
export function condition(t) {
  if (t.state !== "active") return { word: plain(t.state), tone: tone(t.state) };
  const waiting = t.pending_dialogs?.length ?? 0;
  if (waiting > 0) return { word: waiting === 1 ? "dialog" : `${waiting} dialogs`, tone: "warn" };
  const unwell = t.unwell ?? (t.pages ?? []).filter((p) => !["ok", "dialog"].includes(p.page_state)).length;
  if (unwell > 0 && t.page_state !== "ok") return { word: plain(t.page_state), tone: tone(t.page_state) };
  if (unwell > 0) return { word: `${count(unwell, "page")} unwell`, tone: "bad" };
  return { word: "active", tone: "ok" };
}

/** plain writes a state as a person would. */
export const plain = (state) => String(state ?? "").replaceAll("_", " ");

let ahead = 0; // the node's clock before ours, in seconds

/** clockIs takes the node's word for the time. */
export const clockIs = (at) => { if (at > 0) ahead = at - Date.now() / 1000; };

/** now is the node's time, in seconds. */
export const now = () => Date.now() / 1000 + ahead;

/** span is a length of time, as short as one reads it. */
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s}s`;
  if (s < 600 && s % 60) return `${Math.floor(s / 60)}m ${s % 60}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86400) return `${Math.floor(s / 3600)}h ${Math.floor((s % 3600) / 60)}m`;
  return `${Math.floor(s / 86400)}d ${Math.floor((s % 86400) / 3600)}h`;
}

/** clock is a moment of today. */
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });

/** count is a number with its word. */
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** site is the host of a URL, or what there is instead. */
export function site(url) {
  try {
    const u = new URL(url);
    return u.host || url;
  } catch {
    return url ?? "";
  }
}

export const whyNoAnchor = {
  spec: "off, as the task's spec wants",
  foreign: "off: each connection gets a browser of its own",
  single: "off: the browser takes one connection at a time",
  unreachable: "off: no second connection is to be had",
};

/** bridged says what a connection or a page has of the bridge, unless its dialogs are native. */
export function bridged({ bridge, bridge_by }) {
  return bridge && bridge !== "native" ? `, bridge ${bridge}${bridge_by ? ` by ${bridge_by}` : ""}` : "";
}

/** outage says how far a connection is that is being made anew; "" where none is. */
export function outage({ recovering_since: since, give_up_after_s: patience, attempt, last_error: error }) {
  if (!since) return "";
  const why = (error ?? "").split(": ")[0];
  return `recovering, ${span(now() - since)} of ${span(patience)}, attempt ${attempt ?? 0}${why ? `: ${why}` : ""}`;
}

const closers = {
  agent: "answered by a client", human: "answered by a person", rule: "answered by a rule", auto_policy: "answered by the task's policy", watchdog: "dismissed by the watchdog: no answer came in time",
  remote: "closed in the browser", lost: "lost with its connection",
};

/** ending says who ended a dialog. */
export const ending = (closed) => `${closers[closed?.closed_by] ?? "closed"}${closed?.action ? ` (${closed.action})` : ""}`;

export const pageHelp = {
  dialog: "Waiting for an answer.",
  dialog_unreachable: "A dialog is open that no connection can reach.",
  hung: "The page's script is stuck.",
  blocked_elsewhere: "Another dialog in the browser blocks the page. It continues once that one is answered.",
  crashed: "The page's renderer has crashed.",
  paused: "A debugger holds the page; Debugger.resume continues it.",
};

/** recoveries are the actions that can help a page in a state, the gentlest
 * first, as the node itself judges. */
export const recoveries = {
  dialog_unreachable: ["release", "reattach", "reload", "replace", "close"],
  hung: ["reattach", "reload", "replace", "close"],
  crashed: ["reload", "replace", "close"],
  blocked_elsewhere: ["replace", "close"],
  paused: ["reattach", "close"],
};

export const recoveryWords = {
  release: "The dialog is dismissed and the page keeps its state. Another window comes to the front for a moment.",
  reattach: "The page's CDP session is given up and made anew. The page does not notice.",
  reload: "The document is loaded anew. What the page held is lost.",
  replace: "A new page opens at its last address, and this one is closed. What it held is lost.",
  close: "The page is closed. What it held is lost.",
};
