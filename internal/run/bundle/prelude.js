// The host's one function, and what stands on it alone. It is taken away from scripts.
const host = globalThis.host;
delete globalThis.host;

// tell tells the host something: the first value says what.
export const tell = (...values) => {
  host(JSON.stringify(values));
};

const timers = new Map();
let lastTimer = 0;
const maxTimers = 1000;

const timer = isRepeated => (run, ms, ...args) => {
  if (typeof run !== 'function') throw new TypeError('a timer needs a function');
  if (timers.size >= maxTimers) throw new RangeError(`more than ${maxTimers} timers`);
  const id = ++lastTimer;
  const delay = Math.min(Math.max(Number(ms) || 0, isRepeated ? 1 : 0), 2 ** 31 - 1);
  timers.set(id, {run, args, delay, isRepeated});
  tell('timer', id, delay);
  return id;
};
const clear = id => {
  timers.delete(id);
};

// fire is for the host: a timer is due.
export const fire = id => {
  const t = timers.get(id);
  if (!t) return;
  if (t.isRepeated) tell('timer', id, t.delay);
  else timers.delete(id);
  t.run(...t.args);
};

const shown = value => {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return String(value.stack || value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
};

Object.assign(globalThis, {
  self: globalThis, global: globalThis,
  setTimeout: timer(false), setInterval: timer(true), clearTimeout: clear, clearInterval: clear,
  setImmediate: (run, ...args) => setTimeout(run, 0, ...args), clearImmediate: clear,
  console: Object.fromEntries(['debug', 'log', 'info', 'warn', 'error'].map(level => [
    level, (...values) => tell('console', level, values.map(shown).join(' ')),
  ])),
});
