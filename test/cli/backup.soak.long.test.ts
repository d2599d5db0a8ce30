// Backups of a service under load, some killed on their way: a place holds a whole backup or none, and a restored one has every message
// that was acknowledged before its end.
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { type Connection, readConnection, startEmbedded } from '../../src/db/embedded/index.ts';
import { newBooks, publish } from '../faults/load.ts';
import { temporaryDirectory } from '../support/prepared-data.ts';
import { createPlace, type Place, startProcess } from '../support/process.ts';
import { createQmHome, type QmHome } from '../support/qm.ts';
import { rounds } from '../support/soak.ts';

const PUBLISHERS = 8;
const QUEUE = 'jobs';
let place: Place;
let qm: QmHome;
let folder: string;

beforeAll(async () => {
  place = await createPlace();
  await startProcess(place);
  qm = createQmHome({ DATA_DIR: place.dataDir });
  folder = temporaryDirectory();
  const { code } = await qm.run(['credit', 'grant', '--account', await operatorAccount(), '--usd', '50']);
  expect(code).toBe(0);
  expect((await call('create', { name: QUEUE })).status).toBe(200);
});
afterAll(async () => {
  await qm?.remove();
  await place?.remove();
});

async function operatorAccount(): Promise<string> {
  const { stdout } = await qm.run(['accounts', 'list', '--json']);
  return JSON.parse(stdout).items[0].account_id;
}

function call(path: string, body: object): Promise<Response> {
  return fetch(`${place.url}/v1/queue/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${place.operatorKey()}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const server = () => readConnection(place.dataDir) as Connection;

async function isBefore(lsn: string, end: string): Promise<boolean> {
  const { rows } = await withClient(server(), (client) =>
    client.query('SELECT $1::pg_lsn <= $2::pg_lsn AS ok', [lsn, end]),
  );
  return rows[0].ok;
}

async function contentsIn(dataDir: string): Promise<Set<string>> {
  const postgres = await startEmbedded({ dataDir });
  try {
    const { rows } = await withClient(postgres.connection, (client) =>
      client.query("SELECT payload::jsonb->>'content' AS content FROM queue.message"),
    );
    return new Set(rows.map(({ content }) => content));
  } finally {
    await postgres.stop();
  }
}

test(`of ${rounds(20)} backups under load none is half, and each has what was acknowledged before its end`, async () => {
  const books = newBooks();
  const stop = new AbortController();
  const target = { url: place.url, key: place.operatorKey(), queue: QUEUE };
  const publishing = Array.from({ length: PUBLISHERS }, (_, i) => publish(target, books, `p${i}`, stop.signal));
  for (let round = 0; round < rounds(20); round++) {
    await expectWholeOrNone(join(folder, `killed-${round}`));
    const whole = join(folder, `whole-${round}`);
    const marks: { lsn: string; acknowledged: number }[] = [];
    const creating = qm.start(['backup', 'create', whole, '--json']);
    while (creating.child.exitCode === null) {
      const acknowledged = books.accepted.size;
      const { rows } = await withClient(server(), (client) =>
        client.query('SELECT pg_current_wal_insert_lsn() AS lsn'),
      );
      marks.push({ lsn: rows[0].lsn, acknowledged });
      await sleep(20);
    }
    const { code, stdout, stderr } = await creating.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const acknowledged = [...books.accepted.keys()];
    const verified = await qm.run(['backup', 'verify', whole, '--json']);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, findings: [], accounts: 1 });
    const restored = temporaryDirectory();
    expect(await qm.run(['backup', 'restore', whole], { DATA_DIR: restored })).toMatchObject({ code: 0, stderr: '' });
    const found = await contentsIn(restored);
    const { stop_lsn } = JSON.parse(stdout);
    let before = 0;
    for (const mark of marks) if (await isBefore(mark.lsn, stop_lsn)) before = mark.acknowledged;
    expect(before).toBeGreaterThan(marks[0]?.acknowledged ?? 0);
    expect(acknowledged.slice(0, before).filter((content) => !found.has(content))).toEqual([]);
  }
  stop.abort();
  await Promise.all(publishing);
  expect(books.surprises).toEqual([]);
}, 1_800_000);

/** Killed at any moment: there is a manifest and all is well, or there is none and the place is refused. */
async function expectWholeOrNone(at: string): Promise<void> {
  const creating = qm.start(['backup', 'create', at]);
  await sleep(randomInt(300, 2_500));
  creating.child.kill('SIGKILL');
  await creating.ended;
  const verified = await qm.run(['backup', 'verify', at]);
  const isWhole = existsSync(join(at, 'manifest.json'));
  if (isWhole) expect(verified).toMatchObject({ code: 0 });
  else expect(verified).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no finished backup') });
}
