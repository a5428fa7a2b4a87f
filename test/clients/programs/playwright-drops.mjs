// Playwright whose browser's connections are cut under it: steps of seven kinds in turn, and at
// the end one of each, when nothing is cut any more.
import { chromium } from 'playwright-core';
import { drops, place } from './drops.mjs';

let page, context, other;

await drops({
  async begin() {
    const browser = await chromium.connectOverCDP(place.ws, { timeout: 15000 });
    context = await browser.newContext();
    await context.addCookies([{ name: 'kept', value: 'yes', url: place.page }]);
    other = await context.newPage();
    page = await browser.contexts()[0].newPage();
    page.setDefaultTimeout(15000);
    await page.addInitScript(() => { window.planted = 'planted'; });
    await page.exposeFunction('double', (v) => 2 * v);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.route('**/client-data', (route) => route.fulfill({ body: 'intercepted' }).catch(() => {}));
    await page.goto(place.page);
  },
  kinds: {
    evaluate: async (i) => (await page.evaluate((v) => v, i)) === i,
    binding: async (i) => (await page.evaluate((v) => window.double(v), i)) === 2 * i,
    emulation: async () => page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches),
    interception: async () => (await page.evaluate(() => fetch('/client-data').then((r) => r.text()))) === 'intercepted',
    context: async (i) => (await other.evaluate((v) => v, i)) === i && (await context.cookies())[0].value === 'yes',
    worker: async (i) => {
      await page.evaluate(() => { window.worker ??= new Worker(URL.createObjectURL(new Blob(['']))); });
      const worker = page.workers()[0] ?? await page.waitForEvent('worker');
      return (await worker.evaluate((v) => v, i)) === i;
    },
    script: async () => {
      await page.goto(place.page);
      return (await page.evaluate(() => window.planted)) === 'planted';
    },
  },
});
