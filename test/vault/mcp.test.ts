// The relay to MCP servers of others: official clients at a server built with the official library, which wants a token that they never see.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, boundAccount } from '../approvals/harness.ts';
import { connectMcp } from '../support/mcp.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { callsOf, TOKEN, vaultAt } from './harness.ts';

let service: SharedService;
let server: { readonly host: string; readonly asked: string[]; stop(): void };
beforeAll(async () => {
  service = await sharedService();
  server = await startServer();
});
afterAll(() => server.stop());

/** Answers with events where `accept` takes them, as the library does. */
async function startServer() {
  const asked: string[] = [];
  const http = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    const mcp = new Server({ name: 'forge', version: '1' }, { capabilities: { tools: {} } });
    const inputSchema = { type: 'object' as const, properties: { title: { type: 'string' } } };
    const tools = ['create_issue', 'delete_repo'].map((name) => ({ name, inputSchema }));
    mcp.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    mcp.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const did = `${params.name} ${params.arguments?.title}`;
      asked.push(did);
      return { content: [{ type: 'text', text: `${did}, token ${TOKEN}` }] };
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never);
    response.on('close', () => void transport.close());
    await mcp.connect(transport as never);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.77.0.1', resolve));
  http.unref();
  const { port } = http.address() as AddressInfo;
  return { host: `127.77.0.1:${port}`, asked, stop: () => http.closeAllConnections() };
}

const connection = () => ({ connection: 'forge', kind: 'bearer', secret: TOKEN, hosts: [server.host] });

test('clients use the tools that the rule allows, and no other', async () => {
  const vault = await vaultAt(service, server as never);
  await vault.connect({ ...connection(), mcp: { path: '/mcp', tools: ['create_issue'] } });
  const client = await connectMcp('2025-11-25', `${service.url}/mcp/via/forge`, vault.account.secret);
  expect((await client.tools()).map(({ name }) => name)).toEqual(['create_issue']);
  const made = await client.call('create_issue', { title: 'one' });
  expect(made.content[0]?.text).toBe('create_issue one, token [secret]');
  const refused = await client.call('delete_repo', { title: 'one' });
  expect([refused.isError, refused.structuredContent.error]).toMatchObject([true, { code: 'RULE_REFUSED' }]);
  await client.close();
  expect(server.asked).toEqual(['create_issue one']);
});

test('a call of a tool that a person must approve waits, and runs once, whatever its id', async () => {
  const bound = await boundAccount(service, 1);
  const set = await bound.call('PUT', '/v1/vault/connection/set', { ...connection(), mcp: {}, approve: ['POST'] });
  expect(set.body.ok).toBe(true);
  const message = (id: number) =>
    fetch(`${service.url}/mcp/via/forge`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bound.secret}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'create_issue', arguments: { title: 'asked' } },
      }),
    }).then((answer) => answer.text());
  const first = JSON.parse(await message(1));
  expect(first).toMatchObject({
    id: 1,
    result: { isError: true, structuredContent: { error: { code: 'APPROVAL_REQUIRED' } } },
  });
  const { approval } = first.result.structuredContent.error;
  expect(JSON.parse(await message(2)).result.structuredContent.error.approval.approval_id).toBe(approval.approval_id);
  const shown = (await bound.owner.call('account.approvals.get', { approval_id: approval.approval_id })).body.data;
  expect(shown.input).toEqual({
    connection: 'forge',
    method: 'POST',
    tool: 'create_issue',
    arguments: { title: 'asked' },
  });
  await approve(bound.owner, approval.approval_id);
  expect(await message(3)).toContain('create_issue asked, token [secret]');
  expect(server.asked.filter((each) => each === 'create_issue asked')).toHaveLength(1);
});

test('a long message is read in a thread, and goes on as it was read', async () => {
  const vault = await vaultAt(service, server as never);
  await vault.connect({ ...connection(), mcp: {} });
  const title = 'long '.repeat(40_000);
  const answer = await fetch(`${service.url}/mcp/via/forge`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${vault.account.secret}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'create_issue', arguments: { title } },
    }),
  });
  expect(await answer.text()).toContain('token [secret]');
  expect(server.asked.at(-1)).toBe(`create_issue ${title}`);
});

test('what is no message, and what is no server, is told in its form', async () => {
  const vault = await vaultAt(service, server as never);
  await vault.connect(connection());
  const post = async (body: string) => {
    const headers = { authorization: `Bearer ${vault.account.secret}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/mcp/via/forge`, { method: 'POST', headers, body });
    return [answer.status, await answer.json()];
  };
  expect(await post('[]')).toMatchObject([400, { jsonrpc: '2.0', error: { data: { code: 'INVALID_REQUEST' } } }]);
  expect(await post('{"jsonrpc":"2.0","id":1,"method":"initialize"}')).toMatchObject([
    404,
    { error: { data: { code: 'NOT_FOUND' } } },
  ]);
  expect(await callsOf(vault, 0)).toEqual([]);
});
