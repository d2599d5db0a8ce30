// A client of the Model Context Protocol (npm install @modelcontextprotocol/client): one address has every capability of the key.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
const client = new Client({ name: 'example', version: '1.0.0' });
const requestInit = { headers: { Authorization: `Bearer ${QM_KEY}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(`${QM_URL}/mcp`), { requestInit }));

const call = async (name: string, input: object) => {
  const { structuredContent } = await client.callTool({ name, arguments: { ...input } });
  return (structuredContent as { data: { items: { id: string }[] } }).data;
};
const found = await call('search_capabilities', { query: 'create a queue', limit: 1 });
const [{ id } = { id: '' }] = found.items;
console.log(id, JSON.stringify(await call('call_capability', { id, input: { name: 'by-mcp' } })));
await client.close();
