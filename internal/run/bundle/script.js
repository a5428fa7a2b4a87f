// How a script runs: with Puppeteer's page and browser over the connection that the host
// holds, and with the node's own tools as tab.
import {transform} from 'sucrase/dist/esm/index.js';
import {fire, tell} from './prelude.js';

// The connection is made for scripts that name page or browser, in any spelling, or may do so unseen.
const namesPage = /\b(?:page|browser|arguments|eval)\b|\\u/;

const transport = {
  send: message => tell('send', message),
  close: () => tell('close'),
  onmessage: null,
  onclose: null,
};

const calls = new Map();
let lastCall = 0;

// tool runs one tool of the node on the script's tab.
const tool = (name, input) => new Promise((resolve, reject) => {
  const id = ++lastCall;
  calls.set(id, {resolve, reject});
  tell('tool', id, name, input ?? {});
});

const toolDone = (id, result) => {
  const call = calls.get(id);
  calls.delete(id);
  if (!call) return;
  if (result.ok) {
    call.resolve(result);
    return;
  }
  call.reject(Object.assign(new Error(result.text || result.code), {name: 'ToolError', code: result.code, result}));
};

const isImage = v => v && typeof v === 'object' && typeof v.data === 'string' && /^image\//.test(v.mimeType ?? v.mime_type ?? '');

// typeOf knows an image by its first bytes.
const typeOf = bytes => {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return 'image/png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'image/jpeg';
  if (bytes[0] === 0x52 && bytes[8] === 0x57) return 'image/webp';
  return '';
};

const json = value => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};

const display = value => {
  if (isImage(value)) {
    tell('image', value.mimeType ?? value.mime_type, value.data);
  } else if (value instanceof Uint8Array && typeOf(value)) {
    tell('image', typeOf(value), Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'));
  } else {
    tell('text', typeof value === 'string' ? value : json(value) ?? String(value));
  }
};

const assert = (condition, message = 'assertion failed') => {
  if (!condition) throw Object.assign(new Error(String(message)), {name: 'AssertionError'});
};

const wait = ms => new Promise(done => setTimeout(done, ms));

const failed = error => {
  const isError = error instanceof Error;
  tell('failed', isError ? `${error.name}: ${error.message}` : String(error), isError ? String(error.stack ?? '') : '');
};

// parse makes the function of a script. Where it is not JavaScript it is read as TypeScript: the
// types are cut out, and every line stays where it is.
const AsyncFunction = (async () => {}).constructor;
const parse = code => {
  const make = body => new AsyncFunction('page', 'browser', 'tab', 'display', 'assert', 'wait', body);
  try {
    return make(code);
  } catch (notJavaScript) {
    const before = 'async function script() {', after = '\n}';
    try {
      const {code: js} = transform(before + code + after, {transforms: ['typescript'], disableESTransforms: true});
      return make(js.slice(before.length, -after.length));
    } catch {
      throw notJavaScript;
    }
  }
};

export const begin = puppeteer => {
  const run = async ({code, target, names}) => {
    // Syntax is looked at before anything is done.
    const script = parse(code);
    let browser, page;
    if (namesPage.test(code)) {
      tell('connect'); // the connection stands, or the script has ended
      browser = await puppeteer.connect({transport, defaultViewport: null});
      const found = await browser.waitForTarget(t => t._targetId === target, {timeout: 5000}).catch(() => null);
      page = await found?.page();
      assert(page, 'the page is gone');
    }
    const tab = Object.fromEntries(names.map(([short, name]) => [short, input => tool(name, input)]));
    return script(page, browser, Object.freeze(tab), display, assert, wait);
  };
  // What the host calls. It is taken away from scripts as well: the host has it already.
  globalThis.guest = (what, ...values) => {
    switch (what) {
      case 'run':
        run(...values).then(v => tell('done', v === undefined ? null : json(v) === undefined ? String(v) : v, v !== undefined), failed);
        break;
      case 'message':
        transport.onmessage?.(values[0]);
        break;
      case 'closed':
        transport.onclose?.();
        break;
      case 'timer':
        try {
          fire(values[0]);
        } catch (error) {
          failed(error);
        }
        break;
      case 'tool':
        toolDone(...values);
        break;
    }
  };
};
