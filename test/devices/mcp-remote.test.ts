// mcp-remote, unchanged: it stands between a program that starts MCP servers as processes and a server at an address.
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test, vi } from 'vitest';
import { signedIn } from '../support/console.ts';
import { freePort } from '../support/process.ts';
import { createTestAccount } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

const PROXY = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js');

/** The address of the page of consent, which mcp-remote writes for people without a browser. Its output is read on to the end. */
function addressIn(output: Readable): Promise<URL> {
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  let text = '';
  output.on('data', (chunk) => {
    text += chunk;
    const [address] = /http\S+\/oauth\/authorize\?\S+(?=\s)/.exec(text) ?? [];
    if (address !== undefined) resolve(new URL(address));
  });
  output.on('end', () => reject(new Error(`mcp-remote ended, and sent nobody to a page: ${text}`)));
  return promise;
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
  onTestFinished(async () => {
    await mcp.close();
    await rm(folder, { recursive: true, force: true });
  });
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
  // It may begin to listen after it has sent the person away.
  const back = await vi.waitFor(() => fetch((headers.get('refresh') ?? '').replace('0;url=', '')), 50_000);
  expect(back.status).toBe(200);
  await connected;
  const { content } = await mcp.callTool({ name: 'queue_create', arguments: { name: 'by-mcp-remote' } });
  expect(JSON.stringify(content)).toContain('by-mcp-remote');
});
