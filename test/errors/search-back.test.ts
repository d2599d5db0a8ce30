// Searching among more events than a sample holds, over several days: every way of finding gives what a plain filter would.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePartitionsAhead } from '../../src/db/partitions.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { ErrorIds } from '../../src/modules/errors/capture/ids.ts';
import { dayOf, firstOfDay } from '../../src/modules/errors/retention.ts';
import { ErrorsBench } from './harness.ts';

const DAYS = 12;
const EVENTS = 12_000;
let bench: ErrorsBench;
/** Words of each event, the newest first. */
const words: string[][] = [];

/** Common everywhere, now and then everywhere, of late only, rare everywhere, rare and old, frequent on one old day only, nowhere. */
function wordsOf(i: number): string[] {
  const day = Math.floor((i * DAYS) / EVENTS);
  return [
    'failure',
    `n${i % 1_000}`,
    ...(i % 7 === 0 ? ['seventh'] : []),
    ...(i % 20 === 0 ? ['twentieth'] : []),
    ...(i % 20 === 0 && i >= EVENTS - 1_500 ? ['lately'] : []),
    ...(day < 2 ? ['old'] : []),
    ...(day === 5 ? ['fifth'] : []),
    ...(i === 17 ? ['once'] : []),
  ];
}

beforeAll(async () => {
  bench = await ErrorsBench.start();
  const { core } = bench.service;
  const { accountId } = bench.account;
  await bench.capture({ message: 'the newest', fingerprint: 'f' });
  const today = dayOf(Date.now());
  for (let day = DAYS + 2; day >= 2; day -= 2) await makePartitionsAhead(core.db, (today - day) * DAY_MS);
  const mark = new ErrorIds(core.secrets).searchMark(accountId);
  const start = firstOfDay(today - DAYS);
  const step = (firstOfDay(today) - start) / BigInt(EVENTS);
  for (let i = 0; i < EVENTS; i += 1) words.unshift(wordsOf(i));
  const lists = [...words].reverse().map((list) => list.map((word) => mark + word).join(' '));
  await core.db.query(
    {
      name: 'test_search_back_fill',
      // The older half as they were stored before there were terms.
      text: `INSERT INTO errors.event (account_id, seq, group_id, level, title, tags, detail_seq, detail_line, words, terms)
             SELECT $1, $2::bigint + (u.n - 1) * $3::bigint, g.group_id, 'error', (u.n - 1)::text, '{}', g.group_id, 0,
                    CASE WHEN u.n <= ${EVENTS / 2} THEN string_to_array(u.words, ' ') ELSE '{}' END,
                    CASE WHEN u.n > ${EVENTS / 2} THEN array_to_tsvector(string_to_array(u.words, ' ')) END
               FROM errors.error_group g, unnest($4::text[]) WITH ORDINALITY u(words, n) WHERE g.account_id = $1`,
    },
    [accountId, start, step, `{${lists.map((list) => `"${list}"`).join()}}`],
  );
});
afterAll(() => bench.service.stop());

/** Numbers of the events that a plain filter finds, newest first. */
function expected(q: string): string[] {
  const asked = q.split(' ');
  const last = asked.pop() as string;
  return words.flatMap((list, i) => {
    // Of events that were stored before there were terms whole words only.
    const ends = i < EVENTS / 2 ? list.some((word) => word.startsWith(last)) : list.includes(last);
    return ends && asked.every((word) => list.includes(word)) ? [String(EVENTS - 1 - i)] : [];
  });
}

async function walk(q: string, most: number): Promise<{ titles: string[]; total: number; capped: boolean }> {
  const titles: string[] = [];
  let first: { total: number; total_capped?: boolean } | null = null;
  for (let cursor: string | null = ''; cursor !== null && titles.length < most; ) {
    const page: Awaited<ReturnType<ErrorsBench['search']>> = await bench.search(q, {
      limit: 100,
      ...(cursor && { cursor }),
    });
    first ??= page;
    expect(page.total).toBe(first?.total);
    titles.push(...page.items.map(({ title }: { title: string }) => title));
    cursor = page.next_cursor;
  }
  return { titles, total: first?.total as number, capped: first?.total_capped === true };
}

describe.each(['without statistics', 'with fresh statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with fresh statistics')
      await bench.service.core.db.query({ name: '', text: 'ANALYZE errors.event' }, []);
  });

  test.each([
    'seventh',
    'seventh old',
    'twentieth',
    'lately',
    'old',
    'fifth',
    'fifth seventh',
    'once',
    'n13',
    'n13 seventh',
    'never',
    'failure never',
    'fail',
    'n13 fail',
    'seventh n1',
    'n1',
    'lately n99',
    'failure onc',
    'failure nev',
  ])('%s: all of them, in order, counted', async (q) => {
    const all = expected(q);
    expect(await walk(q, EVENTS)).toEqual({ titles: all, total: all.length, capped: false });
  });

  test('a word of every event: the total is capped, the pages go on', async () => {
    const { titles, total, capped } = await walk('failure', 400);
    expect(titles).toEqual(expected('failure').slice(0, titles.length));
    expect([total, capped]).toEqual([10_000, true]);
  });
});
