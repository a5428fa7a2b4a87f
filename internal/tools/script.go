package tools

// queryScript finds the first element, a visible one before others.
const queryScript = `function(kind, query) {
  let found = [];
  if (kind === 'xpath') {
    const all = document.evaluate(query, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    for (let i = 0; i < Math.min(all.snapshotLength, 1000); i++) found.push(all.snapshotItem(i));
  } else if (kind === 'pierce') {
    const walk = root => {
      found.push(...root.querySelectorAll(query));
      for (const e of root.querySelectorAll('*')) if (e.shadowRoot) walk(e.shadowRoot);
    };
    walk(document);
  } else found = [...document.querySelectorAll(query)];
  return found.find(e => e.checkVisibility ? e.checkVisibility({visibilityProperty: true}) : true) || found[0] || null;
}`

// largeScript finds the element of a role and a name in a document that takes seconds to capture.
// What it is not sure of it leaves to the capture: a name that is not written on the element, or
// that several have.
const largeScript = `function(role, name) {
  if (!name || document.getElementsByTagName('*').length < 5000) return null;
  const own = {button: 'button', link: 'a[href]', heading: 'h1,h2,h3,h4,h5,h6'}[role];
  if (!own) return null;
  const found = [...document.querySelectorAll(own)].filter(e =>
    e.textContent.replace(/\s+/g, ' ').trim() === name && !e.matches('[role],[aria-label],[aria-labelledby],[title]') &&
    !e.querySelector('img,svg,input,[aria-label],[aria-hidden],[hidden]') && e.checkVisibility({visibilityProperty: true}));
  return found.length === 1 ? found[0] : null;
}`

// hitScript says where an element is, and what keeps it from being acted on. It runs in the
// frame of the element, and its point is in that frame's viewport.
const hitScript = `function(wants) {
  const el = this.nodeType === 1 ? this : this.parentElement;
  if (!el || !el.isConnected) return {why: 'gone'};
  const name = e => {
    if (!e) return 'nothing';
    let s = '<' + e.localName;
    for (const a of ['id', 'role', 'class', 'aria-label']) { const v = e.getAttribute(a); if (v) s += ' ' + a + '=' + JSON.stringify(v.slice(0, 60)); }
    return s + '>';
  };
  if (!el.checkVisibility({visibilityProperty: true})) return {why: 'hidden'};
  if (wants !== 'look' && (el.matches(':disabled') || el.closest('[aria-disabled="true"]'))) return {why: 'disabled'};
  const box = () => el.getClientRects()[0] || el.getBoundingClientRect();
  let r = box();
  const inside = r => r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
  if (!inside(r)) { el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); r = box(); }
  if (r.width === 0 || r.height === 0) return {why: 'hidden'};
  const left = Math.max(r.left, 0), right = Math.min(r.right, innerWidth), top = Math.max(r.top, 0), bottom = Math.min(r.bottom, innerHeight);
  const x = (left + right) / 2, y = (top + bottom) / 2;
  let moving = false;
  for (let e = el, i = 0; e && i < 64; i++, e = e.parentElement || (e.getRootNode() || {}).host)
    if (e.getAnimations && e.getAnimations().some(a => a.playState === 'running')) moving = true;
  const out = {x, y, left: r.left, top: r.top, width: r.width, height: r.height, moving};
  if (wants !== 'look') {
    const hit = el.getRootNode().elementFromPoint(x, y);
    let up = hit, ok = false;
    for (let i = 0; up && i < 512 && !ok; i++) { ok = up === el; up = up.assignedSlot || up.parentElement || (up.getRootNode() || {}).host; }
    const label = hit && hit.closest('label');
    if (!ok && !(label && label.control === el) && !(el.localName === 'label' && el.control === hit)) {
      const dialog = hit && hit.closest('dialog, [role=dialog], [role=alertdialog]');
      return {...out, why: 'covered', by: name(hit) + (dialog && dialog !== hit && !dialog.contains(el) ? ' of ' + name(dialog) : '')};
    }
  }
  return out;
}`

