// A small client of the Model Context Protocol: a server as a child, one message a line.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { place } from './step.mjs';

export async function serve(...args) {
  const child = spawn(process.execPath, args, { cwd: place.dir, stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting = new Map();
  let last = 0;
  let said = '';
  child.stderr.on('data', (data) => (said = (said + data).slice(-2000)));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === 'roots/list') {
      send({ id: message.id, result: { roots: [{ uri: `file://${place.dir}`, name: 'dir' }] } });
    } else if (waiting.has(message.id)) {
      waiting.get(message.id)(message);
      waiting.delete(message.id);
    }
  });
  const ended = new Promise((done) => child.once('exit', done));
  const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
  const ask = async (method, params) => {
    const id = ++last;
    const answer = new Promise((done) => waiting.set(id, done));
    send({ id, method, params });
    const message = await Promise.race([answer, ended.then(() => ({ error: { message: `the server ended: ${said}` } }))]);
    if (message.error) throw new Error(`${method}: ${message.error.message}`);
    return message.result;
  };
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: { roots: {} },
    clientInfo: { name: 'holdfast-test', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  return {
    // call returns the text of a tool's answer, and its pictures.
    async call(name, input = {}) {
      const result = await ask('tools/call', { name, arguments: input });
      const text = result.content.filter((c) => c.type === 'text').map((c) => c.text).join('\n');
      if (result.isError) throw new Error(`${name}: ${text}`);
      return { text, pictures: result.content.filter((c) => c.type === 'image') };
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
