// mcp-remote, unchanged: programs that start MCP servers as processes reach ours by it, from the address alone to a call.
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { freePort } from '../support/process.ts';
import { createTestAccount } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

const PROXY = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js');

/** Where it sends the person, which it writes for those who have no browser. */
async function addressIn(output: Readable): Promise<URL> {
  let text = '';
  for await (const chunk of output) {
    text += chunk;
    const [address] = /http\S+\/oauth\/authorize\?\S+(?=\s)/.exec(text) ?? [];
    if (address !== undefined) return new URL(address);
  }
  throw new Error(`it ended and sent nobody anywhere: ${text}`);
}

test('registers itself, sends a person to the page of consent, and calls with the key that they gave', async () => {
  const { core, url } = await sharedService();
  const { secret } = await createTestAccount(core);
  const folder = await mkdtemp(join(tmpdir(), 'mcp-remote-'));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      PROXY,
      `${core.baseUrl}/mcp/queue`,
      String(await freePort()),
      '--host',
      '127.0.0.1',
      '--transport',
      'http-only',
    ],
    // The browser is opened by a program that does nothing.
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: 'true', DISPLAY: '' },
    stderr: 'pipe',
  });
  const mcp = new Client({ name: 'a test', version: '1' });
  const connected = mcp.connect(transport);
  const asked = await addressIn(transport.stderr as Readable);
  const person = await signedIn(url, secret);
  const path = asked.pathname + asked.search;
  expect((await person.get(path)).text).toContain('the program registered itself');
  const form_token = await person.formToken(path);
  const { headers } = await person.post(path, {
    form_token,
    action: 'approve',
    scope: 'queue',
    lifetime: '30',
    cap: '5',
    period: 'total',
  });
  const back = await fetch((headers.get('refresh') ?? '').replace('0;url=', ''));
  expect(back.status).toBe(200);
  await connected;
  const { content } = await mcp.callTool({ name: 'queue_create', arguments: { name: 'by-mcp-remote' } });
  expect(JSON.stringify(content)).toContain('by-mcp-remote');
  await mcp.close();
  await rm(folder, { recursive: true, force: true });
});
