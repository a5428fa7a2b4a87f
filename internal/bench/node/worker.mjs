// One client in a process of its own, as package worker in Go: a JSON object a
// line in, one out. node worker.mjs puppeteer|playwright
import { createInterface } from 'node:readline';

const name = process.argv[2];
const now = () => Number(process.hrtime.bigint()); // the machine's monotonic clock
const evaluate = { expression: '1+1', returnByValue: true };

// Both go by a raw session of the page: the shortest way their users have.
const clients = {
  async puppeteer(place) {
    const { default: puppeteer } = await import('puppeteer-core');
    const browser = await puppeteer.connect({ browserWSEndpoint: place.browser, defaultViewport: null });
    const target = await browser.waitForTarget((t) => t._targetId === place.target, { timeout: 20000 });
    const page = await target.page();
    return { page, session: await page.createCDPSession() };
  },
  async playwright(place) {
    const { chromium } = await import('playwright-core');
    const browser = await chromium.connectOverCDP(place.browser);
    for (const context of browser.contexts()) {
      for (const page of context.pages()) {
        const session = await context.newCDPSession(page);
        const { targetInfo } = await session.send('Target.getTargetInfo');
        if (targetInfo.targetId === place.target) return { page, session };
        await session.detach();
      }
    }
    throw new Error(`no page ${place.target}`);
  },
};

const pages = [];
const first = () => {
  if (pages.length === 0) throw new Error('nothing is open');
  return pages[0];
};

async function one() {
  const { result } = await first().session.send('Runtime.evaluate', evaluate);
  if (result.value !== 2) throw new Error(`1+1 is ${JSON.stringify(result)}`);
}

const orders = {
  async open(o) {
    const waiting = [...o.places];
    const lane = async () => {
      while (waiting.length > 0) pages.push(await clients[name](waiting.shift()));
    };
    await Promise.all(Array.from({ length: o.at_once || 1 }, lane));
    return {};
  },
  async evaluate(o) {
    for (let i = 0; i < Math.max(20, o.n / 10); i++) await one();
    const ns = [];
    for (let i = 0; i < o.n; i++) {
      const begun = now();
      await one();
      ns.push(now() - begun);
    }
    return { ns };
  },
  async try(o) {
    let failed = 0;
    for (let i = 0; i < o.n; i++) {
      const late = new Promise((_, no) => setTimeout(() => no(new Error('late')), 1000));
      await Promise.race([one(), late]).catch(() => failed++);
    }
    return { failed };
  },
  async burst(o) {
    await first().session.send('Bench.prepare', o.burst);
    const begun = now();
    await first().session.send('Bench.burst', {});
    return { ns: [now() - begun] };
  },
  async dialog() {
    const seen = new Promise((done) => first().page.once('dialog', (d) => done([now(), d])));
    await first().session.send('Page.enable'); // a round trip: the listener is in place
    process.stdout.write('{}\n');
    const [at, dialog] = await seen;
    await dialog.accept();
    return { at };
  },
  async usage() {
    if (global.gc) {
      global.gc();
      global.gc();
    }
    return { usage: { heap: process.memoryUsage().heapUsed, stacks: 0, goroutines: 0 } };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  let answer;
  try {
    answer = await orders[order.do](order);
  } catch (e) {
    answer = { error: String(e?.message ?? e).split('\n')[0] };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0);
