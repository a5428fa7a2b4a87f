// chrome-devtools-mcp, the MCP server of the DevTools' makers, on an address of a browser.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { serve } from './mcp.mjs';
import { picture, place, run, sum, until } from './step.mjs';

const program = join(dirname(createRequire(import.meta.url).resolve('chrome-devtools-mcp/package.json')), 'build/src/bin/chrome-devtools-mcp.js');
const connect = (...where) => serve(program, ...where, '--no-usage-statistics', '--no-performance-crux', '--workspace', place.dir);

const connectWS = () => connect('--wsEndpoint', place.ws, ...(place.headers ? ['--wsHeaders', JSON.stringify(place.headers)] : []));

let server, pageId;

// listed returns the id and the text of the one page in a list that fits.
function listed(text, fits) {
  for (const [, id, rest] of text.matchAll(/^(\d+): (.*)$/gm)) {
    if (fits(rest)) return { pageId: Number(id), rest };
  }
  return undefined;
}

async function open(s) {
  return listed((await s.call('new_page', { url: 'about:blank' })).text, (rest) => rest.includes('[selected]'));
}

async function evaluate(s, id, expression) {
  const { text } = await s.call('evaluate_script', { function: `() => ${expression}`, pageId: id });
  return JSON.parse(/```json\n([\s\S]*?)\n```/.exec(text)[1]);
}

// uid is what the server calls the element of a role and a name.
async function uid(role, name) {
  const { text } = await server.call('take_snapshot', { pageId });
  const found = new RegExp(`uid=(\\S+) ${role} "${name}"`).exec(text);
  if (!found) throw new Error(`no ${role} ${name} in ${text}`);
  return found[1];
}

const click = async (name) => server.call('click', { uid: await uid('button', name), pageId });

await run({
  async connect_http() {
    const other = await connect('--browserUrl', place.http);
    const { pageId: id } = await open(other);
    const value = await evaluate(other, id, '"connected"');
    await other.call('close_page', { pageId: id });
    await other.end();
    return value;
  },
  async connect_ws() {
    server = await connectWS();
    await server.call('list_pages');
    return 'connected';
  },
  async new_page() {
    const page = await open(server);
    pageId = page.pageId;
    return page.rest.split(' ')[0];
  },
  async navigate() {
    await server.call('navigate_page', { url: place.page, pageId });
    return evaluate(server, pageId, '`${performance.getEntriesByType("navigation")[0].responseStatus} ${document.title}`');
  },
  evaluate: () => evaluate(server, pageId, '6 * 7'),
  async input() {
    await click('press');
    await server.call('fill', { uid: await uid('textbox', 'name'), value: 'holdfast', pageId });
    return evaluate(server, pageId, '`${document.querySelector("#name").value} ${window.pressed}`');
  },
  async frame() {
    const { text } = await server.call('take_snapshot', { pageId });
    return /frame word/.exec(text)?.[0] ?? text;
  },
  async popup() {
    await click('popup');
    const { pageId: id } = await until('the popup', async () => listed((await server.call('list_pages')).text, (rest) => rest.includes('/client-popup')));
    const title = await evaluate(server, id, 'document.title');
    await server.call('close_page', { pageId: id });
    return title;
  },
  async screenshot() {
    const { pictures } = await server.call('take_screenshot', { pageId });
    return picture(Buffer.from(pictures[0].data, 'base64'));
  },
  async console() {
    await click('say');
    const { text } = await server.call('list_console_messages', { pageId });
    return /said by the page/.exec(text)?.[0] ?? text;
  },
  async dialog() {
    await click('ask');
    await server.call('handle_dialog', { action: 'accept', promptText: 'ann', pageId });
    return evaluate(server, pageId, 'window.answer');
  },
  async two_clients() {
    const other = await connectWS();
    const { pageId: id } = await open(other);
    const both = [[server, pageId], [other, id]];
    const sums = await Promise.all(both.map(([s, at], n) => sum(10, (i) => evaluate(s, at, String(i * (n + 1))))));
    await other.call('close_page', { pageId: id });
    await other.end();
    return sums.join(' ');
  },
  async close() {
    await server.end();
    return false;
  },
});
