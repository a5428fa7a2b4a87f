// agent-browser: a command line whose orders go to a daemon that holds the connection. Each
// session name is a client of its own.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { picture, place, run, sum, within } from './step.mjs';

const program = join(dirname(createRequire(import.meta.url).resolve('agent-browser/package.json')), 'bin/agent-browser.js');

// order runs one order and returns the data of its answer.
function order(session, ...args) {
  return within(18000, args.join(' '), new Promise((done, failed) => {
    const child = execFile(process.execPath, [program, '--session', session, '--json', ...args], (error, stdout, stderr) => {
      let answer;
      try {
        answer = JSON.parse(stdout.trim().split('\n').pop());
      } catch {
        return failed(new Error(`${args.join(' ')}: ${error ?? ''} ${stdout} ${stderr}`));
      }
      if (!answer.success) return failed(new Error(`${args.join(' ')}: ${JSON.stringify(answer)}`));
      done(answer.data);
    });
    child.stdin.end();
  }));
}

const main = (...args) => order('main', ...args);
const evaluate = async (session, expression) => (await order(session, 'eval', expression)).result;

await run({
  async connect_http() {
    await order('http', 'connect', place.http);
    const value = await evaluate('http', '"connected"');
    await order('http', 'close');
    return value;
  },
  async connect_ws() {
    await main('connect', place.ws);
    return evaluate('main', '"connected"');
  },
  async new_page() {
    await main('tab', 'new');
    return (await main('get', 'url')).url;
  },
  async navigate() {
    await main('open', place.page);
    const status = await evaluate('main', 'performance.getEntriesByType("navigation")[0].responseStatus');
    return `${status} ${(await main('get', 'title')).title}`;
  },
  evaluate: () => evaluate('main', '6 * 7'),
  async input() {
    await main('click', '#press');
    await main('type', '#name', 'holdfast');
    return evaluate('main', '`${document.querySelector("#name").value} ${window.pressed}`');
  },
  async frame() {
    // Frames of other origins are in its snapshot alone.
    const { snapshot } = await main('snapshot');
    return /frame word/.exec(snapshot)?.[0] ?? snapshot;
  },
  async popup() {
    await main('click', '#popup');
    // It follows every new tab.
    const title = (await main('get', 'title')).title;
    await main('tab', 'close');
    return title;
  },
  async download() {
    const file = join(place.dir, 'agent-browser.bin');
    await main('download', '#file', file);
    return (await readFile(file)).length;
  },
  async intercept() {
    await main('network', 'route', '**/client-data', '--body', 'intercepted');
    const get = 'fetch("/client-data").then((r) => r.text())';
    const first = await evaluate('main', get);
    await main('network', 'unroute', '**/client-data');
    return `${first}, ${await evaluate('main', get)}`;
  },
  async screenshot() {
    const file = join(place.dir, 'agent-browser.png');
    await main('screenshot', file);
    return picture(await readFile(file));
  },
  async console() {
    await main('click', '#say');
    const { messages } = await main('console');
    return messages.at(-1).text;
  },
  async dialog() {
    await main('click', '#ask').catch(() => {}); // it tells of the dialog in place of the click
    await main('dialog', 'accept', 'ann');
    return evaluate('main', 'window.answer');
  },
  async two_clients() {
    await order('second', 'connect', place.ws);
    await order('second', 'tab', 'new');
    const sums = await Promise.all(['main', 'second'].map((s, n) => sum(10, (i) => evaluate(s, String(i * (n + 1))))));
    await order('second', 'tab', 'close');
    await order('second', 'close');
    return sums.join(' ');
  },
  async close() {
    await main('close');
    return false;
  },
});