// upScript takes a point of a frame to the frame that holds it. It runs on the element that
// holds the frame.
const upScript = `function(x, y) {
  const at = () => {
    const r = this.getBoundingClientRect(), s = getComputedStyle(this);
    const sx = r.width / (this.offsetWidth || 1), sy = r.height / (this.offsetHeight || 1);
    return [r.left + (this.clientLeft + parseFloat(s.paddingLeft) + x) * sx, r.top + (this.clientTop + parseFloat(s.paddingTop) + y) * sy];
  };
  let [px, py] = at();
  if (px < 0 || py < 0 || px >= innerWidth || py >= innerHeight) { this.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); [px, py] = at(); }
  const hit = this.getRootNode().elementFromPoint(px, py);
  if (hit === this) return {x: px, y: py};
  let s = 'nothing';
  if (hit) { s = '<' + hit.localName; for (const a of ['id', 'role', 'class']) { const v = hit.getAttribute(a); if (v) s += ' ' + a + '=' + JSON.stringify(v.slice(0, 60)); } s += '>'; }
  return {x: px, y: py, why: 'covered', by: s};
}`

// armScript notes what a click does: whether a trusted event reaches the element, and whether a
// navigation begins.
const armScript = `function() {
  const note = globalThis.__note = {reached: false, nav: null, failed: false, url: location.href};
  const el = this.nodeType === 1 ? this : this.parentElement;
  for (const [type, word] of [['click', 'reached'], ['mousedown', 'pressed'], ['mousemove', 'pointed']])
    el.addEventListener(type, e => { if (e.isTrusted) note[word] = true; }, {capture: true, once: true});
  if (globalThis.navigation && !globalThis.__listens) {
    globalThis.__listens = true;
    navigation.addEventListener('navigate', e => { globalThis.__note.nav = {url: e.destination.url, same: e.destination.sameDocument, download: e.downloadRequest !== null}; });
    navigation.addEventListener('navigateerror', () => { globalThis.__note.failed = true; });
    addEventListener('click', e => { const f = e.composedPath()[0]; if (f.localName === 'input' && f.type === 'file') globalThis.__chooser = [e, f]; }, {capture: true});
  }
  globalThis.__chooser = null;
  return true;
}`

// noteScript reads what armScript has noted.
const noteScript = `function() {
  const el = this.nodeType === 1 ? this : this.parentElement;
  const [by, input] = globalThis.__chooser || [];
  const chooser = input && !by.defaultPrevented && !input.disabled ? {multiple: input.multiple,
    selector: input.id ? '#' + CSS.escape(input.id) : 'input[type="file"]' + (input.name ? '[name=' + JSON.stringify(input.name) + ']' : '')} : null;
  const box = el.localName !== 'select' && el.closest('[role=combobox], [aria-haspopup=listbox]');
  const closed = box && box.isConnected && box.ariaExpanded !== 'true' && box.contains(document.activeElement);
  return {...globalThis.__note, chooser, closed: Boolean(closed), link: el.closest('a[download]') !== null, there: el.isConnected, now: location.href, active: navigator.userActivation.isActive, form: el.closest('form') !== null};
}`

// quietScript waits until nothing has changed in the document for a moment.
const quietScript = `new Promise(done => {
  const end = () => { watch.disconnect(); done(document.getElementsByTagName('*').length); };
  let timer = setTimeout(end, 100);
  const watch = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(end, 50); });
  watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  setTimeout(end, 400);
})`

// fillScript readies an element for text, or gives it its value where no text can be typed.
const fillScript = `function(text) {
  const el = this.nodeType === 1 ? this : this.parentElement;
  const field = el.localName === 'label' && el.control ? el.control : el;
  const set = v => {
    const p = field.localName === 'textarea' ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
    Object.getOwnPropertyDescriptor(p, 'value').set.call(field, v);
    field.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
    field.dispatchEvent(new Event('change', {bubbles: true}));
  };
  if (field.localName === 'select') return {why: 'select'};
  if (field.localName === 'input') {
    const type = field.type;
    if (type === 'checkbox' || type === 'radio') return {why: 'check', checked: field.checked};
    if (['button', 'submit', 'reset', 'image', 'file', 'hidden'].includes(type)) return {why: 'no text'};
    if (field.readOnly) return {why: 'readonly'};
    if (['date', 'datetime-local', 'month', 'week', 'time', 'color', 'range'].includes(type)) {
      field.focus({preventScroll: true});
      set(text);
      return field.value === text || type === 'range' || type === 'color' ? {done: true} : {why: 'malformed', type};
    }
    field.focus({preventScroll: true});
    field.select();
  } else if (field.localName === 'textarea') {
    if (field.readOnly) return {why: 'readonly'};
    field.focus({preventScroll: true});
    field.select();
  } else if (field.isContentEditable) {
    field.focus({preventScroll: true});
    const range = document.createRange();
    range.selectNodeContents(field);
    const s = getSelection();
    s.removeAllRanges();
    s.addRange(range);
  } else return {why: 'no text'};
  if (text === '') { document.execCommand('delete'); return {done: true}; }
  return {};
}`

