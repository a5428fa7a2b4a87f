// The client of the protocol's own SDK for TypeScript, over stdio and over HTTP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { place, run, until } from './step.mjs';

const stdio = new Client({ name: 'mcp-sdk', version: '1' });
const http = new Client({ name: 'mcp-sdk', version: '1' });
const updates = [];

// call returns the words of a tool's result; structured content has to fit the schema, which the
// client checks by itself.
async function call(client, name, args = {}, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  return { ...result.structuredContent, failed: result.isError ? result.structuredContent.code : undefined };
}

const value = async (client, expression) => (await call(client, 'browser_evaluate', { expression })).data.value;

await run({
  async connect() {
    await stdio.connect(new StdioClientTransport({ command: place.binary, args: ['mcp', '--tools', 'all', '--cdp-url', place.ws], env: { ...process.env, HOLDFAST_STATE_DIR: place.state } }));
    return stdio.getServerVersion().name;
  },
  async tools() {
    const { tools } = await stdio.listTools();
    return tools.every((t) => t.inputSchema.type === 'object' && t.outputSchema?.type === 'object' && t.annotations) && tools.some((t) => t.name === 'browser_dialog');
  },
  async navigate() {
    await call(stdio, 'browser_navigate', { url: place.page });
    return value(stdio, 'document.title');
  },
  async dialog() {
    const held = await call(stdio, 'browser_evaluate', { expression: 'document.querySelector("#ask").click()' });
    const { tool, input } = held.next_actions[0];
    await call(stdio, tool, { ...input, prompt_text: 'ann' });
    return [held.failed, tool, await value(stdio, 'window.answer')];
  },
  async error() {
    return (await call(stdio, 'browser_evaluate', { expression: 'nothing.there' })).failed;
  },
  async unknown() {
    return (await call(stdio, 'browser_navigate', { address: place.page })).failed;
  },
  async updates() {
    const { data } = await call(stdio, 'browser_task_status');
    const uri = `browser://tasks/${data.task_id}/dialogs`;
    stdio.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => updates.push(n.params.uri));
    await stdio.subscribeResource({ uri });
    // The server watches from now on; what opens before that is no update.
    await until('an update', async () => {
      await call(stdio, 'browser_evaluate', { expression: 'alert("news")' });
      await call(stdio, 'browser_dialog', { action: 'accept' });
      return updates.includes(uri);
    });
    const { contents } = await stdio.readResource({ uri });
    return JSON.parse(contents[0].text).recent_dialogs.at(-1).message;
  },
  async progress() {
    const told = [];
    const options = { onprogress: (p) => told.push(p.progress) };
    await call(stdio, 'browser_evaluate', { expression: 'new Promise((done) => setTimeout(done, 1500))' }, options);
    return told;
  },
  async cancel() {
    const aborter = new AbortController();
    const hangs = call(stdio, 'browser_evaluate', { expression: 'new Promise(() => {})' }, { signal: aborter.signal });
    setTimeout(() => aborter.abort(), 100);
    const ended = await hangs.then(() => 'answered', () => 'cancelled');
    return [ended, await value(stdio, '6 * 7')];
  },
  async http() {
    const transport = new StreamableHTTPClientTransport(new URL(`${place.mcp}?tools=all`), { requestInit: { headers: { Authorization: `Bearer ${place.token}` } } });
    await http.connect(transport);
    await call(http, 'browser_task_open', { cdp_url: place.ws });
    await call(http, 'browser_navigate', { url: place.page });
    const own = (await call(http, 'browser_task_status')).data.task_id;
    const title = await value(http, 'document.title');
    await transport.terminateSession();
    await http.close();
    return [title, own.startsWith('mcp-')];
  },
  async close() {
    await stdio.close();
    return 'closed';
  },
});
