// What records say field by field: instants, addresses, hours, comments, and who did what to a group.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/lib/time.ts';
import { ErrorsBench } from './harness.ts';

let shared: ErrorsBench;
beforeAll(async () => {
  shared = await ErrorsBench.start();
});
afterAll(() => shared.service.stop());

/** The clock of the deployment, asked without the service. */
const clockMs = () => shared.number('SELECT floor(extract(epoch FROM core.clock_now()) * 1000)::float8 AS number');

/** Runs `step` between two looks at the clock; `isIn` says whether an instant lies between them. */
async function timed<T>(step: () => Promise<T>): Promise<{ result: T; isIn: (instant: string) => boolean }> {
  const before = await clockMs();
  const result = await step();
  const after = await clockMs();
  return { result, isIn: (instant) => before <= Date.parse(instant) && Date.parse(instant) <= after };
}

/** Captures and makes sure that the event says when. */
async function captureAt(bench: ErrorsBench, fields: object): Promise<{ id: string; groupId: string; at: string }> {
  const { result, isIn } = await timed(() => bench.capture({ ...fields }));
  const { received_at: at, timestamp } = await bench.get(result.event_id);
  expect(isIn(at), at).toBe(true);
  expect(timestamp).toBe(at);
  return { id: result.event_id, groupId: result.error_group_id, at };
}

/** Another key of the same account. */
async function withOtherKey(bench: ErrorsBench): Promise<ErrorsBench> {
  const { key_id: keyId, key_secret: secret } = await bench.ok('POST', '/v1/account/keys/create', { name: 'another' });
  expect(keyId).not.toBe(bench.account.keyId);
  return new ErrorsBench(bench.service, { accountId: bench.account.accountId, keyId, secret });
}

const groupOf = async (bench: ErrorsBench, id: string) =>
  (await bench.groups()).groups.find(({ error_group_id }: { error_group_id: string }) => error_group_id === id);

