// Playwright over connectOverCDP, in the browser's own context.
import { chromium } from 'playwright-core';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { picture, place, run, sum } from './step.mjs';

const options = { timeout: 15000, headers: place.headers };
const connect = async (address) => {
  const browser = await chromium.connectOverCDP(address, options);
  return { browser, context: browser.contexts()[0] };
};

let browser, context, page;

await run({
  async connect_http() {
    const other = await connect(place.http);
    const p = await other.context.newPage();
    const value = await p.evaluate(() => 'connected');
    await p.close();
    await other.browser.close();
    return value;
  },
  async connect_ws() {
    ({ browser, context } = await connect(place.ws));
    return browser.isConnected() && 'connected';
  },
  async new_page() {
    page = await context.newPage();
    return page.url();
  },
  async navigate() {
    const response = await page.goto(place.page);
    return `${response.status()} ${await page.title()}`;
  },
  async evaluate() {
    return page.evaluate(([a, b]) => a * b, [6, 7]);
  },
  async input() {
    await page.click('#press');
    await page.locator('#name').pressSequentially('holdfast');
    return page.evaluate(() => `${document.querySelector('#name').value} ${window.pressed}`);
  },
  async frame() {
    return page.frameLocator('#frame').locator('#word').innerText();
  },
  async popup() {
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')]);
    await popup.waitForLoadState();
    const title = await popup.title();
    await popup.close();
    return title;
  },
  async download() {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#file')]);
    const file = join(place.dir, 'playwright.bin');
    await download.saveAs(file);
    return (await stat(file)).size;
  },
  async intercept() {
    await page.route('**/client-data', (route) => route.fulfill({ body: 'intercepted' }));
    const value = await page.evaluate(() => fetch('/client-data').then((r) => r.text()));
    await page.unroute('**/client-data');
    return `${value}, ${await page.evaluate(() => fetch('/client-data').then((r) => r.text()))}`;
  },
  async screenshot() {
    return picture(await page.screenshot());
  },
  async console() {
    const [message] = await Promise.all([page.waitForEvent('console'), page.click('#say')]);
    return message.text();
  },
  async dialog() {
    page.once('dialog', (dialog) => dialog.accept('ann'));
    await page.click('#ask');
    return page.evaluate(() => window.answer);
  },
  async two_clients() {
    const other = await connect(place.ws);
    const second = await other.context.newPage();
    const sums = await Promise.all([page, second].map((p, n) => sum(10, (i) => p.evaluate((v) => v, i * (n + 1)))));
    await second.close();
    await other.browser.close();
    return sums.join(' ');
  },
  async close() {
    await page.close();
    await browser.close();
    return browser.isConnected();
  },
});
