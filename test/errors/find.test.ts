// Lists, filters, search: what is found, how many there are, in which order.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ErrorsBench as Bench, ErrorsBench } from './harness.ts';

let shared: Bench;
let bench: Bench;
const ids = new Map<string, string>();

beforeAll(async () => {
  shared = await ErrorsBench.start();
  bench = await shared.withAccount();
  const events = [
    {
      message: 'Payment timed out',
      environment: 'production',
      level: 'error',
      release: '1',
      user_id: 'a',
      tags: { region: 'eu', 'a.b': 'c' },
    },
    {
      message: 'Payment timed out',
      environment: 'staging',
      level: 'error',
      release: '2',
      user_id: 'b',
      tags: { region: 'us' },
    },
    { message: 'disk full', environment: 'production', level: 'fatal', tags: { region: 'eu' } },
    { title: 'Größe', exception: { type: 'RangeError', value: 'user_id out of bounds: 42' }, level: 'warning' },
    { message: "can't connect to db.example.org:5432" },
  ];
  for (const [i, event] of events.entries()) {
    const result = await bench.capture(event);
    ids.set(String(i), result.event_id);
    ids.set(`group ${i}`, result.error_group_id);
  }
  await bench.change('resolve', ids.get('group 2') as string);
  await bench.change('ignore', ids.get('group 3') as string);
});
afterAll(() => shared.service.stop());

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
function shown({ items, total }: any): { found: number[]; total: number } {
  const numbers = new Map([...ids].map(([name, id]) => [id, Number(name)]));
  return { found: items.map(({ event_id }: { event_id: string }) => numbers.get(event_id)), total };
}
const found = (...numbers: number[]) => ({ found: numbers, total: numbers.length });

describe('a filter', () => {
  test.each([
    [{}, [4, 3, 2, 1, 0]],
    [{ environment: 'production' }, [2, 0]],
    [{ environment: 'development' }, []],
    [{ level: 'error' }, [4, 1, 0]],
    [{ level: 'error', environment: 'staging' }, [1]],
    [{ release: '2' }, [1]],
    [{ user_id: 'a' }, [0]],
    [{ 'tags.region': 'eu' }, [2, 0]],
    [{ 'tags.region': 'eu', level: 'fatal' }, [2]],
    [{ 'tags.a.b': 'c' }, [0]],
    [{ 'tags.region': 'EU' }, []],
    [{ is_resolved: true }, [2]],
    [{ is_resolved: false, is_ignored: false }, [4, 1, 0]],
    [{ is_ignored: true }, [3]],
    [{ is_resolved: true, level: 'fatal' }, [2]],
    [{ is_resolved: true, level: 'error' }, []],
    [{ from: '2020-01-01T00:00:00Z', to: '2199-01-01T00:00:00+02:00' }, [4, 3, 2, 1, 0]],
    [{ to: '2020-01-01T00:00:00Z' }, []],
    [{ from: '2199-01-01T00:00:00Z' }, []],
  ])('%j', async (filter, numbers) => {
    expect(shown(await bench.list({ filter }))).toEqual(found(...numbers));
    const members = Object.entries(filter).map(([name, value]) => [`filter[${name}]`, String(value)]);
    expect(shown(await bench.list(Object.fromEntries(members)))).toEqual(found(...numbers));
    const conditions = Object.entries(filter).map(([field, value]) => ({ field, operator: 'equals', value }));
    expect(shown(await bench.list({ filter: conditions }))).toEqual(found(...numbers));
  });

  test('by group, with any other', async () => {
    const error_group_id = ids.get('group 0');
    expect(shown(await bench.list({ filter: { error_group_id } }))).toEqual(found(1, 0));
    expect(shown(await bench.list({ filter: { error_group_id, release: '1' } }))).toEqual(found(0));
    expect(shown(await bench.list({ filter: { error_group_id, environment: 'staging' } }))).toEqual(found(1));
    expect(shown(await bench.list({ filter: { error_group_id, is_resolved: true } }))).toEqual(found());
    expect(shown(await bench.search('timed', { filter: { error_group_id, user_id: 'b' } }))).toEqual(found(1));
    for (const other of ['errgrp_1111111111111111111111', 'nonsense', ids.get('0') as string])
      expect(shown(await bench.list({ filter: { error_group_id: other } }))).toEqual(found());
  });

  const tagsOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`tags.t${i}`, 'x']));

  test('16 tags may be asked for at once', async () => {
    expect(shown(await bench.list({ filter: tagsOf(16) }))).toEqual(found());
  });

  test.each([
    ['an unknown name', { surprise: 'x' }, 'UNSUPPORTED_FILTER', 'filter.surprise'],
    ['tags without a name', { 'tags.': 'x' }, 'UNSUPPORTED_FILTER', 'filter.tags.'],
    ['tags as an object', { tags: { a: 'b' } }, 'UNSUPPORTED_FILTER', 'filter.tags'],
    ['another environment', { environment: 'prod' }, 'VALIDATION_FAILED', 'filter.environment'],
    ['a number as tag', { 'tags.a': 1 }, 'VALIDATION_FAILED', 'filter.tags.a'],
    ['a status that is none', { is_resolved: 'yes' }, 'VALIDATION_FAILED', 'filter.is_resolved'],
    ['no date', { from: 'yesterday' }, 'VALIDATION_FAILED', 'filter.from'],
    ['no object', 'level=error', 'VALIDATION_FAILED', 'filter'],
    [
      'an operator that is none',
      [{ field: 'level', operator: 'gt', value: 'error' }],
      'VALIDATION_FAILED',
      'filter[0].operator',
    ],
    ['a condition on an unknown name', [{ field: 'surprise', value: 'x' }], 'UNSUPPORTED_FILTER', 'filter.surprise'],
    [
      'a condition with another environment',
      [{ field: 'environment', value: 'prod' }],
      'VALIDATION_FAILED',
      'filter.environment',
    ],
    ['many tags', tagsOf(17), 'VALIDATION_FAILED', 'filter'],
  ])('%s is refused', async (_, filter, code, param) => {
    const query = new URLSearchParams({ filter: typeof filter === 'string' ? filter : JSON.stringify(filter) });
    expect(await bench.fails('GET', `/v1/errors/list?${query}`)).toMatchObject({ code, param });
  });
});

