// Processes and PostgreSQL are killed while some publish and others listen. Whoever resumes gets every message that was acknowledged once, and all
// listeners see one order.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { listen } from './harness.ts';

const random = randomOf(seed);
const CHANNELS = ['a', 'b', 'presence-c'];
const LAST = -1;
/** To each channel, so that messages flow whenever harm is done, however slow the machine. */
const PUBLISHED_A_HARM = 5;

interface Cluster {
  readonly secret: string;
  /** Null while it is killed. */
  readonly urls: (string | null)[];
}

/** Publishes numbers in order, each until it is acknowledged, at whichever process lives. */
async function publisher(
  { secret, urls }: Cluster,
  channel: string,
  isOver: (published: number) => boolean,
): Promise<string[]> {
  const ids: string[] = [];
  const publish = async (n: number) => {
    for (;;) {
      const url = urls[random(urls.length)];
      const reply = await send(url ?? null, secret, {
        channel,
        event: 'n',
        data: { n },
        idempotency_key: `${channel}-${n}`,
      });
      if (reply !== null) return void ids.push(reply);
      await sleep(20);
    }
  };
  let n = 0;
  for (; !isOver(ids.length); n += 1) await publish(n);
  await publish(LAST);
  return ids;
}

async function send(url: string | null, secret: string, body: object): Promise<string | null> {
  if (url === null) return null;
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  try {
    const reply = await fetch(`${url}/v1/realtime/publish`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await reply.json()) as { data?: { items: { message_id: string }[] } };
    return reply.status === 200 ? (answer.data?.items[0]?.message_id ?? null) : null;
  } catch {
    return null;
  }
}

interface Stages {
  readonly listens: PromiseWithResolvers<void>;
  readonly began: PromiseWithResolvers<void>;
}

/** Ids in the order in which they came, up to the last of each channel; comes again wherever somebody answers. `stages`: it listens, and has its first one. */
async function listener({ secret, urls }: Cluster, isSlow: boolean, { listens, began }: Stages): Promise<string[]> {
  const ids: string[] = [];
  let ended = 0;
  let after: string | undefined;
  while (ended < CHANNELS.length) {
    const url = urls[random(urls.length)];
    const stream = url == null ? null : await listen(url, `channels=${CHANNELS}`, secret, after).catch(() => null);
    if (stream === null || stream.status !== 200) {
      stream?.leave();
      await sleep(50);
      continue;
    }
    listens.resolve();
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      if (event.event === 'gap') throw new Error('the history ended');
      if (event.id === undefined) continue;
      after = event.id;
      ids.push(event.id);
      began.resolve();
      if (event.data.data.n === LAST) ended += 1;
      if (ended === CHANNELS.length) break;
      if (isSlow && random(20) === 0) await sleep(random(100));
      // Some leave by themselves.
      if (random(200) === 0) break;
    }
    stream.leave();
  }
  return ids;
}

/** `harm` is called again and again while messages flow. */
async function play(cluster: Cluster, times: number, harm: () => Promise<void>): Promise<void> {
  let isOver = false;
  // Whoever has seen nothing yet begins where it comes in: all are there before the first message.
  const stages = [0, 1, 2].map(() => ({
    listens: Promise.withResolvers<void>(),
    began: Promise.withResolvers<void>(),
  }));
  const listeners = stages.map((each, i) => listener(cluster, i === 2, each));
  await Promise.all(stages.map(({ listens }) => listens.promise));
  const publishers = CHANNELS.map((channel) =>
    publisher(cluster, channel, (count) => isOver && count > PUBLISHED_A_HARM * times),
  );
  await Promise.all(stages.map(({ began }) => began.promise));
  for (let n = 0; n < times; n += 1) {
    await sleep(200 + random(600));
    await harm();
  }
  await sleep(500);
  isOver = true;
  const published = await Promise.all(publishers);
  const seen = await Promise.all(listeners);
  const all = published.flat().sort();
  for (const ids of seen) expect(ids).toEqual(all);
  for (const ids of published) expect(ids).toEqual([...ids].sort());
}

describe.each([2, 4])('%i processes', (count) => {
  let database: TestDatabase;
  let db: Database;
  let places: Place[];
  const services: ServiceProcess[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
    const env = { DATABASE_URL: database.url, SECRETS_KEY };
    places = await Promise.all(Array.from({ length: count }, () => createPlace(env)));
    for (const place of places) services.push(await startProcess(place));
  }, 180_000);
  afterAll(async () => {
    await db.end();
    await Promise.all(places.map((place) => place.remove()));
    await database.drop();
  });

  test('a stream that is resumed misses and repeats nothing while processes are killed', async () => {
    const { secret } = await createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Services, 50);
    const cluster: Cluster = { secret, urls: services.map(({ url }) => url) };
    await play(cluster, rounds(6), async () => {
      const which = random(services.length);
      cluster.urls[which] = null;
      await services[which]?.end('SIGKILL');
      await sleep(random(300));
      services[which] = await startProcess(places[which] as Place);
      cluster.urls[which] = services[which].url;
    });
  }, 300_000);
});

describe('one process', () => {
  let place: Place;
  let service: ServiceProcess;
  beforeAll(async () => {
    place = await createPlace({ SECRETS_KEY });
    service = await startProcess(place);
  });
  afterAll(() => place.remove());

  test('a stream that is resumed misses and repeats nothing while PostgreSQL is killed', async () => {
    const cluster: Cluster = { secret: place.operatorKey(), urls: [service.url] };
    await play(cluster, rounds(5), async () => {
      process.kill(place.postgresPid() as number, 'SIGKILL');
      await sleep(1_000);
    });
  });
});
