// Every kind of planted secret, by every entry, to a service in a process of its own: nothing of it is in the database, in the log,
// in what webhooks are sent or in any answer. And what only looks like a secret is answered down to the last character.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY, type TestService } from '../support/service.ts';
import { type Receiver, startEngine, startReceiver } from '../webhooks/engine-harness.ts';
import { dump } from './dump.ts';
import { ErrorsBench } from './harness.ts';
import { byLook, byName, byPrefix, byText, type Data, everywhere, leaksIn, lookAlikes, sdkEvent } from './planted.ts';
import { eventId, SentryBench } from './sentry-harness.ts';

type Fields = Record<string, unknown>;
type Entry = (typeof entries)[number];

interface Sent {
  readonly name: string;
  readonly event: Fields;
  readonly secrets: readonly string[];
  /** Stands in the tags and, but for messages, the context of the event, and nowhere else. */
  readonly marker: string;
  readonly entry: Entry;
}

const entries = ['capture', 'message', 'sentry'] as const;
/** A text that came twice is known from then on; a look at known texts takes another way. */
const COPIES = 4;
/** Longer than what is read where it arrives: such a body goes to a thread. */
const PADDING = 'word '.repeat(14_000);
const ANOMALY_EVENTS = 60;
const SENT_AT_ONCE = 8;

/** Hidden by the place where they stand; as text they are lists and names like any other. */
const ONLY_IN_PLACE =
  /^(header pairs|raw headers|header records|private JWK|command line|a name in another script)$|^e-mail|^IPv/;

const kinds = [...byName, ...byText, ...byLook, ...byPrefix].map(([name, event, secrets]) => ({
  name,
  event,
  secrets: [secrets].flat(),
}));
const everySecret = [...new Set(kinds.flatMap(({ secrets }) => secrets))];
const planted: Sent[] = entries.flatMap((entry) =>
  kinds
    .map((kind, i) => ({ ...kind, entry, marker: `walnut${i}${entry}` }))
    .filter(({ name }) => entry !== 'message' || !ONLY_IN_PLACE.test(name)),
);
const harmless: Sent[] = entries.flatMap((entry) =>
  lookAlikes.map((text, i) => ({
    name: text,
    event: everywhere(text),
    secrets: [],
    entry,
    marker: `hazel${i}${entry}`,
  })),
);

let receiver: Receiver;
let running: ServiceProcess;
let bench: SentryBench;
/** In the process of the tests, with a log that says nothing: for calls that name secrets. */
let quiet: TestService;
/** Full records by their marker. */
const records = new Map<string, Data[]>();
let answers = '';
let database = '';

beforeAll(async () => {
  // What a receiver answers is stored with the delivery: it answers with what it was sent.
  receiver = await startReceiver(({ body }, res) => res.writeHead(200).end(body));
  // All background work is left to the process whose log is read.
  quiet = await startEngine({ env: { ROLES: 'web,render' } });
  const env = { DATABASE_URL: quiet.database.url, SECRETS_KEY, TEST_CLOCK: 'on', LOG_LEVEL: 'trace' };
  running = await startProcess(await createPlace({ ...env, ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }));
  const account = { accountId: '', keyId: '', secret: '' };
  bench = await SentryBench.of(new ErrorsBench({ ...quiet, url: running.url }, account));
  const events = ['error.captured', 'error.rate_anomaly'];
  await bench.ok('POST', '/v1/account/webhooks/register', { url: `${receiver.url}/hook`, events });
  await inParallel([...planted, ...harmless], send);
  await sendAnomaly();
  await vi.waitFor(() => expect(missing(delivered('error.captured'))).toEqual([]), { timeout: 60_000, interval: 100 });
  await vi.waitFor(() => expect(delivered('error.rate_anomaly')).toContain('anomaly'), { timeout: 50_000 });
  await readAnswers();
  await sendRefused();
  await running.end('SIGTERM');
  database = await dump(bench.service.core);
}, 240_000);
afterAll(async () => {
  await running.place.remove();
  await quiet.stop();
  await receiver.close();
});

async function inParallel<T>(list: readonly T[], work: (each: T) => Promise<unknown>): Promise<void> {
  const left = list.values();
  await Promise.all(
    Array.from({ length: SENT_AT_ONCE }, async () => {
      for (const each of left) await work(each);
    }),
  );
}