describe('a search', () => {
  test.each([
    ['payment', [1, 0]],
    ['PAYMENT timed', [1, 0]],
    ['timed payment out', [1, 0]],
    ['payment disk', []],
    ['pay', [1, 0]],
    ['pay timed', []],
    ['rangeerror', [3]],
    ['größe', [3]],
    ['gro\u0308ße 42', [3]],
    ['user_id', [3]],
    ['example', [4]],
    ['db.example.org:5432', [4]],
    ["can't", [4]],
    ['payment & timed | (', [1, 0]],
    ["'; DROP TABLE errors.event; --", []],
    ['!!! ***', []],
    ['=level', []],
    ['\\', []],
    ['%', []],
    ['x'.repeat(1000), []],
    [
      Array.from({ length: 400 }, (_, i) => i)
        .join(' ')
        .slice(0, 1000),
      [],
    ],
  ])('for %j', async (q, numbers) => {
    expect(shown(await bench.search(q))).toEqual(found(...numbers));
  });

  test('with a filter', async () => {
    expect(shown(await bench.search('payment', { filter: { environment: 'staging' } }))).toEqual(found(1));
  });

  test('q is required', async () => {
    for (const path of ['/v1/errors/search', '/v1/errors/search?q='])
      expect(await bench.fails('GET', path)).toMatchObject({ code: 'VALIDATION_FAILED', param: 'q' });
  });
});

describe('pages', () => {
  test('the events of a group know their neighbours across pages', async () => {
    const one = await shared.withAccount();
    const sent: string[] = [];
    for (let i = 0; i < 5; i += 1) sent.push((await one.capture({ message: 'm' })).event_id);
    const { error_group_id: id } = await one.get(sent[0] as string);
    const seen = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { items: { event_id: string }[]; next_cursor: string | null; total: number } = await one.events(id, {
        limit: 2,
        ...(cursor === '' ? {} : { cursor }),
      });
      expect(page.total).toBe(5);
      seen.push(...page.items);
      cursor = page.next_cursor;
    }
    const newest = [...sent].reverse();
    expect(seen.map(({ event_id }) => event_id)).toEqual(newest);
    expect(seen).toMatchObject(
      newest.map((_, i) => ({ previous_event_id: newest[i + 1] ?? null, next_event_id: newest[i - 1] ?? null })),
    );
    expect(await one.get(newest[2] as string)).toMatchObject({
      previous_event_id: newest[3],
      next_event_id: newest[1],
    });
  });

  test('a cursor is good for its own list only', async () => {
    const { next_cursor: cursor } = await bench.list({ limit: 1, filter: { level: 'error' } });
    expect((await bench.list({ limit: 1, filter: { level: 'error' }, cursor })).items).toHaveLength(1);
    for (const path of [
      'list',
      'list?filter[level]=fatal',
      'search?q=payment',
      'groups',
      `events/${ids.get('group 0')}`,
    ]) {
      const error = await bench.fails('GET', `/v1/errors/${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
      expect(error, path).toMatchObject({ code: 'INVALID_CURSOR', param: 'cursor' });
    }
  });

  test('a filter that is written wrongly is refused', async () => {
    for (const query of ['filter[level][a]=b', 'filter[]=x', 'filter[level=error']) {
      const error = await bench.fails('GET', `/v1/errors/list?${query}`);
      expect(error, query).toMatchObject({ code: 'VALIDATION_FAILED', param: 'filter' });
    }
  });

  test('groups by status and in every order', async () => {
    const titles = async (query: object) =>
      (await bench.groups({ ...query })).groups.map(({ title }: { title: string }) => title.split(' ')[0]);
    expect(await titles({ sort: 'first_seen_desc' })).toEqual(["can't", 'Größe', 'disk', 'Payment']);
    expect(await titles({})).toEqual(["can't", 'Größe', 'disk', 'Payment']);
    expect((await titles({ sort: 'count_desc' }))[0]).toBe('Payment');
    expect(await titles({ status: 'resolved' })).toEqual(['disk']);
    expect(await titles({ status: 'ignored' })).toEqual(['Größe']);
    expect(await titles({ status: 'unresolved' })).toEqual(["can't", 'Payment']);
    expect((await bench.groups({ status: 'unresolved', limit: 1 })).total).toBe(2);
  });
});