describe('first and last seen', () => {
  /** Wherever the instants of a group are shown. */
  async function expectSeen(bench: ErrorsBench, groupId: string, eventIds: string[], first: string, last: string) {
    const seen = { first_seen_at: first, last_seen_at: last };
    const ofGroup = { group_first_seen_at: first, group_last_seen_at: last };
    expect(await groupOf(bench, groupId)).toMatchObject(seen);
    const detail = await bench.detail(groupId);
    expect(detail).toMatchObject({ ...seen, representative_event: ofGroup });
    for (const id of eventIds) expect(await bench.get(id)).toMatchObject(ofGroup);
  }

  test('are the instants in which the first and the last event were received', async () => {
    const bench = await shared.withAccount();
    const first = await captureAt(bench, { fingerprint: 'f', message: 'first' });
    await expectSeen(bench, first.groupId, [first.id], first.at, first.at);
    await shared.service.advance(3 * 3600 + 17);
    const other = await captureAt(bench, { fingerprint: 'other' });
    await shared.service.advance(61);
    const middle = await captureAt(bench, { fingerprint: 'f', message: 'middle' });
    await expectSeen(bench, first.groupId, [first.id, middle.id], first.at, middle.at);
    await shared.service.advance(40 * 60 + 5);
    const last = await captureAt(bench, { fingerprint: 'f', message: 'last' });
    await shared.service.advance(26 * 3600);
    // Looking at a group, and what is done to it by hand, is no event of it.
    await bench.change('resolve', first.groupId);
    await bench.change('comment', first.groupId, { text: 'seen' });
    await expectSeen(bench, first.groupId, [first.id, middle.id, last.id], first.at, last.at);
    await expectSeen(bench, other.groupId, [other.id], other.at, other.at);
    const { items } = await bench.list();
    expect(items.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual(
      [last, middle, other, first].map(({ at }) => at),
    );
  });

  test('are told with the events of a group', async () => {
    const bench = await shared.withAccount();
    const first = await captureAt(bench, { message: 'm' });
    await shared.service.advance(3 * 60);
    const second = await captureAt(bench, { message: 'm' });
    expect((await bench.told()).map(({ object }) => object)).toMatchObject([
      { timestamp: first.at, group_first_seen_at: first.at },
      { timestamp: second.at, group_first_seen_at: first.at },
    ]);
  });
});

test('every record names the page of its group', async () => {
  const bench = await shared.withAccount();
  const sent = [await bench.capture({ message: 'one failure' }), await bench.capture({ message: 'another failure' })];
  const urlOf = (groupId: string) => `${shared.service.url}/console/errors/${groupId}`;
  const isNamed = (records: { error_group_id: string; dashboard_url: string }[]) => {
    expect(records.length).toBeGreaterThan(0);
    for (const record of records) expect(record.dashboard_url).toBe(urlOf(record.error_group_id));
  };
  isNamed(sent);
  for (const { items } of [await bench.list(), await bench.search('failure')]) {
    expect(items).toHaveLength(2);
    isNamed(items);
  }
  expect((await bench.groups()).groups).toHaveLength(2);
  isNamed((await bench.groups()).groups);
  isNamed((await bench.told()).map(({ object }) => object));
  for (const { event_id: eventId, error_group_id: id } of sent) {
    const detail = await bench.detail(id);
    isNamed((await bench.events(id)).items);
    isNamed([await bench.get(eventId), detail, detail.representative_event, await bench.change('resolve', id)]);
  }
});

describe('the activity of a group', () => {
  const types = (detail: { activity_log: { type: string }[] }) => detail.activity_log.map(({ type }) => type).reverse();

  test('says of each kind of change what was done, by which key, and when', async () => {
    const one = await shared.withAccount();
    const two = await withOtherKey(one);
    const { error_group_id: id } = await one.capture({ message: 'm' });
    const none = { assigned_to: null, comment_id: null, event_id: null };
    const steps = [
      [one, 'ignore', {}, 'ignored', none],
      [two, 'unignore', {}, 'unignored', none],
      [two, 'assign', { assigned_to: 'ann' }, 'assigned', { ...none, assigned_to: 'ann' }],
      [one, 'assign', { assigned_to: null }, 'assigned', none],
      [one, 'assign', { assigned_to: 'bob' }, 'assigned', { ...none, assigned_to: 'bob' }],
      [two, 'comment', { text: 'known' }, 'commented', { ...none, comment_id: expect.stringMatching(/^cmt_/) }],
      [one, 'resolve', {}, 'resolved', none],
      [two, 'unresolve', {}, 'unresolved', none],
      [two, 'resolve', {}, 'resolved', none],
    ] as const;
    const activity = [];
    for (const [bench, what, fields, type, subjects] of steps) {
      await shared.service.advance(61);
      const { result, isIn } = await timed(() => bench.change(what, id, fields));
      const [newest, ...older] = result.activity_log;
      expect(newest).toEqual({
        activity_id: expect.stringMatching(/^act_[A-Za-z0-9]{20,}$/),
        type,
        key_id: bench.account.keyId,
        ...subjects,
        created_at: expect.toSatisfy(isIn),
      });
      expect(older).toEqual(activity);
      activity.unshift(newest);
    }
    await shared.service.advance(61);
    const event = await captureAt(two, { message: 'm' });
    const detail = await one.detail(id);
    const [reopened, ...older] = detail.activity_log;
    const activityId = expect.stringMatching(/^act_[A-Za-z0-9]{20,}$/);
    expect(reopened).toEqual({
      activity_id: activityId,
      type: 'reopened',
      key_id: null,
      ...none,
      event_id: event.id,
      created_at: event.at,
    });
    expect(older).toEqual(activity);
    expect(detail.assigned_to).toBe('bob');
    expect(older.find(({ type }: { type: string }) => type === 'commented').comment_id).toBe(
      detail.comments[0].comment_id,
    );
    const ids = detail.activity_log.map(({ activity_id }: { activity_id: string }) => activity_id);
    expect(new Set(ids).size).toBe(steps.length + 1);
  });

  test('of an ignored one tells nothing of the events that arrive', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.change('ignore', id);
    for (let i = 0; i < 3; i += 1) await bench.capture({ message: 'm' });
    await Promise.all(Array.from({ length: 10 }, () => bench.capture({ message: 'm' })));
    const detail = await bench.detail(id);
    expect(detail).toMatchObject({ count: 14, is_ignored: true });
    expect(types(detail)).toEqual(['ignored']);
  });

  test('of one that was never resolved tells nothing of them either', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.capture({ message: 'm' });
    expect((await bench.detail(id)).activity_log).toEqual([]);
  });

  test('of a resolved one tells the first event that arrives, and no later one', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.change('resolve', id);
    const at = await captureAt(bench, { message: 'm' });
    for (let i = 0; i < 3; i += 1) await bench.capture({ message: 'm' });
    const detail = await bench.detail(id);
    expect(types(detail)).toEqual(['resolved', 'reopened']);
    expect(detail.activity_log[0]).toMatchObject({ event_id: at.id, created_at: at.at });
    // Of many at once it is still the first.
    await bench.change('resolve', id);
    await Promise.all(Array.from({ length: 10 }, () => bench.capture({ message: 'm' })));
    const again = await bench.detail(id);
    expect(types(again)).toEqual(['resolved', 'reopened', 'resolved', 'reopened']);
    const { items } = await bench.events(id, { limit: 100 });
    expect(again.activity_log[0]).toMatchObject({ event_id: items[9].event_id, created_at: items[9].timestamp });
  });
});

