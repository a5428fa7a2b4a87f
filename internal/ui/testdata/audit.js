// Judges what is to be seen now, and returns what is wrong with it: contrast
// (WCAG AA), names of controls, roles and what they must say, unique ids, and
// nothing wider than the window.
(() => {
  const wrong = [];
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (color) => known.get(color) ?? (known.set(color, drawn(color)), known.get(color));
  const drawn = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((v, i) => (i === 3 ? v / 255 : v));
  };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = ([r, g, b]) => [r, g, b].map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    const layers = [];
    for (let n = node; n; n = n.parentElement) {
      const c = rgba(getComputedStyle(n).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reduceRight((below, c) => over(c, below), [255, 255, 255, 1]);
  };
  const seen = (n) => n.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && n.getClientRects().length > 0;
  const name = (n) => n.getAttribute("aria-label") || (n.getAttribute("aria-labelledby") && document.getElementById(n.getAttribute("aria-labelledby"))?.innerText) ||
    n.labels?.[0]?.innerText || n.innerText || n.getAttribute("alt");
  const where = (n) => `${n.tagName.toLowerCase()}.${n.className} “${(n.innerText ?? "").slice(0, 30)}”`;
  const ids = new Set();
  for (const n of document.querySelectorAll("body *")) {
    if (n.id && ids.has(n.id)) wrong.push(`id ${n.id} twice`);
    ids.add(n.id);
    if (!seen(n)) continue;
    const own = [...n.childNodes].some((k) => k.nodeType === 3 && k.data.trim());
    if (own || n.tagName === "INPUT") {
      const style = getComputedStyle(n);
      if (parseFloat(style.fontSize) > 1 && !n.closest(".unseen") && !n.closest("[aria-disabled=true]")) {
        const g = ground(n);
        const [a, b] = [light(over(rgba(style.color), g)), light(g)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)} of ${where(n)}`);
      }
    }
    const role = n.getAttribute("role");
    if (/^(BUTTON|A|INPUT|SELECT|TEXTAREA)$/.test(n.tagName) && !name(n)?.trim()) wrong.push(`no name: ${where(n)}`);
    if (/^(listbox|tree|treegrid|log)$/.test(role) && !name(n)?.trim()) wrong.push(`no name: ${role}`);
    if (role === "option" && !(n.closest("[role=listbox]") && n.hasAttribute("aria-selected") && n.hasAttribute("aria-posinset"))) wrong.push(`an option without its list: ${where(n)}`);
    if (role === "treeitem" && !(n.closest("[role=tree]") && n.hasAttribute("aria-level"))) wrong.push(`a treeitem without its tree: ${where(n)}`);
    if (role === "gridcell" && n.parentElement.getAttribute("role") !== "row") wrong.push(`a cell without its row: ${where(n)}`);
    if (n.tagName === "IMG" && !n.hasAttribute("alt")) wrong.push("an image without alt");
    if (/^(BUTTON|INPUT)$/.test(n.tagName) && innerWidth < 500 && n.getBoundingClientRect().height < 36) wrong.push(`too low for a finger: ${where(n)}`);
  }
  for (const n of document.querySelectorAll("[role=tree], [role=treegrid]")) {
    if (seen(n) && n.querySelectorAll("[role=row][tabindex='0'], [role=treeitem][tabindex='0']").length !== 1) wrong.push(`not one stop for Tab in ${name(n)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the window: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  if (document.documentElement.scrollHeight > innerHeight) wrong.push(`higher than the window: ${document.documentElement.scrollHeight} > ${innerHeight}`);
  for (const n of document.querySelectorAll(".grid .num")) {
    if (seen(n) && n.textContent && n.getBoundingClientRect().height > 1.6 * parseFloat(getComputedStyle(n).fontSize) * 1.45) wrong.push(`broken into lines: ${where(n)}`);
  }
  if (document.querySelector("#app:not([hidden])") && document.querySelectorAll("#app h1").length !== 1 && document.body.dataset.view !== "dialogs" && document.body.dataset.view !== "tasks") wrong.push("not one h1");
  const top = document.querySelector(".top");
  if (top && seen(top)) {
    const boxes = [...top.children].flatMap((n) => (n.id === "node" ? [...n.children] : [n])).filter(seen).map((n) => [n, n.getBoundingClientRect()]).filter(([, r]) => r.width > 0);
    for (let i = 1; i < boxes.length; i++) if (boxes[i][1].left < boxes[i - 1][1].right - 1) wrong.push(`in the header ${where(boxes[i][0])} lies over ${where(boxes[i - 1][0])}`);
  }
  return JSON.stringify([...new Set(wrong)].slice(0, 12));
})()