// focusScript gives an element the focus.
const focusScript = `function() {
  const el = this.nodeType === 1 ? this : this.parentElement;
  el.focus({preventScroll: true});
  return true;
}`

// selectScript chooses options by value or label.
const selectScript = `function(values) {
  const el = this.localName === 'label' && this.control ? this.control : this;
  if (el.localName !== 'select') return {why: 'no select'};
  if (values.length > 1 && !el.multiple) return {why: 'single'};
  const chosen = [], missing = [];
  for (const v of values) {
    const o = [...el.options].find(o => o.value === v) || [...el.options].find(o => o.label.trim() === v.trim() || o.text.trim() === v.trim());
    if (o && !o.disabled) chosen.push(o); else missing.push(v);
  }
  if (missing.length) return {why: 'missing', missing, options: [...el.options].slice(0, 30).map(o => o.label.slice(0, 60))};
  el.focus({preventScroll: true});
  if (el.multiple) for (const o of el.options) o.selected = chosen.includes(o);
  else el.selectedIndex = chosen[0].index;
  el.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  el.dispatchEvent(new Event('change', {bubbles: true}));
  return {chosen: chosen.map(o => o.label)};
}`

// uploadBeginScript makes room for the files of a file input.
const uploadBeginScript = `function(count) {
  const el = this.localName === 'label' && this.control ? this.control : this;
  if (el.localName !== 'input' || el.type !== 'file') return {why: 'no file input'};
  if (count > 1 && !el.multiple) return {why: 'single'};
  (globalThis.holdfastFiles ??= new WeakMap()).set(el, Array.from({length: count}, () => []));
  return {};
}`

// uploadPartScript takes a part of a file.
const uploadPartScript = `function(file, content) {
  const el = this.localName === 'label' && this.control ? this.control : this;
  const raw = atob(content), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  globalThis.holdfastFiles.get(el)[file].push(bytes);
}`

// uploadScript gives a file input its files.
const uploadScript = `function(files) {
  const el = this.localName === 'label' && this.control ? this.control : this;
  const parts = globalThis.holdfastFiles.get(el), all = new DataTransfer();
  globalThis.holdfastFiles.delete(el);
  files.forEach((f, i) => all.items.add(new File(parts[i], f.name, {type: f.type})));
  el.files = all.files;
  el.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  el.dispatchEvent(new Event('change', {bubbles: true}));
  return {count: el.files.length};
}`

// matchesScript counts what a selector matches beside the element that was taken, which is the first
// visible one.
const matchesScript = `function(kind, query) {
  let all = [];
  if (kind === 'css') all = [...document.querySelectorAll(query)];
  else if (kind === 'xpath') {
    const found = document.evaluate(query, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    for (let i = 0; i < Math.min(found.snapshotLength, 1000); i++) all.push(found.snapshotItem(i));
  }
  const seen = all.filter(e => e.checkVisibility && e.checkVisibility({visibilityProperty: true}));
  return {all: all.length, visible: seen.length, is_first: all[0] === this, texts: seen.slice(0, 8).map(e => (e.innerText || '').trim().slice(0, 200))};
}`

// textScript says whether a frame, with those of its own origin, shows a text.
const textScript = `(text => {
  const has = (w, depth) => {
    try { if (w.document.body && w.document.body.innerText.includes(text)) return true; } catch { return false; }
    if (depth < 8) for (let i = 0; i < Math.min(w.length, 200); i++) if (has(w[i], depth + 1)) return true;
    return false;
  };
  return has(window, 0);
})`
