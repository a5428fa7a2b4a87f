// Playwright without a handler of dialogs, which answers each by itself as soon as it sees it,
// and a page that waits for the answer to its prompt.
import { chromium } from 'playwright-core';
import { place, run } from './step.mjs';

let browser, page;

await run({
  async connect_ws() {
    browser = await chromium.connectOverCDP(place.ws, { timeout: 15000 });
    page = await browser.contexts()[0].newPage();
    await page.goto(place.page);
    return 'connected';
  },
  async prompt() {
    return page.evaluate(() => window.prompt('name?', 'nothing'));
  },
  async close() {
    await browser.close();
    return browser.isConnected();
  },
});
