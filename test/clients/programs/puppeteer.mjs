// Puppeteer over connect, in the browser's own context.
import puppeteer from 'puppeteer-core';
import { picture, place, run, saved, sum } from './step.mjs';

const connect = (where) => puppeteer.connect({
  ...where,
  headers: place.headers,
  defaultViewport: null,
  protocolTimeout: 15000,
  downloadBehavior: { policy: 'allow', downloadPath: place.dir },
});

let browser, page;

await run({
  async connect_http() {
    const other = await connect({ browserURL: place.http });
    const p = await other.newPage();
    const value = await p.evaluate(() => 'connected');
    await p.close();
    await other.disconnect();
    return value;
  },
  async connect_ws() {
    browser = await connect({ browserWSEndpoint: place.ws });
    return browser.connected && 'connected';
  },
  async new_page() {
    page = await browser.newPage();
    return page.url();
  },
  async navigate() {
    const response = await page.goto(place.page);
    return `${response.status()} ${await page.title()}`;
  },
  async evaluate() {
    return page.evaluate((a, b) => a * b, 6, 7);
  },
  async input() {
    await page.click('#press');
    await page.type('#name', 'holdfast');
    return page.evaluate(() => `${document.querySelector('#name').value} ${window.pressed}`);
  },
  async frame() {
    const element = await page.waitForSelector('#frame');
    const frame = await element.contentFrame();
    const word = await frame.waitForSelector('#word');
    return word.evaluate((e) => e.textContent);
  },
  async popup() {
    const [popup] = await Promise.all([new Promise((done) => page.once('popup', done)), page.click('#popup')]);
    await popup.waitForFunction(() => document.title !== '');
    const title = await popup.title();
    await popup.close();
    return title;
  },
  async download() {
    await page.click('#file');
    return saved('file.bin', 1024);
  },
  async intercept() {
    await page.setRequestInterception(true);
    const answer = (r) => (r.url().endsWith('/client-data') ? r.respond({ body: 'intercepted' }) : r.continue());
    page.on('request', answer);
    const value = await page.evaluate(() => fetch('/client-data').then((r) => r.text()));
    page.off('request', answer);
    await page.setRequestInterception(false);
    return `${value}, ${await page.evaluate(() => fetch('/client-data').then((r) => r.text()))}`;
  },
  async screenshot() {
    return picture(await page.screenshot());
  },
  async console() {
    const [message] = await Promise.all([new Promise((done) => page.once('console', done)), page.click('#say')]);
    return message.text();
  },
  async dialog() {
    page.once('dialog', (dialog) => dialog.accept('ann'));
    await page.click('#ask');
    return page.evaluate(() => window.answer);
  },
  async two_clients() {
    const other = await connect({ browserWSEndpoint: place.ws });
    const second = await other.newPage();
    const sums = await Promise.all([page, second].map((p, n) => sum(10, (i) => p.evaluate((v) => v, i * (n + 1)))));
    await second.close();
    await other.disconnect();
    return sums.join(' ');
  },
  async close() {
    await page.close();
    await browser.disconnect();
    return browser.connected;
  },
});
