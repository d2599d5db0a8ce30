// The service is killed again and again while vectors are written: what was answered is there after the restart and found by queries,
// what was deleted is not, and every vector is charged exactly once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { type Client, client, createTestAccount, type TestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';

const WRITERS = 6;
const KILLS = rounds(4);

let place: Place;
let service: ServiceProcess;
let db: Database;
let account: TestAccount;
let call: Client;

beforeAll(async () => {
  place = await createPlace();
  service = await startProcess(place);
  db = new Database({ connection: readConnection(place.dataDir) as Connection, connections: 2, hotConnections: 1 });
  const secrets = new Secrets(await loadServerSecret({ dataDir: place.dataDir }));
  account = await createTestAccount({ db, secrets } as Services, 20);
  call = client(place.url, account.secret);
});
afterAll(async () => {
  await db?.end();
  await place?.remove();
});

/** What each id must be: its number, null when deleted, undefined while nobody knows. */
type Expected = Map<string, number | null | undefined>;

const embeddingOf = (n: number) => [Math.cos(n), Math.sin(n), 1];

/** Writes and deletes its own vectors, small and large calls, until told to stop. */
async function write(name: string, round: number, expected: Expected, signal: AbortSignal): Promise<void> {
  for (let n = 1; !signal.aborted; n += 1) {
    const count = n % 7 === 0 ? 120 : 3;
    const ids = Array.from({ length: count }, (_, i) => `${name}-${(n + i) % 150}`);
    const deletes = n % 3 === 0;
    for (const id of ids) expected.set(id, undefined);
    const vectors = ids.map((id) => ({ id, embedding: embeddingOf(n), metadata: { n } }));
    const sent = deletes
      ? call('DELETE', '/v1/vector/delete', { collection: 'docs', ids })
      : call('POST', '/v1/vector/upsert', { collection: 'docs', vectors, idempotency_key: `${name}-${round}-${n}` });
    const reply = await sent.catch(() => null);
    if (reply?.status === 200) for (const id of ids) expected.set(id, deletes ? null : n);
    else await sleep(50);
  }
}

async function expectAllThere(expected: Expected): Promise<void> {
  const { body } = await call('POST', '/v1/vector/query', {
    collection: 'docs',
    embedding: [1, 0, 0],
    top_k: 1_000,
    include_values: true,
  });
  const found = new Map<string, { metadata: { n: number }; embedding: number[] }>(
    body.data.matches.map((match: { id: string }) => [match.id, match]),
  );
  for (const [id, n] of expected) {
    const match = found.get(id);
    if (n === null) expect(match, id).toBeUndefined();
    if (typeof n === 'number') expect(match?.metadata, id).toEqual({ n });
    if (match !== undefined) expect(match.embedding).toEqual(embeddingOf(match.metadata.n).map(Math.fround));
  }
  const record = await call('GET', '/v1/vector/collection/get?collection=docs');
  expect(record.body.data.vector_count).toBe(found.size);
}

test('kills between commits and queries lose nothing and leave nothing stale', { timeout: 120_000 }, async () => {
  expect((await call('POST', '/v1/vector/collection/create', { collection: 'docs', dimension: 3 })).status).toBe(200);
  const expected: Expected = new Map();
  for (let round = 0; round < KILLS; round += 1) {
    const stop = new AbortController();
    const writers = Array.from({ length: WRITERS }, (_, i) => write(`w${i}`, round, expected, stop.signal));
    await sleep(500 + Math.random() * 700);
    await service.end('SIGKILL');
    stop.abort();
    await Promise.all(writers);
    service = await startProcess(place);
    await expectAllThere(expected);
  }
  const { findings } = await examine({ db, secrets: null, modules: [{ name: 'vector' }] });
  expect(findings.filter(({ accountId }) => accountId === account.accountId)).toEqual([]);
});
