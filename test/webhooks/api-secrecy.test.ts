// Signing secrets and custom headers stand nowhere in clear: not in any table, and not in the log at its most talkative.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { LOCAL_TARGETS, Receiver, WebhookCaller } from './api-harness.ts';

const HEADER_SECRET = 'Bearer credential-of-the-receiver';
let database: TestDatabase;
let db: Database;
let receiver: Receiver;
let place: Place;
let process: ServiceProcess;

beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), Receiver.start()]);
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  place = await createPlace({ ...LOCAL_TARGETS, DATABASE_URL: database.url, LOG_LEVEL: 'trace' });
  process = await startProcess(place);
});
afterAll(async () => {
  await place.remove();
  await db.end();
  await database.drop();
  await receiver.stop();
});

/** Every row of every table, as one text. */
async function wholeDatabase(): Promise<string> {
  const list = `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
                 WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`;
  const { rows } = await db.query<{ name: string }>({ name: 'test_tables', text: list }, []);
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const text = `SELECT coalesce(string_agg(t::text, ' '), '') AS content FROM ${name} t`;
      return (await db.query<{ content: string }>({ name: `test_all_${name}`, text }, [])).rows[0]?.content ?? '';
    }),
  );
  return texts.join('\n');
}

/** The ways in which a text may stand in bytes that are printed as hexadecimal, or in text. */
function spellings(text: string): string[] {
  return [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64')];
}

test('registered, rotated, repeated, tested and redelivered: no secret is left in clear', async () => {
  const own = new WebhookCaller(place.url, { accountId: 'the operator', secret: place.operatorKey() });
  const fields = { headers: { Authorization: HEADER_SECRET }, idempotency_key: 'register once' };
  const made = await own.register(receiver.url('/hidden'), fields);
  const changed = await own.update(made.webhook_id, { secret: null, idempotency_key: 'change once' });
  const { delivery_id: deliveryId } = await own.test(made.webhook_id, { note: 'hello' });
  await own.redeliver(deliveryId);
  await own.fails('PATCH', `/v1/account/webhooks/update/${made.webhook_id}`, { secret: 'short secret' });
  const requests = await receiver.arrived('/hidden', 2);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([HEADER_SECRET, HEADER_SECRET]);
  const tables = await wholeDatabase();
  await process.end('SIGTERM');
  const logged = process.stdout() + process.stderr();
  expect(tables).toContain(made.webhook_id);
  expect(logged).toContain('"level"');
  for (const secret of [made.secret, changed.secret, HEADER_SECRET]) {
    const bare = secret.replace('whsec_', '');
    for (const text of [...spellings(secret), bare, Buffer.from(bare, 'base64').toString('hex')]) {
      expect(tables).not.toContain(text);
      expect(logged).not.toContain(text);
    }
  }
  expect(logged).not.toContain('short secret');
});
