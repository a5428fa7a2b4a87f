// A tree with a keyboard, by the book: one stop for Tab, arrows inside, and the
// level, place and state of every row said to those who do not see it.

import { attr, el, keyed } from "./dom.js";

/** tree returns an element; its update takes the roots, each {key, closed,
 * children, …}. row() makes what stands in a line, as an element whose
 * update(node) fills it; with grid it is a treegrid, and each child of that
 * element is a cell. */
export function tree({ label, grid, row, head, toggled }) {
  const box = el("div", { class: `tree ${grid ? "grid" : ""}`, role: grid ? "treegrid" : "tree", "aria-label": label });
  const body = el("div", { role: grid ? "rowgroup" : "presentation" });
  if (head) {
    box.append(el("div", { role: "rowgroup" }, el("div", { class: "tree-row tree-head", role: "row" }, ...head.map((h) => el("span", { role: "columnheader" }, h)))));
  }
  box.append(body);
  const turned = new Map(); // key → open, where the user has said so
  let current = "";
  let rows = [];
  let roots = [];

  const isOpen = (n) => turned.get(n.key) ?? !n.closed;
  const canOpen = (n) => n.children?.length > 0 || n.closed !== undefined;

  function flatten(list, level, parent, out) {
    list.forEach((n, i) => {
      const open = canOpen(n) ? isOpen(n) : undefined;
      out.push({ node: n, level, parent, open, at: i + 1, of: list.length });
      if (open) flatten(n.children ?? [], level + 1, n.key, out);
    });
    return out;
  }

  function draw() {
    rows = flatten(roots, 1, "", []);
    if (!rows.some((r) => r.node.key === current)) current = rows[0]?.node.key ?? "";
    keyed(body, rows, (r) => r.node.key, make);
  }

  function make() {
    const mark = el("span", { class: "mark", "aria-hidden": "true" });
    const inner = row();
    const cells = grid ? [...inner.children] : [inner];
    if (grid) for (const c of cells) attr(c, "role", "gridcell");
    cells[0].prepend(mark);
    const node = el("div", { class: "tree-row", role: grid ? "row" : "treeitem" }, ...cells);
    mark.addEventListener("click", (e) => { e.stopPropagation(); turn(node.row, !node.row.open); });
    node.addEventListener("click", () => stand(node.row.node.key));
    node.addEventListener("dblclick", () => turn(node.row, !node.row.open));
    node.update = (r) => {
      node.row = r;
      attr(node, "aria-level", r.level);
      attr(node, "aria-posinset", r.at);
      attr(node, "aria-setsize", r.of);
      attr(node, "aria-expanded", r.open === undefined ? null : String(r.open));
      attr(node, "tabindex", r.node.key === current ? "0" : "-1");
      node.style.setProperty("--level", r.level - 1);
      inner.update(r.node);
    };
    return node;
  }

  function turn(r, open) {
    if (r.open === undefined || r.open === open) return;
    turned.set(r.node.key, open);
    draw();
    toggled?.(r.node, open);
  }

  function stand(key) {
    current = key;
    for (const n of body.children) attr(n, "tabindex", n.row.node.key === key ? "0" : "-1");
    [...body.children].find((n) => n.row.node.key === key)?.focus();
  }

  box.addEventListener("keydown", (e) => {
    const at = rows.findIndex((r) => r.node.key === current);
    const r = rows[at];
    if (!r || e.altKey || e.ctrlKey || e.metaKey) return;
    const go = (i) => rows[i] && stand(rows[i].node.key);
    switch (e.key) {
      case "ArrowDown": go(at + 1); break;
      case "ArrowUp": go(at - 1); break;
      case "Home": go(0); break;
      case "End": go(rows.length - 1); break;
      case "ArrowRight": if (r.open === false) turn(r, true); else if (r.open) go(at + 1); break;
      case "ArrowLeft": if (r.open) turn(r, false); else if (r.parent) stand(r.parent); break;
      case "Enter": case " ": turn(r, !r.open); break;
      default: return;
    }
    e.preventDefault();
  });

  box.update = (list) => { roots = list; draw(); };
  box.isOpen = isOpen;
  return box;
}
