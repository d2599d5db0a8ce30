// After calls by all doors, to a target that says the secret in random pieces and forms: no form of it is in the database, the log of the process, an
// answer or a page.
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Logger } from '../../src/core/process/logger.ts';
import { formsOf } from '../../src/modules/vault/answers/forms.ts';
import { signedIn } from '../support/console.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startTarget, type Target, type Vault, vaultAt } from './harness.ts';

const lines: string[] = [];
const write = (...args: unknown[]) => void lines.push(inspect(args, { depth: 12 }));
const log = { debug: write, info: write, warn: write, error: write, fatal: write } as Logger;

let service: TestService;
let target: Target;
beforeAll(async () => {
  // own service: what its whole database and log hold is looked through.
  service = await startTestService({ log, env: { LOG_LEVEL: 'debug' } });
  target = await startTarget();
});
afterAll(async () => {
  await target.stop();
  await service.stop();
});

const secretOf = (kind: string) => `sécret-"of/${kind}"+<&>=x7Qz`.normalize('NFC');
const ascii = (kind: string) => `secret-"of/${kind}"+<&>=x7Qz`;
const kinds: readonly (readonly [kind: string, fields: object, secrets: readonly string[]])[] = [
  ['bearer', { secret: ascii('bearer') }, [ascii('bearer')]],
  ['header', { field: 'x-key', secret: ascii('header') }, [ascii('header')]],
  ['query', { field: 'key', secret: secretOf('query') }, [secretOf('query')]],
  ['basic', { secret: { username: 'me', password: secretOf('basic') } }, [secretOf('basic')]],
  [
    'sigv4',
    { secret: { access_key_id: 'AKID', secret_access_key: ascii('sigv4'), region: 'r', service: 's' } },
    [ascii('sigv4')],
  ],
];
const forms = formsOf(kinds.flatMap(([, , secrets]) => [...secrets]));

/** Small numbers that look random, the same at each run. */
function* numbers(): Generator<number> {
  for (let seed = 7; ; seed = (seed * 48_271) % 2_147_483_647) yield seed;
}

/** What the target says: every form of the secrets, in pieces of one to nine bytes, now and then compressed. */
function echoInPieces(secrets: readonly string[]): Target['respond'] {
  const random = numbers();
  return (_, response) => {
    const text = formsOf(secrets)
      .map((form) => form.toString())
      .join(' | ');
    const isPacked = (random.next().value ?? 0) % 3 === 0;
    const bytes = isPacked ? gzipSync(text) : Buffer.from(text);
    response.writeHead(500, {
      ...(isPacked && { 'content-encoding': 'gzip' }),
      'x-said': encodeURIComponent(secrets[0] ?? ''),
    });
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + ((random.next().value ?? 0) % 9);
      response.write(bytes.subarray(at, at + length));
      at += length;
    }
    response.end();
  };
}

async function everything(): Promise<string> {
  const { db } = service.core;
  const catalogue = `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
                      WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`;
  const { rows } = await db.query<{ name: string }>({ name: '', text: catalogue }, []);
  expect(rows.length).toBeGreaterThan(50);
  const texts: string[] = [];
  for (const { name } of rows) {
    const table = await db.query<{ row: string }>({ name: '', text: `SELECT t::text AS row FROM ${name} t` }, []);
    texts.push(...table.rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

const answers: string[] = [];

async function useAllDoors(vault: Vault, kind: string): Promise<void> {
  const { secret } = vault.account;
  for (let i = 0; i < 5; i += 1) {
    const keyed = { connection: kind, url: '/x', idempotency_key: `${kind}-${i}` };
    for (const inline of [true, false])
      answers.push(
        (await vault.call('POST', '/v1/vault/call', { ...keyed, inline, idempotency_key: `${kind}-${i}-${inline}` }))
          .text,
      );
    const headers = { authorization: `Bearer ${secret}`, 'accept-encoding': i % 2 === 0 ? 'gzip' : 'identity' };
    const byPath = await fetch(`${service.url}/v1/vault/to/${kind}/x?a=${i}`, { headers });
    answers.push(JSON.stringify([...byPath.headers]), await byPath.text());
    const message = { jsonrpc: '2.0', id: i, method: 'tools/call', params: { name: 'x' } };
    const relayed = await fetch(`${service.url}/mcp/via/${kind}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    });
    answers.push(await relayed.text());
  }
}

test('no form of a secret is anywhere', async () => {
  const vault = await vaultAt(service, target);
  for (const [kind, fields, secrets] of kinds) {
    await vault.connect({ connection: kind, kind, mcp: {}, ...fields });
    target.respond = echoInPieces(secrets);
    await useAllDoors(vault, kind);
    answers.push((await vault.call('GET', `/v1/vault/connection/get/${kind}`)).text);
    // A failure of the seal is one of the few that are logged.
    const broken = 'UPDATE vault.connection SET field = $3 WHERE account_id = $1 AND connection = $2';
    await service.core.db.query({ name: '', text: broken }, [vault.account.accountId, kind, 'other']);
    answers.push((await vault.call('POST', '/v1/vault/call', { connection: kind, url: '/x' })).text);
  }
  for (const path of ['/v1/vault/calls?limit=100', '/v1/vault/connection/list', '/v1/account/requests/list?limit=100'])
    answers.push((await vault.call('GET', path)).text);
  const visitor = await signedIn(service.url, vault.account.secret);
  for (const path of [
    '/console/vault',
    '/console/vault/calls',
    '/console/vault/connections/bearer',
    '/console/requests',
  ])
    answers.push((await visitor.get(path)).text);
  const places = { database: await everything(), log: lines.join('\n'), answers: answers.join('\n') };
  expect(answers.filter((text) => text.includes('[secret]')).length).toBeGreaterThan(50);
  for (const [place, text] of Object.entries(places)) {
    const found = forms.map((form) => form.toString()).filter((form) => text.includes(form));
    expect([place, found]).toEqual([place, []]);
  }
});
