// The example as its README runs it: an agent that opens each issue once, at a forge that knows the token, which the agent does not.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { startTarget, type Target, TOKEN } from '../vault/harness.ts';

let service: SharedService;
let forge: Target;
const issues: { title: string; html_url: string }[] = [];
beforeAll(async () => {
  service = await sharedService();
  forge = await startTarget();
  forge.respond = ({ method, url, headers, body }, response) => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end('{}');
    if (method === 'GET') return void response.end(JSON.stringify(issues));
    const issue = { ...JSON.parse(body.toString()), html_url: `https://forge.test${url}/${issues.length + 1}` };
    issues.push(issue);
    response.writeHead(201).end(JSON.stringify(issue));
  };
});
afterAll(() => forge.stop());

test('each group of errors gets one issue, by a key that can use the token and not change its rule', async () => {
  const { secret } = await createTestAccount(service.core, 1);
  const call = client(service.url, secret);
  await call('PUT', '/v1/vault/connection/set', {
    connection: 'forge',
    kind: 'bearer',
    secret: TOKEN,
    hosts: [forge.host],
    allow: [{ methods: ['GET', 'POST'], path: '/repos/acme/shop/issues' }],
  });
  const made = await call('POST', '/v1/account/keys/create', { name: 'agent', scopes: ['vault.call', 'errors:read'] });
  const key: string = made.body.data.key_secret;
  const run = async (repository: string) => {
    const env = { PATH: process.env.PATH ?? '', QM_URL: service.url, QM_KEY: key };
    const program = [join(PROJECT, 'examples/issue-agent/agent.ts'), repository];
    return (await promisify(execFile)(process.execPath, program, { env })).stdout;
  };
  for (const title of ['The cart is empty', 'The card was declined'])
    await call('POST', '/v1/errors/capture', { title, level: 'error' });
  expect((await run('acme/shop')).split('\n').filter(Boolean).sort()).toEqual([
    expect.stringMatching(/^The card was declined: https:\/\/forge\.test\//),
    expect.stringMatching(/^The cart is empty: https:\/\/forge\.test\//),
  ]);
  expect(await run('acme/shop')).toBe('');
  expect(issues).toHaveLength(2);
  await expect(run('acme/other')).rejects.toThrow('RULE_REFUSED');
  const wider = { connection: 'forge', kind: 'bearer', hosts: [forge.host] };
  expect((await client(service.url, key)('PUT', '/v1/vault/connection/set', wider)).status).toBe(403);
});
