// After calls by all doors, to a target that says the secret in random pieces and forms: no form of it is in the database, the log of the process, an
// answer, a page or a trace.
import { inspect } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import type { Logger } from '../../src/core/process/logger.ts';
import { Collector } from '../support/collector.ts';
import { signedIn } from '../support/console.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startTarget, type Target, type Vault, vaultAt } from './harness.ts';
import { echoInPieces, formsIn, kinds, textOfDatabase } from './secret-places.ts';

const lines: string[] = [];
const write = (...args: unknown[]) => void lines.push(inspect(args, { depth: 12 }));
const log = { debug: write, info: write, warn: write, error: write, fatal: write } as Logger;

let service: TestService;
let target: Target;
let collector: Collector;
let database: string;

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

// Everything is played before the first test, and the stop sends what waits.
beforeAll(async () => {
  [target, collector] = await Promise.all([startTarget(), Collector.start()]);
  // own service: what its whole database and log hold is looked through.
  service = await startTestService({ log, env: { LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  try {
    await play();
    database = await textOfDatabase(service.core.db);
  } finally {
    await service.stop();
    await Promise.all([target.stop(), collector.stop()]);
  }
});

async function play(): Promise<void> {
  const vault = await vaultAt(service, target);
  for (const [kind, fields, secrets] of kinds) {
    await vault.connect({ connection: kind, kind, mcp: {}, ...fields });
    target.respond = echoInPieces(secrets);
    await useAllDoors(vault, kind);
    answers.push((await vault.call('GET', `/v1/vault/connection/get/${kind}`)).text);
    // The seal fails.
    const broken = 'UPDATE vault.connection SET field = $3 WHERE account_id = $1 AND connection = $2';
    await service.core.db.query({ name: '', text: broken }, [vault.account.accountId, kind, 'other']);
    answers.push((await vault.call('POST', '/v1/vault/call', { connection: kind, url: '/x' })).text);
  }
  await failInside(vault);
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
}

/** What the service did not expect is logged, with its cause: a credential that cannot be written, and a call that cannot be counted. */
async function failInside(vault: Vault): Promise<void> {
  const change = (text: string) =>
    service.core.db.query({ name: '', text: `ALTER TABLE vault.connection ${text}` }, []);
  await change('ADD CONSTRAINT of_this_test CHECK (false) NOT VALID');
  for (const [kind, fields] of kinds) {
    const set = { connection: `${kind}-2`, kind, hosts: [target.host], ...fields };
    const replies = [
      await vault.call('PUT', '/v1/vault/connection/set', set),
      await vault.call('POST', '/v1/vault/call', { connection: kind, url: '/x' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([500, 500]);
    answers.push(...replies.map(({ text }) => text));
  }
  await change('DROP CONSTRAINT of_this_test');
}

test.each([
  ['database', () => database, 'vault.call'],
  ['log', () => lines.join('\n'), 'of_this_test'],
  ['answers and pages', () => answers.join('\n'), '[secret]'],
  ['traces', () => collector.bodies.join('\n'), 'vault.call'],
])('no form of a secret is in %s', (_, text, known) => {
  // It is what it seems to be.
  expect(text()).toContain(known);
  expect(formsIn(text())).toEqual([]);
});

test('the target has said secrets by all doors', () => {
  expect(answers.filter((text) => text.includes('[secret]')).length).toBeGreaterThan(50);
});
