// The few means by which everything here is drawn. Text from pages and callers
// goes through text nodes and attribute values only: there is no innerHTML.

/** el makes an element. Of attrs, "on…" are listeners, true is a bare attribute,
 * and null or false none; kids are nodes or text. */
export function el(tag, attrs, ...kids) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs ?? {})) attr(node, name, value);
  node.append(...kids.filter((k) => k !== null && k !== undefined));
  return node;
}

/** attr sets one attribute where it differs. */
export function attr(node, name, value) {
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** text sets an element's text where it differs: what has not changed is not
 * touched, so that a selection in it stays. */
export function text(node, value) {
  const s = String(value ?? "");
  if (node.textContent !== s) node.textContent = s;
}

/** show says whether there is to be seen of a node anything at all. */
export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

const shown = new WeakMap(); // parent → key → child

/** keyed makes parent's children those of items, in order. A child is made once
 * for its key, by make, and brought up to date with its own update(item): so
 * focus, selection and what is being typed survive whatever the node tells. */
export function keyed(parent, items, keyOf, make) {
  const old = shown.get(parent) ?? new Map();
  const now = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (now.has(key)) continue;
    const node = old.get(key) ?? make(item);
    node.update?.(item);
    now.set(key, node);
  }
  const focused = document.activeElement;
  for (const [key, node] of old) if (!now.has(key)) node.remove();
  let at = parent.firstChild;
  for (const node of now.values()) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  shown.set(parent, now);
  // A node that is moved loses the focus; one that is removed takes it along.
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

/** ticking marks an element whose text is a matter of time: tick(node) tells. */
export function ticking(node, tick) {
  node.dataset.tick = "";
  node.tick = () => tick(node);
  node.tick();
  return node;
}

setInterval(() => {
  if (document.hidden) return;
  for (const node of document.querySelectorAll("[data-tick]")) node.tick?.();
}, 1000);

/** pill is a word with a colour; the colour never says more than the word. */
export function pill(extra = "") {
  const node = el("span", { class: `pill ${extra}` });
  node.update = (word, tone) => {
    text(node, word);
    attr(node, "data-tone", tone);
  };
  return node;
}

/** say tells those who listen instead of looking. */
export function say(words) {
  document.getElementById("say").append(el("p", null, words));
  const all = document.getElementById("say").children;
  if (all.length > 5) all[0].remove();
}

/** toast tells briefly what came of an order. */
export function toast(words, tone = "ok") {
  const node = el("div", { class: "toast", role: tone === "bad" ? "alert" : "status", "data-tone": tone }, words);
  const box = document.getElementById("toasts");
  box.append(node);
  if (box.children.length > 4) box.firstChild.remove();
  setTimeout(() => node.remove(), tone === "bad" ? 9000 : 4000);
}

/** confirm asks in the page, not in the browser: resolves to yes or no. */
export function confirm({ title, words, yes }) {
  const box = document.getElementById("confirm");
  text(document.getElementById("confirm-title"), title);
  text(document.getElementById("confirm-text"), words);
  text(document.getElementById("confirm-yes"), yes);
  box.showModal();
  document.getElementById("confirm-no").focus();
  // Not by the close event, which comes later than the next question can.
  return new Promise((done) => {
    const heard = new AbortController();
    const answer = (e, yes) => {
      e.preventDefault();
      heard.abort();
      box.close();
      done(yes);
    };
    box.addEventListener("submit", (e) => answer(e, e.submitter?.value === "yes"), { signal: heard.signal });
    box.addEventListener("cancel", (e) => answer(e, false), { signal: heard.signal });
  });
}
