// Two processes that take logs, samples and events of one account are killed again and again, while records come in and blocks are merged and
// moved. Every record that was acknowledged is there once, none is there that no call sent, and the charge is that of what is there.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { type Pair, startPair } from './pair.ts';

const KILLS = rounds(8);
const WORKERS = 4;
const random = randomOf(seed);

let pair: Pair;
let secret = '';
const processes: ServiceProcess[] = [];
let isOver = false;
beforeAll(async () => {
  pair = await startPair();
  ({ secret } = await pair.account(100));
  processes.push(...pair.services);
});
afterAll(() => pair.stop());

let made = 0;
const startMs = Date.now();

/** One call of each kind: how its records are sent, and what of the account is found at the end. */
interface Kind {
  readonly path: string;
  body(ids: readonly number[], timesMs: readonly number[]): object;
}
const text = (id: number) => `record ${id} of ${seed}`;
const at = (ms: number | undefined) => new Date(ms as number).toISOString();
const kinds = {
  logs: {
    path: '/v1/logs/ingest',
    body: (ids, timesMs) => ({
      items: ids.map((id, i) => ({ timestamp: at(timesMs[i]), level: 'info', service: 'kill', message: text(id) })),
    }),
  },
  metrics: {
    path: '/v1/metrics/ingest',
    body: (ids, timesMs) => ({
      items: ids.map((id, i) => ({
        name: 'kill_records',
        type: 'gauge',
        value: id,
        labels: { id: String(id % 50) },
        timestamp: at(timesMs[i]),
      })),
    }),
  },
  analytics: {
    path: '/v1/analytics/capture',
    body: (ids, timesMs) => ({
      items: ids.map((id, i) => ({
        event: 'killed',
        distinct_id: `p${id % 7}`,
        properties: { id },
        timestamp: at(timesMs[i]),
      })),
    }),
  },
} satisfies Record<string, Kind>;
type KindName = keyof typeof kinds;
const names = (Object.keys(kinds) as KindName[]).filter((name) => modules.some((module) => module.name === name));
const sent: Record<KindName, number[]> = { logs: [], metrics: [], analytics: [] };

/** Sent again under its key until it is answered: what broke off is done once. */
async function send(name: KindName): Promise<void> {
  const ids = Array.from({ length: 1 + random(40) }, () => {
    made += 1;
    return made;
  });
  // Some are late, by up to three days. Each record has a millisecond of its own.
  const times = ids.map((id) => startMs - id * 2 - random(4) * 24 * HOUR_MS);
  const body = JSON.stringify(kinds[name].body(ids, times));
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'idempotency-key': `k${ids[0]}`,
  };
  for (;;) {
    const { url } = processes[random(2)] as ServiceProcess;
    const reply = await fetch(url + kinds[name].path, { method: 'POST', headers, body }).catch(() => null);
    const told = await reply?.text().catch(() => null);
    if (reply?.status === 200 && told !== null && told !== undefined) break;
    if (reply !== null && reply.status < 500 && reply.status !== 409 && reply.status !== 429)
      throw new Error(`${reply.status}: ${told}`);
    await sleep(50);
  }
  sent[name].push(...ids);
}

async function work(): Promise<void> {
  while (!isOver) await send(names[random(names.length)] as KindName);
}

async function read(path: string, body?: object) {
  const [call] = pair.callers(secret);
  const { status, body: answer } = await call(body === undefined ? 'GET' : 'POST', path, body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer.data;
}

async function pages(path: string): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await read(`${path}&limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

const found: Record<KindName, () => Promise<number[]>> = {
  logs: async () => {
    const records = (await pages(`/v1/logs/search?service=kill&from=${at(startMs - 100 * HOUR_MS)}`)) as {
      message: string;
    }[];
    return records.map(({ message }) => Number(message.split(' ')[1]));
  },
  metrics: async () => {
    // The raw samples of each series, as a range selector tells them.
    const query = encodeURIComponent('kill_records[5d]');
    const headers = { authorization: `Bearer ${secret}` };
    const reply = await fetch(`${processes[0]?.url}/v1/metrics/prometheus/api/v1/query?query=${query}`, { headers });
    const { data } = (await reply.json()) as { data: { result: { values: [number, string][] }[] } };
    return data.result.flatMap(({ values }) => values.map(([, value]) => Number(value)));
  },
  analytics: async () => {
    const events = (await pages(`/v1/analytics/events?event=killed&from=${at(startMs - 100 * HOUR_MS)}`)) as {
      properties: { id: number };
    }[];
    return events.map(({ properties }) => properties.id);
  },
};

test(`no record is lost, doubled or charged twice (seed ${seed})`, async () => {
  const workers = Promise.all(Array.from({ length: WORKERS }, work));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(1_000 + random(3_000));
    const which = random(2);
    const process = processes[which] as ServiceProcess;
    await process.end('SIGKILL');
    processes[which] = await startProcess(process.place);
  }
  isOver = true;
  await workers;
  for (const name of names) {
    const numbers = (await found[name]()).sort((a, b) => a - b);
    expect(numbers, name).toEqual(sent[name].sort((a, b) => a - b));
  }
  const { findings } = await examine({ db: pair.db, secrets: new Secrets(SECRETS_KEY), modules });
  expect(findings).toEqual([]);
}, 600_000);
