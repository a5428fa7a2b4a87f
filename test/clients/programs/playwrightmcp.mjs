// Playwright's MCP server, on an address of a browser.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { serve } from './mcp.mjs';
import { picture, place, run, sum } from './step.mjs';

const program = join(dirname(createRequire(import.meta.url).resolve('@playwright/mcp/package.json')), 'cli.js');
const headers = Object.entries(place.headers ?? {}).flatMap(([name, value]) => ['--cdp-header', `${name}: ${value}`]);
const connect = (address) => serve(program, '--cdp-endpoint', address, ...headers, '--output-dir', place.dir, '--timeout-settle', '50');

let server;

// result is what a tool says that it returned.
function result({ text }) {
  return JSON.parse(/### Result\n([\s\S]*?)(\n###|$)/.exec(text)[1]);
}

const evaluate = async (s, expression) => result(await s.call('browser_evaluate', { function: `() => ${expression}` }));
const click = (selector) => server.call('browser_click', { element: selector, target: selector });

await run({
  async connect_http() {
    const other = await connect(place.http);
    await other.call('browser_tabs', { action: 'new' });
    const value = await evaluate(other, '"connected"');
    await other.call('browser_tabs', { action: 'close' });
    await other.end();
    return value;
  },
  async connect_ws() {
    server = await connect(place.ws);
    await server.call('browser_tabs', { action: 'list' });
    return 'connected';
  },
  async new_page() {
    await server.call('browser_tabs', { action: 'new' });
    return evaluate(server, 'location.href');
  },
  async navigate() {
    await server.call('browser_navigate', { url: place.page });
    return evaluate(server, '`${performance.getEntriesByType("navigation")[0].responseStatus} ${document.title}`');
  },
  evaluate: () => evaluate(server, '6 * 7'),
  async input() {
    await click('#press');
    await server.call('browser_type', { element: 'name', target: '#name', text: 'holdfast', slowly: true });
    return evaluate(server, '`${document.querySelector("#name").value} ${window.pressed}`');
  },
  async frame() {
    const { text } = await server.call('browser_snapshot');
    return /frame word/.exec(text)?.[0] ?? text;
  },
  async popup() {
    await click('#popup');
    const { text } = await server.call('browser_tabs', { action: 'list' });
    const [, index, title] = /^- (\d+): .*\[(.*?)\]\(.*client-popup\)/m.exec(text);
    await server.call('browser_tabs', { action: 'close', index: Number(index) });
    return title;
  },
  async intercept() {
    await server.call('browser_run_code_unsafe', { code: 'async (page) => page.route("**/client-data", (route) => route.fulfill({ body: "intercepted" }))' });
    const get = 'fetch("/client-data").then((r) => r.text())';
    const first = await evaluate(server, get);
    await server.call('browser_run_code_unsafe', { code: 'async (page) => page.unroute("**/client-data")' });
    return `${first}, ${await evaluate(server, get)}`;
  },
  async screenshot() {
    const { text } = await server.call('browser_take_screenshot', { filename: 'shot.png' });
    return picture(await readFile(join(place.dir, 'shot.png')).catch(() => Buffer.from(text)));
  },
  async console() {
    await click('#say');
    const { text } = await server.call('browser_console_messages', { level: 'info' });
    return /said by the page/.exec(text)?.[0] ?? text;
  },
  async dialog() {
    await click('#ask');
    await server.call('browser_handle_dialog', { accept: true, promptText: 'ann' });
    return evaluate(server, 'window.answer');
  },
  async two_clients() {
    const other = await connect(place.ws);
    await other.call('browser_tabs', { action: 'new' });
    const sums = await Promise.all([server, other].map((s, n) => sum(10, (i) => evaluate(s, String(i * (n + 1))))));
    await other.call('browser_tabs', { action: 'close' });
    await other.end();
    return sums.join(' ');
  },
  async close() {
    await server.end();
    return false;
  },
});