/** The copies go one after the other, so that the later ones meet what the earlier ones taught. */
async function send(sent: Sent): Promise<void> {
  const bodies = sent.entry === 'capture' ? captures(sent) : sent.entry === 'message' ? messages(sent) : [];
  for (const body of bodies) await bench.ok('POST', `/v1/errors/${sent.entry}`, body);
  if (sent.entry !== 'sentry') return;
  for (const id of [eventId(), eventId()]) {
    const reply = await bench.sendEvent({ ...sdkEvent(sent.event, sent.marker), event_id: id });
    expect(reply.status, reply.text).toBe(200);
  }
}

/** The same JSON as it is, laid out, with every character of every text escaped, and long. */
function captures({ event, marker }: Sent): string[] {
  const { tags, context, extra } = event as Data;
  const body = {
    ...event,
    fingerprint: marker,
    tags: { ...tags, marker },
    context: { ...context, place: marker },
  };
  const json = JSON.stringify(body);
  const escaped = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => `"${escapes(JSON.parse(text))}"`);
  const long = JSON.stringify({ ...body, extra: { ...extra, padding: PADDING } });
  return [...Array<string>(COPIES).fill(json), JSON.stringify(body, null, 2), escaped, long];
}

const escapes = (text: string) =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

function messages({ event, name, secrets, marker }: Sent): Fields[] {
  const isNamed = byName.some(([named]) => named === name);
  const own = typeof event.message === 'string' ? event.message : isNamed ? '' : textsOf(event).join('\n');
  const text = secrets.every((secret) => own.includes(secret)) && own !== '' ? own : JSON.stringify(event);
  const short = { text: `seen by ${marker}\n${text}`, tags: { marker } };
  return [...Array<Fields>(COPIES).fill(short), { ...short, text: `seen by ${marker}\n${PADDING}\n${text}` }];
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : [];
}

/** So many events of one group that it is told, with a secret in everything that is told of an event. */
async function sendAnomaly(): Promise<void> {
  const event = {
    title: 'password=swordfish',
    message: '{"client_secret":"sword fish"} of postgres://bob:swordfish@db/x',
    release: 'v1?token=opaque-1',
    tags: { access_token: 'opaque-4', marker: 'anomaly' },
    fingerprint: 'anomaly',
  };
  await inParallel(Array(ANOMALY_EVENTS).fill(event), (each) => bench.capture(each));
}

/** Calls that succeed are not logged: each event once as no JSON, once with a wrong field, and once to a database that fails. */
async function sendRefused(): Promise<void> {
  const wrong = planted.filter(({ entry }) => entry === 'capture');
  const post = async (body: unknown) => (await bench.call('POST', '/v1/errors/capture', body)).status;
  await inParallel(wrong, async ({ event }) => {
    expect([await post(JSON.stringify(event).slice(0, -1)), await post({ ...event, level: 'loud' })]).toEqual([
      400, 400,
    ]);
  });
  // PostgreSQL's own words for it hold the whole row.
  await quiet.core.db.query(
    { name: '', text: 'ALTER TABLE errors.event ADD CONSTRAINT refuse CHECK (tags IS NULL) NOT VALID' },
    [],
  );
  await inParallel(wrong, async (sent) => {
    const reply = await bench.sendEvent(sdkEvent(sent.event, sent.marker));
    expect([await post(captures(sent)[0]), reply.status]).toEqual([500, 500]);
  });
}

/** Markers of the events that came by webhooks of this type. */
const delivered = (type: string) =>
  receiver.seen
    .map(({ body }) => JSON.parse(body))
    .filter((told) => told.type === type)
    .map((told) => told.data.object.tags.marker);

const missing = (markers: Iterable<string>) => {
  const there = new Set(markers);
  return [...planted, ...harmless].map(({ marker }) => marker).filter((marker) => !there.has(marker));
};

/** Everything that get, list, search, groups and group_detail say. */
async function readAnswers(): Promise<void> {
  const texts: string[] = [];
  const pages = async (path: string, query: Fields) => {
    const items: Data[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const params = new URLSearchParams({ ...query, limit: '100', ...(cursor === '' ? {} : { cursor }) });
      const data = await bench.ok('GET', `/v1/errors/${path}?${params}`);
      texts.push(JSON.stringify(data));
      items.push(...(data.items ?? data.groups));
      cursor = data.next_cursor;
    }
    return items;
  };
  const listed = await pages('list', {});
  await pages('search', { q: 'scrubbed' });
  await inParallel(listed, async ({ event_id }) => {
    const record = await bench.get(event_id);
    texts.push(JSON.stringify(record));
    records.set(record.tags.marker, [...(records.get(record.tags.marker) ?? []), record]);
  });
  const groups = await pages('groups', {});
  await inParallel(groups, async ({ error_group_id: id }) => {
    texts.push(JSON.stringify(await bench.detail(id)));
  });
  answers = texts.join('\n');
}

