// Orders of groups, walks through orders that change while captures arrive, and events between two instants.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, iso } from '../../src/lib/time.ts';
import { ErrorsBench, parameters } from './harness.ts';

let shared: ErrorsBench;
beforeAll(async () => {
  shared = await ErrorsBench.start();
});
afterAll(() => shared.service.stop());

/** The clock of the deployment, asked without the service. */
const clockMs = (bench: ErrorsBench) =>
  bench.number('SELECT floor(extract(epoch FROM core.clock_now()) * 1000)::float8 AS number');

/** One event for each letter, in this order, in the group of the letter. */
async function send(bench: ErrorsBench, letters: string): Promise<void> {
  for (const message of letters.replaceAll(' ', '')) await bench.capture({ message });
}

interface Group {
  readonly error_group_id: string;
  readonly title: string;
  readonly last_seen_at: string;
}
interface GroupPage {
  readonly groups: Group[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
  readonly total: number;
}

const lettersOf = (groups: readonly Group[]) => groups.map(({ title }) => title).join('');

/** The groups of all pages behind `page`; before each of them `between` runs. */
async function rest(bench: ErrorsBench, query: object, page: GroupPage, between?: () => Promise<unknown>) {
  const seen: Group[] = [];
  for (let last = page; last.next_cursor !== null; ) {
    await between?.();
    last = await bench.groups({ ...query, cursor: last.next_cursor });
    expect(last.has_more).toBe(last.next_cursor !== null);
    seen.push(...last.groups);
  }
  return seen;
}

describe('groups are sorted', () => {
  let bench: ErrorsBench;
  beforeAll(async () => {
    bench = await shared.withAccount();
    // First seen A B C D E, last seen C D A E B, counts A4 B2 C3 D5 E1: no order is another one, or another one backwards.
    await send(bench, 'ABCD CC DDDD AAA E B');
  });

  test.each([
    ['first_seen_desc', 'EDCBA'],
    ['last_seen_desc', 'BEADC'],
    ['count_desc', 'DACBE'],
  ])('by %s', async (sort, letters) => {
    const whole: GroupPage = await bench.groups({ sort });
    expect(lettersOf(whole.groups)).toBe(letters);
    expect(whole).toMatchObject({ next_cursor: null, has_more: false, total: 5 });
    for (const limit of [1, 2, 4]) {
      const first: GroupPage = await bench.groups({ sort, limit });
      expect(first.total).toBe(5);
      const seen = [...first.groups, ...(await rest(bench, { sort, limit }, first))];
      expect(lettersOf(seen), `${limit} a page`).toBe(letters);
    }
  });

  test('the latest first when no order is asked for', async () => {
    expect(lettersOf((await bench.groups()).groups)).toBe('BEADC');
    const first: GroupPage = await bench.groups({ limit: 2 });
    expect(lettersOf([...first.groups, ...(await rest(bench, { limit: 2 }, first))])).toBe('BEADC');
  });

  test('in every order those of one status too', async () => {
    const one = await shared.withAccount();
    await send(one, 'ABCDEF FF CC DDDD AAA E B');
    const { groups }: GroupPage = await one.groups();
    const idOf = (letter: string) => groups.find(({ title }) => title === letter)?.error_group_id as string;
    await one.change('resolve', idOf('F'));
    await one.change('resolve', idOf('A'));
    await one.change('ignore', idOf('D'));
    const sorted = async (query: object) => lettersOf((await one.groups({ ...query })).groups);
    expect(await sorted({ status: 'unresolved' })).toBe('BEC');
    expect(await sorted({ status: 'unresolved', sort: 'count_desc' })).toBe('CEB');
    expect(await sorted({ status: 'resolved' })).toBe('AF');
    expect(await sorted({ status: 'resolved', sort: 'first_seen_desc' })).toBe('FA');
    expect(await sorted({ status: 'ignored', sort: 'count_desc' })).toBe('D');
  });

  test('and those of equal counts come once each', async () => {
    const one = await shared.withAccount();
    await send(one, 'ABCDEF BDF');
    const sort = 'count_desc';
    const first: GroupPage = await one.groups({ sort, limit: 1 });
    const letters = lettersOf([...first.groups, ...(await rest(one, { sort, limit: 1 }, first))]);
    expect([...letters.slice(0, 3)].sort().join('')).toBe('BDF');
    expect([...letters.slice(3)].sort().join('')).toBe('ACE');
  });
});

describe('a walk while events arrive', () => {
  test('by count leaves out what got an event since its first page', async () => {
    const bench = await shared.withAccount();
    await send(bench, 'PPPPPPP QQQQQQ RRRRR SS T UUU V');
    const query = { sort: 'count_desc', limit: 2 };
    const first: GroupPage = await bench.groups(query);
    expect(lettersOf(first.groups)).toBe('PQ');
    // S climbs and stays below the page, N is new, Q was shown.
    await send(bench, 'S N Q');
    const second: GroupPage = await bench.groups({ ...query, limit: 1, cursor: first.next_cursor });
    expect(lettersOf(second.groups)).toBe('R');
    // What counts is the first page, not the one before.
    await send(bench, 'T');
    expect(lettersOf(await rest(bench, query, second))).toBe('UV');
    expect(lettersOf((await bench.groups({ sort: 'count_desc' })).groups.slice(0, 2))).toBe('QP');
    expect((await bench.groups({ sort: 'count_desc' })).groups).toHaveLength(8);
  });

  test('by last event does so too', async () => {
    const bench = await shared.withAccount();
    await send(bench, 'PQRSTUV QTPSURV');
    const query = { sort: 'last_seen_desc', limit: 2 };
    const first: GroupPage = await bench.groups(query);
    expect(lettersOf(first.groups)).toBe('VR');
    await send(bench, 'S N R');
    const second: GroupPage = await bench.groups({ ...query, limit: 1, cursor: first.next_cursor });
    expect(lettersOf(second.groups)).toBe('U');
    await send(bench, 'T');
    expect(lettersOf(await rest(bench, query, second))).toBe('PQ');
    expect(lettersOf((await bench.groups({})).groups)).toBe('TRNSVUPQ');
  });

  test('by first event misses nothing that was there', async () => {
    const bench = await shared.withAccount();
    await send(bench, 'PQRSTUV');
    const query = { sort: 'first_seen_desc', limit: 2 };
    const first: GroupPage = await bench.groups(query);
    expect(lettersOf(first.groups)).toBe('VU');
    expect(lettersOf(await rest(bench, query, first, () => send(bench, 'SNVPQ')))).toBe('TSRQP');
  });

  test.each(['count_desc', 'last_seen_desc'])(
    'by %s shows what is quiet, nothing twice, nothing touched since',
    async (sort) => {
      const bench = await shared.withAccount();
      const quiet = Array.from({ length: 24 }, (_, i) => `quiet ${i}`);
      const hot = Array.from({ length: 8 }, (_, i) => `hot ${i}`);
      const before = [...quiet, ...hot].flatMap((message, i) => new Array<string>(1 + (i % 4)).fill(message));
      await Promise.all(before.map((message) => bench.capture({ message })));
      const running = { on: true, sent: 0 };
      const sender = async () => {
        for (; running.on; running.sent += 1)
          await bench.capture({ message: running.sent % 3 === 0 ? `new ${running.sent}` : hot[running.sent % 8] });
      };
      const senders = Array.from({ length: 4 }, sender);
      const more = (count: number) => {
        const sent = running.sent + count;
        return vi.waitUntil(() => running.sent > sent, { interval: 1, timeout: 50_000 });
      };
      try {
        await more(10);
        const first: GroupPage = await bench.groups({ sort, limit: 4 });
        const nowMs = await clockMs(shared);
        await more(10);
        const later = await rest(bench, { sort, limit: 4 }, first, () => more(5));
        const titles = [...first.groups, ...later].map(({ title }) => title);
        expect(new Set(titles).size).toBe(titles.length);
        expect(quiet.filter((title) => !titles.includes(title))).toEqual([]);
        expect(later.filter(({ last_seen_at: at }) => Date.parse(at) > nowMs)).toEqual([]);
      } finally {
        running.on = false;
        await Promise.all(senders);
      }
    },
  );
});

describe('events between two instants', () => {
  let bench: ErrorsBench;
  const about = { level: 'fatal', environment: 'staging', release: '1', user_id: 'a', tags: { region: 'eu' } };
  const ids: string[] = [];
  let groupId: string;
  /** By name: what the rows below speak of. */
  const bounds = new Map<string, string>();

  async function add(name: string, fields: object): Promise<void> {
    // The one before was received in another millisecond.
    const last = Date.parse(bounds.get(`event ${ids.length - 1}`) ?? iso(0));
    await vi.waitUntil(async () => (await clockMs(bench)) > last, { interval: 1 });
    const { event_id: id, error_group_id } = await bench.capture({ message: `${name} failed`, ...fields });
    if (name === 'disk') groupId = error_group_id;
    bounds.set(`event ${ids.length}`, (await bench.get(id)).received_at);
    ids.push(id);
  }

  beforeAll(async () => {
    // A service of its own, whose clock was not moved yet: the first two events are in the past of every clock there is.
    bench = await ErrorsBench.start();
    await add('disk', about);
    await add('net', {});
    // Tomorrow at ten past 22 and 23, and at ten past 0: far from the ends of the hours, and on both sides of midnight.
    const nowMs = await clockMs(bench);
    const midnight = (Math.floor(nowMs / DAY_MS) + 2) * DAY_MS;
    await bench.service.advance(Math.floor((midnight - 2 * HOUR_MS - nowMs) / 1_000) + 600);
    await add('disk', about);
    await add('net', {});
    await bench.service.advance(3600);
    await add('net', about);
    await bench.service.advance(3600);
    await add('disk', {});
    await add('disk', about);
    const hours = { 'at 22': -2, 'at 23': -1, midnight: 0, 'at 1': 1 };
    for (const [name, hour] of Object.entries(hours)) bounds.set(name, iso(midnight + hour * HOUR_MS));
    bounds.set('long ago', '2024-03-01T00:00:00Z');
    bounds.set('midnight as -00:00', `${iso(midnight).slice(0, 19)}-00:00`);
    bounds.set('midnight in Tokyo time', `${iso(midnight + 9 * HOUR_MS).slice(0, 19)}+09:00`);
    for (const i of [1, 4])
      bounds.set(`just after event ${i}`, iso(Date.parse(bounds.get(`event ${i}`) as string) + 1));
  });
  afterAll(() => bench.service.stop());

  const filterOf = (from: string | null, to: string | null) => ({
    ...(from === null ? {} : { from: bounds.get(from) }),
    ...(to === null ? {} : { to: bounds.get(to) }),
  });
  const shown = ({ items, total }: { items: { event_id: string }[]; total: number }) => ({
    found: items.map(({ event_id }) => ids.indexOf(event_id)),
    total,
  });
  const found = (numbers: readonly number[]) => ({ found: numbers, total: numbers.length });

  test.each([
    ['long ago', null, [6, 5, 4, 3, 2, 1, 0]],
    ['at 22', null, [6, 5, 4, 3, 2]],
    ['at 23', null, [6, 5, 4]],
    ['midnight', null, [6, 5]],
    ['midnight as -00:00', null, [6, 5]],
    ['midnight in Tokyo time', null, [6, 5]],
    ['at 1', null, []],
    [null, 'long ago', []],
    [null, 'at 22', [1, 0]],
    [null, 'at 23', [3, 2, 1, 0]],
    [null, 'midnight', [4, 3, 2, 1, 0]],
    [null, 'at 1', [6, 5, 4, 3, 2, 1, 0]],
    ['at 22', 'at 23', [3, 2]],
    ['at 23', 'midnight', [4]],
    ['midnight', 'at 22', []],
    // The first instant is in, the last one is not.
    ['event 1', null, [6, 5, 4, 3, 2, 1]],
    ['just after event 1', null, [6, 5, 4, 3, 2]],
    [null, 'event 1', [0]],
    [null, 'just after event 1', [1, 0]],
    ['event 4', 'just after event 4', [4]],
    ['event 4', 'event 4', []],
  ] as const)('from %s to %s', async (from, to, numbers) => {
    const filter = filterOf(from, to);
    expect(shown(await bench.list({ filter }))).toEqual(found(numbers));
    const members = Object.entries(filter).map(([name, value]) => [`filter[${name}]`, value]);
    expect(shown(await bench.list(Object.fromEntries(members)))).toEqual(found(numbers));
    expect(shown(await bench.search('failed', { filter }))).toEqual(found(numbers));
    const ofDisk = numbers.filter((i) => [0, 2, 5, 6].includes(i));
    expect(shown(await bench.search('disk', { filter }))).toEqual(found(ofDisk));
    expect(shown(await bench.list({ filter: { ...filter, error_group_id: groupId } }))).toEqual(found(ofDisk));
  });

  test.each(['level', 'environment', 'release', 'user_id', 'tags.region'])('and of one %s', async (name) => {
    const values = { level: 'fatal', environment: 'staging', release: '1', user_id: 'a', 'tags.region': 'eu' };
    const one = { [name]: values[name as 'level'] };
    expect(shown(await bench.list({ filter: one }))).toEqual(found([6, 4, 2, 0]));
    for (const [from, to, numbers] of [
      ['at 22', null, [6, 4, 2]],
      [null, 'midnight', [4, 2, 0]],
      ['at 23', 'midnight', [4]],
    ] as const) {
      const filter = { ...filterOf(from, to), ...one };
      expect(shown(await bench.list({ filter }))).toEqual(found(numbers));
      expect(shown(await bench.search('failed', { filter }))).toEqual(found(numbers));
    }
  });

  test.each([
    ['list', {}],
    ['search', { q: 'failed' }],
  ])('page by page, by %s', async (path, query) => {
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const filter = filterOf('event 1', 'midnight');
      const sent = parameters({ ...query, limit: 1, filter, ...(cursor === '' ? {} : { cursor }) });
      const page = await bench.ok('GET', `/v1/errors/${path}?${sent}`);
      expect(page.total).toBe(4);
      seen.push(...shown(page).found);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual([4, 3, 2, 1]);
  });
});
