// The way to the node: the token, the calls, and the one stream that keeps the
// page true. All of it carries the token in a header, so that it is in no URL.

import { clockIs } from "./words.js";

const KEEP = "holdfast-token";

/** keptToken returns the token of this tab. */
export function keptToken() {
  try {
    return sessionStorage.getItem(KEEP) ?? "";
  } catch {
    return "";
  }
}

/** takeCode returns the code in the address, "" where there is none, and removes it
 * from there. It is good once and for a minute: what history keeps is worth nothing.
 * A token in the address is not taken: any page could put its own there. */
export function takeCode() {
  const at = location.hash;
  if (!at.startsWith("#code=") && !at.startsWith("#token=")) return "";
  const given = new URLSearchParams(at.slice(1));
  const task = given.get("task");
  history.replaceState(null, "", `${location.pathname}#/${task ? `task/${encodeURIComponent(task)}` : ""}`);
  return given.get("code") ?? "";
}

/** openSession exchanges a code for a token that ends. */
export async function openSession(code) {
  const res = await fetch("/v1/session", {
    method: "POST", cache: "no-store", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }),
  });
  if (!res.ok) throw await refused(res);
  return (await res.json()).token;
}

export function keepToken(token) {
  try {
    if (token) sessionStorage.setItem(KEEP, token);
    else sessionStorage.removeItem(KEEP);
  } catch {
    // Without storage it lives as long as the page.
  }
}

/** Refused is an answer of the node's that is no. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? `the node answered ${status}`);
    this.status = status;
    this.code = body?.error?.code ?? "internal";
    this.details = body?.error?.details ?? {};
  }
}

/** Link is the page's connection to its node. */
export class Link {
  /** The listener hears state(name, details), and each event by its name. */
  constructor(listener) {
    this.listener = listener;
    this.token = "";
    this.follow = "";
    this.run = null; // the abort of the stream there is
    this.failures = 0;
    this.asleep = false;
    // A browser grants an origin six connections, over all its tabs: one that
    // is hidden gives its own back, and connects again from time to time.
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.dozing);
      if (document.hidden) this.dozing = setTimeout(() => { this.asleep = true; this.restart(); }, 30_000);
      else if (this.asleep || this.failures > 0) this.restart();
    });
    addEventListener("online", () => this.restart());
  }

  start(token) {
    this.token = token;
    this.failures = 0;
    this.restart();
  }

  stop() {
    this.token = "";
    this.run?.abort();
    this.run = null;
  }

  /** watch follows another task in whole; "" none. */
  watch(id) {
    if (id === this.follow) return;
    this.follow = id;
    if (this.token) this.restart();
  }

  restart() {
    this.run?.abort();
    if (!this.token) return;
    const run = (this.run = new AbortController());
    clearTimeout(this.waiting);
    this.stream(run).catch((e) => this.broken(run, e));
  }

  async stream(run) {
    if (!this.said) this.listener.state("connecting");
    const query = this.follow ? `?task_id=${encodeURIComponent(this.follow)}` : "";
    const follow = this.follow;
    const res = await fetch(`/v1/live${query}`, { headers: this.headers(), signal: run.signal, cache: "no-store" });
    if (!res.ok) throw await refused(res);
    const glimpse = (this.asleep = this.asleep && document.hidden);
    const lines = res.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", name = "", data = "";
    // The node says something every 15 seconds: silence is a dead connection.
    let alarm;
    const alive = () => {
      clearTimeout(alarm);
      alarm = setTimeout(() => lines.cancel("silence"), 40_000);
    };
    try {
      for (;;) {
        alive();
        const { done, value } = await lines.read();
        if (done) throw new Error("the node closed the connection");
        rest += value;
        const parts = rest.split("\n");
        rest = parts.pop();
        for (const line of parts) {
          if (line === "") {
            if (data && !run.signal.aborted) this.heard(name, JSON.parse(data), follow);
            if (glimpse && name === "tasks") return this.doze(run);
            name = data = "";
          } else if (line.startsWith("event: ")) name = line.slice(7);
          else if (line.startsWith("data: ")) data += line.slice(6);
        }
      }
    } finally {
      clearTimeout(alarm);
    }
  }

  heard(name, body, follow) {
    this.failures = 0;
    this.said = "live";
    this.listener.state("live");
    clockIs(body.at);
    if (["task", "tree", "clients"].includes(name) && follow !== this.follow) return;
    this.listener[name]?.(body);
  }

  /** doze closes the stream until it is time to connect again. */
  doze(run) {
    run.abort();
    this.waiting = setTimeout(() => this.restart(), 20_000);
  }

  broken(run, error) {
    if (run !== this.run || (run.signal.aborted && error?.name === "AbortError")) return;
    run.abort();
    if (error instanceof Refused && error.status === 401) return this.listener.unauthorized(error.message);
    if (error instanceof Refused && error.status === 403 && this.follow) return this.listener.forbidden(this.follow);
    this.said = "lost";
    this.failures++;
    const wait = Math.min(8000, 400 * 2 ** Math.min(this.failures, 5)) * (0.75 + Math.random() / 2);
    this.listener.state("lost", { failures: this.failures, next: Date.now() + wait, refused: error instanceof Refused ? error.message : "" });
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.restart(), wait);
  }

  headers() {
    return { Authorization: `Bearer ${this.token}` };
  }

  /** call asks the node; a no is thrown as Refused. */
  async call(method, path, body) {
    const headers = this.headers();
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const res = await fetch(path, { method, headers, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body) });
    if (!res.ok) {
      const error = await refused(res);
      if (error.status === 401) this.listener.unauthorized(error.message);
      throw error;
    }
    return res.status === 204 ? null : res.json();
  }
}

async function refused(res) {
  let body;
  try {
    body = await res.json();
  } catch {
    // The server that answered is no Holdfast node.
  }
  return new Refused(res.status, body);
}

/** taskPath is where a task is asked for things. */
export const taskPath = (id, what = "") => `/v1/tasks/${encodeURIComponent(id)}${what}`;
