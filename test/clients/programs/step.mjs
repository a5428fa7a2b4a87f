// What every program has in common: a place to drive and steps, of which each prints one line
// of JSON: {"step", "value"} or {"step", "error"}. A step that fails does not end the program.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

// place is {ws, http, page, dir}: two addresses of one browser, a page of the site, a folder.
export const place = JSON.parse(process.argv[2]);

// limit is how long a step may take, in milliseconds.
const limit = 20000;

export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no end after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export function print(line) {
  process.stdout.write(JSON.stringify(line) + '\n');
}

export async function run(steps) {
  for (const [step, act] of Object.entries(steps)) {
    try {
      print({ step, value: (await within(limit, step, act())) ?? null });
    } catch (e) {
      print({ step, error: String(e?.stack ?? e).slice(0, 600) });
    }
  }
  process.exit(0);
}

// until waits for what act returns, as soon as that is neither undefined nor false.
export async function until(what, act) {
  for (const end = Date.now() + limit / 2; Date.now() < end; await new Promise((done) => setTimeout(done, 20))) {
    const value = await act();
    if (value !== undefined && value !== false) return value;
  }
  throw new Error(`${what}: did not come`);
}

// saved waits for a download of n bytes in dir.
export function saved(name, n, dir = place.dir) {
  return until(`the download ${name}`, async () => {
    const bytes = await readFile(join(dir, name)).catch(() => undefined);
    return bytes?.length === n && bytes.length;
  });
}

// picture says what kind of picture bytes are.
export const picture = (bytes) => Buffer.from(bytes).subarray(1, 4).toString('latin1');

// sum adds up what act returns for 1 to n, one call after the other.
export async function sum(n, act) {
  let total = 0;
  for (let i = 1; i <= n; i++) total += await act(i);
  return total;
}