/** All that callers sent of an event; ids and times are left out. */
const contentOf = ({ title, message, release, tags, user_id, ...record }: Data) => {
  const { exception, breadcrumbs, context, extra, request, user, sdk, runtime } = record;
  return JSON.stringify([
    ...[title, message, release, tags, user_id],
    ...[exception, breadcrumbs, context, extra, request, user, sdk, runtime],
  ]);
};

/** Bytes as the characters that they are, and without what is of no interest but long; so it is searched in seconds. */
const searchable = (text: string) =>
  text
    .replaceAll('word ', '')
    .replaceAll(/\\x([0-9a-f]{2,})/g, (_, hex) => Buffer.from(hex, 'hex').toString('latin1'))
    .replaceAll(/[^\0-\xff]/g, '?');

const recordsOf = ({ marker }: Sent) => records.get(marker) ?? [];

test('every event is stored each time it was sent, and says that something was hidden', async () => {
  expect(kinds.length).toBeGreaterThan(100);
  const times = { capture: COPIES + 3, message: COPIES + 1, sentry: 2 };
  const wrong = [...planted, ...harmless].filter((sent) => recordsOf(sent).length !== times[sent.entry]);
  expect(wrong.map(({ name, entry }) => [name, entry])).toEqual([]);
  // errors.capture takes no chains: only SDKs send them.
  const kept = planted.filter(({ name, entry }) => entry !== 'capture' || name !== 'in a chain of exceptions');
  const untouched = kept.filter((sent) => recordsOf(sent).some((each) => !contentOf(each).includes('[scrubbed]')));
  expect(untouched.map(({ name, entry }) => [name, entry])).toEqual([]);
});

test('no record of an event holds its secrets', () => {
  const leaks = planted.flatMap((sent) =>
    recordsOf(sent).flatMap((record) =>
      leaksIn(contentOf(record), sent.secrets).map((leak) => [sent.entry, sent.name, leak]),
    ),
  );
  expect(leaks).toEqual([]);
});

test('nothing of a secret is in the database, the log, the webhooks or an answer, where the events themselves are', {
  timeout: 120_000,
}, () => {
  const log = running.stdout() + running.stderr();
  const webhooks = receiver.seen.map(({ body, headers }) => body + JSON.stringify(headers)).join('\n');
  const events = [...planted, ...harmless];
  for (const [place, text] of Object.entries({ database, webhooks, answers })) {
    expect([place, events.filter(({ marker }) => !text.includes(marker))]).toEqual([place, []]);
  }
  // The part that only the full record shows was looked at as well.
  expect(
    events.filter(({ marker, entry }) => entry !== 'message' && !database.includes(`"place":"${marker}"`)),
  ).toEqual([]);
  for (const name of ['capture', 'sentry']) {
    expect(log.split(`"capability":"errors.${name}"`).length).toBeGreaterThan(kinds.length);
  }
  for (const [place, whole] of Object.entries({ database, log, webhooks, answers })) {
    expect([place, leaksIn(searchable(whole), everySecret)]).toEqual([place, []]);
  }
});

test('nobody finds an event by a secret', async () => {
  const words = everySecret.filter((secret) => /^\w{6,}$/.test(secret));
  expect(words.length).toBeGreaterThan(20);
  const own = new ErrorsBench(quiet, bench.account);
  const found: string[] = [];
  await inParallel(words, async (word) => {
    if ((await own.search(word)).total > 0) found.push(word);
  });
  expect(found).toEqual([]);
  expect((await own.search('scrubbed')).total).toBeGreaterThan(kinds.length * COPIES);
});

test('what only looks like a secret is answered as it was sent', () => {
  for (const sent of harmless) {
    const { title, ...event } = everywhere(sent.name);
    const asSent = sent.entry === 'sentry' ? event : { title, ...event };
    for (const record of recordsOf(sent)) {
      if (sent.entry === 'message') expect(record.message.endsWith(`\n${sent.name}`), sent.name).toBe(true);
      else expect(record).toMatchObject(asSent);
    }
  }
});
