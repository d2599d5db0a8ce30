// Facets of groups are exact, whether they stand in the group's row or have rows of their own, and while they change from one to the
// other, on whichever process the next event arrives.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ErrorsBench, ErrorsPair } from './harness.ts';

let pair: ErrorsPair;
beforeAll(async () => {
  pair = await ErrorsPair.start();
});
afterAll(() => pair.stop());

/** What the answers must say, counted event by event. */
class Expected {
  readonly users: Record<string, number> = {};
  readonly releases: Record<string, number> = {};
  readonly tags: Record<string, number> = {};
  count = 0;

  add(user: string, release: string, tags: Record<string, string>): void {
    const bump = (counts: Record<string, number>, name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    this.count += 1;
    bump(this.users, user);
    bump(this.releases, release);
    for (const [name, value] of Object.entries(tags)) bump(this.tags, `${name}:${value}`);
  }
}

const rowsOf = (bench: ErrorsBench) =>
  bench.number('SELECT count(*)::int AS number FROM errors.error_group WHERE account_id = $account AND facets IS NULL');

test.each([
  ['alone', 1],
  ['many at once', 16],
])('they add up on the way from the row of their group to rows of their own, captured %s', async (_, atOnce) => {
  const benches = await pair.both();
  const [here] = benches;
  const groups = ['few', 'some', 'many'].map((name) => ({ name, expected: new Expected() }));
  const spread = { few: 3, some: 12, many: 70 } as Record<string, number>;
  const wereRows: number[] = [];
  for (let round = 0; round < 24; round += 1) {
    const events = Array.from({ length: 16 }, (_, i) => round * 16 + i);
    const capture = async (n: number) => {
      const { name, expected } = groups[n % 3] as (typeof groups)[number];
      const of = spread[name] as number;
      const sent = {
        user: `user ${Math.floor(n / 3) % of}`,
        release: `1.${n % 4}.0`,
        tags: { host: `h${Math.floor(n / 5) % of}`, region: n % 2 === 0 ? 'eu' : 'us' },
      };
      expected.add(sent.user, sent.release, sent.tags);
      const bench = benches[(n + round) % 2] as ErrorsBench;
      await bench.capture({ message: name, user_id: sent.user, release: sent.release, tags: sent.tags });
    };
    for (let at = 0; at < events.length; at += atOnce) await Promise.all(events.slice(at, at + atOnce).map(capture));
    wereRows.push(await rowsOf(here));
    const { groups: listed } = await (benches[round % 2] as ErrorsBench).groups({ sort: 'first_seen_desc' });
    expect(listed).toHaveLength(3);
    for (const group of listed) {
      const detail = await (benches[(round + 1) % 2] as ErrorsBench).detail(group.error_group_id);
      const { expected } = groups.find(({ name }) => name === group.title) as (typeof groups)[number];
      expect(detail).toMatchObject({ count: expected.count, user_count: Object.keys(expected.users).length });
      expect(detail.user_distribution).toEqual(expected.users);
      expect(detail.release_distribution).toEqual(expected.releases);
      expect(detail.tag_distribution).toEqual(expected.tags);
      const top = Object.keys(expected.releases).toSorted(
        (a, b) => (expected.releases[b] as number) - (expected.releases[a] as number) || (a < b ? -1 : 1),
      );
      expect(group.releases).toEqual(top);
    }
  }
  expect(wereRows[0]).toBe(0);
  expect(wereRows.at(-1)).toBe(1);
  expect(wereRows).toEqual(wereRows.toSorted());
});

test('a facet of a commit that failed is not taken for stored', async () => {
  const [bench] = await pair.both();
  for (let n = 0; n < 70; n += 1) {
    await bench.capture({ message: 'failing', user_id: `user ${n}`, tags: { host: `a host with a long name ${n}` } });
  }
  expect(await rowsOf(bench)).toBe(1);
  const { db } = bench.service.core;
  const run = (text: string) => db.query({ name: '', text }, []);
  await run('ALTER TABLE errors.event ADD CONSTRAINT refuse CHECK (false) NOT VALID');
  const late = { message: 'failing', user_id: 'late', release: '9.0', tags: { region: 'eu' } };
  expect((await bench.tryCapture(late)).status).toBe(500);
  await run('ALTER TABLE errors.event DROP CONSTRAINT refuse');
  for (const count of [71, 72]) {
    const { error_group_id: groupId } = await bench.capture(late);
    const detail = await bench.detail(groupId);
    expect(detail).toMatchObject({ count, user_count: 71, release_distribution: { '9.0': count - 70 } });
    expect(detail.user_distribution.late).toBe(count - 70);
    expect(detail.tag_distribution['region:eu']).toBe(count - 70);
  }
});
