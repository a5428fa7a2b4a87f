// The MCP client of an agent framework, Vercel's AI SDK, which is its own: over stdio and HTTP.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { place, run } from './step.mjs';

let client;
let tools;

const options = { toolCallId: '1', messages: [] };
const call = (name, input = {}) => tools[name].execute(input, options);
const value = async (expression) => (await call('browser_evaluate', { expression })).structuredContent.data.value;

await run({
  async connect() {
    client = await createMCPClient({
      transport: new Experimental_StdioMCPTransport({ command: place.binary, args: ['mcp', '--cdp-url', place.ws], env: { ...process.env, HOLDFAST_STATE_DIR: place.state } }),
    });
    tools = await client.tools();
    return Object.keys(tools).length <= 15;
  },
  async dialog() {
    await call('browser_navigate', { url: place.page });
    const held = await call('browser_evaluate', { expression: 'document.querySelector("#ask").click()' });
    await call('browser_dialog', { action: 'accept', prompt_text: 'ann' });
    return [held.isError, held.structuredContent.code, await value('window.answer')];
  },
  async http() {
    const other = await createMCPClient({ transport: { type: 'http', url: `${place.mcp}?task=ai`, headers: { Authorization: `Bearer ${place.token}` } } });
    tools = await other.tools();
    await call('browser_navigate', { url: place.page });
    const title = await value('document.title');
    await other.close();
    return title;
  },
  async close() {
    await client.close();
    return 'closed';
  },
});