test('comments say what, by which key, and when, the newest first', async () => {
  const one = await shared.withAccount();
  const two = await withOtherKey(one);
  const { error_group_id: id } = await two.capture({ message: 'm' });
  await one.capture({ message: 'another group' });
  const comments: { text: string; keyId: string; isIn: (instant: string) => boolean }[] = [];
  for (const [bench, text] of [
    [one, 'first'],
    [two, 'second'],
    [two, 'third'],
    [one, 'fourth'],
  ] as const) {
    await shared.service.advance(61);
    const { isIn } = await timed(() => bench.change('comment', id, { text }));
    comments.unshift({ text, keyId: bench.account.keyId, isIn });
  }
  // The key that looks is none of those that spoke.
  const detail = await (await withOtherKey(one)).detail(id);
  expect(detail.comments).toEqual(
    comments.map(({ text, keyId, isIn }) => ({
      comment_id: expect.stringMatching(/^cmt_[A-Za-z0-9]{20,}$/),
      text,
      key_id: keyId,
      created_at: expect.toSatisfy(isIn),
    })),
  );
  expect(new Set(detail.comments.map(({ comment_id }: { comment_id: string }) => comment_id)).size).toBe(4);
  const { groups } = await one.groups();
  const other = groups.find(({ title }: { title: string }) => title === 'another group');
  expect((await one.detail(other.error_group_id)).comments).toEqual([]);
});

test('the timeline gives each of 24 hours its instant and its count', async () => {
  const bench = await shared.withAccount();
  // Ten past the hour: the test does not run into the next one by itself.
  const secondsLeft = Math.ceil((HOUR_MS - ((await clockMs()) % HOUR_MS)) / 1_000);
  await shared.service.advance(secondsLeft + 600);
  const before = await bench.capture({ message: 'm' });
  await shared.service.advance(3600);
  const startMs = Math.floor((await clockMs()) / HOUR_MS) * HOUR_MS;
  const counts = [2, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 5];
  for (const [hour, count] of counts.entries()) {
    if (hour > 0) await shared.service.advance(3600);
    for (let i = 0; i < count; i += 1) await bench.capture({ message: 'm' });
  }
  const timeline = (shown: number[], firstMs: number) =>
    shown.map((count, i) => ({ ts: new Date(firstMs + i * HOUR_MS).toISOString(), count }));
  const { error_group_id: id } = before;
  const detail = await bench.detail(id);
  expect(detail.timeline).toEqual(timeline(counts, startMs));
  expect(detail.sparkline).toEqual(counts);
  expect(detail.trend_24h).toEqual({ current: 17, previous: 1, change_pct: 1_600 });
  expect((await groupOf(bench, id)).sparkline).toEqual(counts);
  // An hour on everything is one place further, the running hour is empty.
  await shared.service.advance(3600);
  expect((await bench.detail(id)).timeline).toEqual(timeline([...counts.slice(1), 0], startMs + HOUR_MS));
});
