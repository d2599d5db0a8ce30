// The protocol's own conformance suite, as it is published: those of its scenarios that ask for no tools, prompts or resources of its own.
// It knows no keys: what stands between adds one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const suite = new URL('../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url).pathname;
let service: TestService;
let directory: string;
const relay = createServer((sent, answer) => {
  const { port } = new URL(service.url);
  const { method, url: path, headers } = sent;
  const passed = request(
    { port, method, path, headers: { ...headers, authorization: `Bearer ${secret}` } },
    (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    },
  );
  sent.pipe(passed);
});
let secret: string;

beforeAll(async () => {
  service = await startTestService();
  ({ secret } = await createTestAccount(service.core));
  directory = await mkdtemp(join(tmpdir(), 'qm-mcp-'));
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
});
afterAll(async () => {
  relay.close();
  relay.closeAllConnections();
  await rm(directory, { recursive: true });
  await service.stop();
});

test.each(['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'])(
  '%s',
  async (scenario) => {
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/mcp`;
    const child = spawn(process.execPath, [suite, 'server', '--url', url, '--scenario', scenario], { cwd: directory });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    expect(code, output).toBe(0);
    expect(output).toMatch(/[1-9]\d*\/\d+ passed|Passed: [1-9]/i);
  },
  60_000,
);
