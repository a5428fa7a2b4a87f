// Puppeteer whose browser's connections are cut under it, as playwright-drops.mjs.
import puppeteer from 'puppeteer-core';
import { drops, place } from './drops.mjs';

let page, context, other;

await drops({
  async begin() {
    const browser = await puppeteer.connect({ browserWSEndpoint: place.ws, defaultViewport: null, protocolTimeout: 15000 });
    context = await browser.createBrowserContext();
    await context.setCookie({ name: 'kept', value: 'yes', domain: 'a.test' });
    other = await context.newPage();
    page = await browser.newPage();
    page.setDefaultTimeout(15000);
    await page.evaluateOnNewDocument(() => { window.planted = 'planted'; });
    await page.exposeFunction('double', (v) => 2 * v);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await page.setRequestInterception(true);
    page.on('request', (r) => (r.url().endsWith('/client-data') ? r.respond({ body: 'intercepted' }) : r.continue()).catch(() => {}));
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
      const worker = page.workers()[0] ?? await new Promise((made) => page.once('workercreated', made));
      // An evaluate waits in vain for the first context of a worker that has gone, also directly.
      const gone = new Promise((_, fail) => page.once('workerdestroyed', () => fail(new Error('Worker was closed'))));
      gone.catch(() => {});
      return (await Promise.race([worker.evaluate((v) => v, i), gone])) === i;
    },
    script: async () => {
      await page.goto(place.page);
      return (await page.evaluate(() => window.planted)) === 'planted';
    },
  },
});
