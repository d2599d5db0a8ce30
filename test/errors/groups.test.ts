// What becomes of a group: its status, what is told of it, its counts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { ErrorsBench } from './harness.ts';

let shared: ErrorsBench;
beforeAll(async () => {
  shared = await ErrorsBench.start();
});
afterAll(() => shared.service.stop());

const log = (detail: { activity_log: { type: string }[] }) => detail.activity_log.map(({ type }) => type).reverse();

test('a group tells the type of its first exception, in the list of the console too', async () => {
  const bench = await shared.withAccount();
  const fingerprint = 'one';
  const typed = async () =>
    (await bench.groups()).items.map((group: { exception_type: string | null }) => group.exception_type);
  await bench.capture({ fingerprint, message: 'it failed', exception: 'a text' });
  expect(await typed()).toEqual([null]);
  await bench.capture({
    fingerprint,
    message: 'it failed',
    exception: { type: 'TypeError', value: 'x is not a function' },
  });
  await bench.capture({ fingerprint, message: 'it failed', exception: { type: 'RangeError', value: 'too long' } });
  expect(await typed()).toEqual(['TypeError']);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  expect((await visitor.get('/console/errors')).text).toContain(
    '<bdi>TypeError</bdi>:</span> <bdi>it failed</bdi></a>',
  );
});

describe('status', () => {
  test('a new event reopens a resolved group, with one entry, and is no new group', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    expect(await bench.change('resolve', id)).toMatchObject({ is_resolved: true, is_ignored: false, count: 1 });
    expect(await bench.list({ filter: { is_resolved: true } })).toMatchObject({
      total: 1,
      items: [{ is_resolved: true }],
    });
    const again = await bench.capture({ message: 'm' });
    expect(again).toMatchObject({ error_group_id: id, is_new_group: false });
    const detail = await bench.detail(id);
    expect(detail).toMatchObject({ is_resolved: false, count: 2, reopened_at: detail.activity_log[0].created_at });
    expect((await bench.groups()).items[0].reopened_at).toBe(detail.reopened_at);
    expect(log(detail)).toEqual(['resolved', 'reopened']);
    expect(detail.activity_log[0]).toMatchObject({ event_id: again.event_id, key_id: null });
    expect(detail.activity_log[1]).toMatchObject({ event_id: null, key_id: bench.account.keyId });
    // What somebody resolved or reopened since is no regression.
    await bench.change('comment', id, { text: 'Seen.' });
    expect((await bench.detail(id)).reopened_at).toBe(detail.reopened_at);
    await bench.change('resolve', id);
    expect((await bench.detail(id)).reopened_at).toBeNull();
    await bench.change('unresolve', id);
    expect((await bench.detail(id)).reopened_at).toBeNull();
  });

  test('an ignored group stays ignored and goes on counting', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.change('ignore', id);
    await bench.capture({ message: 'm' });
    expect(await bench.detail(id)).toMatchObject({ is_ignored: true, is_resolved: false, count: 2 });
  });

  test('resolve clears ignored, ignore clears resolved', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.change('ignore', id);
    expect(await bench.change('resolve', id)).toMatchObject({ is_resolved: true, is_ignored: false });
    expect(await bench.change('ignore', id)).toMatchObject({ is_resolved: false, is_ignored: true });
    expect(await bench.change('unignore', id)).toMatchObject({ is_resolved: false, is_ignored: false });
    await bench.change('resolve', id);
    const last = await bench.change('unresolve', id);
    expect(last).toMatchObject({ is_resolved: false, is_ignored: false });
    expect(log(last)).toEqual(['ignored', 'resolved', 'ignored', 'unignored', 'resolved', 'unresolved']);
  });

  test('what changes nothing leaves no entry', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    for (const what of ['unresolve', 'unignore', 'resolve', 'resolve', 'unignore']) await bench.change(what, id);
    await bench.change('assign', id, { assigned_to: null });
    expect(log(await bench.detail(id))).toEqual(['resolved']);
  });

  test('assigning and commenting are kept and logged', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.change('assign', id, { assigned_to: 'an agent\0' });
    await bench.change('comment', id, { text: 'first' });
    const detail = await bench.change('comment', id, { text: 'second 😀\ud800' });
    expect(detail.assigned_to).toBe('an agent\ufffd');
    expect(detail.comments.map(({ text }: { text: string }) => text)).toEqual(['second 😀\ufffd', 'first']);
    expect(log(detail)).toEqual(['assigned', 'commented', 'commented']);
    expect(detail.activity_log[0].comment_id).toBe(detail.comments[0].comment_id);
  });

  test('a group that is not there: 404 for everything', async () => {
    const bench = await shared.withAccount();
    const id = `errgrp_${'1'.repeat(22)}`;
    for (const [what, fields] of [
      ['resolve', {}],
      ['unresolve', {}],
      ['ignore', {}],
      ['unignore', {}],
      ['assign', { assigned_to: 'a' }],
      ['comment', { text: 't' }],
    ] as const) {
      expect((await bench.fails('POST', `/v1/errors/${what}/${id}`, fields)).code).toBe('GROUP_NOT_FOUND');
    }
    for (const what of ['group_detail', 'events'])
      expect((await bench.fails('GET', `/v1/errors/${what}/${id}`)).code).toBe('GROUP_NOT_FOUND');
    expect((await bench.fails('GET', `/v1/errors/get/evt_err_${'1'.repeat(22)}`)).code).toBe('EVENT_NOT_FOUND');
  });
});

describe('counts', () => {
  test('title of the first event, level of the latest, users, releases and environments', async () => {
    const bench = await shared.withAccount();
    const send = (fields: object) => bench.capture({ fingerprint: 'f', ...fields });
    await send({ title: 'first', level: 'info', user_id: 'a', release: '1', environment: 'staging' });
    await send({ title: 'second', level: 'fatal', user_id: 'b', release: '2', environment: 'production' });
    const { event_id: latest } = await send({ title: 'third', level: 'warning', user_id: 'a', release: '2' });
    const { groups } = await bench.groups();
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({
      title: 'first',
      level: 'warning',
      count: 3,
      user_count: 2,
      releases: ['2', '1'],
      environments: ['production', 'staging'],
      sample_event_id: latest,
      trend_24h: { current: 3, previous: 0, change_pct: null },
    });
    expect(groups[0].sparkline).toEqual([...new Array(23).fill(0), 3]);
    const detail = await bench.detail(groups[0].error_group_id);
    expect(detail).toMatchObject(groups[0]);
    expect(detail.representative_event).toMatchObject({ event_id: latest, title: 'third' });
    expect(detail.user_distribution).toEqual({ a: 2, b: 1 });
    expect(detail.release_distribution).toEqual({ 1: 1, 2: 2 });
    expect(detail.environment_distribution).toEqual({ production: 1, staging: 1, '(none)': 1 });
    expect(detail.timeline).toHaveLength(24);
    expect(detail.timeline[23]).toEqual({ ts: expect.stringMatching(/:00:00\.000Z$/), count: 3 });
  });

  test('hours and trend follow the clock', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    for (let i = 0; i < 3; i += 1) await bench.capture({ message: 'm' });
    await shared.service.advance(25 * 3600);
    for (let i = 0; i < 2; i += 1) await bench.capture({ message: 'm' });
    await shared.service.advance(2 * 3600);
    const detail = await bench.detail(id);
    expect(detail.trend_24h).toEqual({ current: 2, previous: 4, change_pct: -50 });
    expect(detail.sparkline.slice(-4)).toEqual([0, 2, 0, 0]);
    expect(detail.count).toBe(6);
  });

  test('every distribution adds up to the count, beyond the caps too', async () => {
    const bench = await shared.withAccount();
    const events = Array.from({ length: 260 }, (_, i) => ({
      fingerprint: 'f',
      ...(i % 5 === 0 ? {} : { user_id: `u${i % 130}` }),
      ...(i % 3 === 0 ? {} : { release: `r${i}` }),
      tags: { id: String(i), even: String(i % 2) },
    }));
    const results = await Promise.all(events.map((event) => bench.capture(event)));
    const detail = await bench.detail(results[0].error_group_id);
    const sum = (numbers: Record<string, number>) => Object.values(numbers).reduce((total, n) => total + n, 0);
    for (const name of ['user_distribution', 'release_distribution', 'environment_distribution'])
      expect(sum(detail[name]), name).toBe(260);
    expect(detail.user_count).toBe(new Set(events.flatMap(({ user_id }) => user_id ?? [])).size);
    expect(Object.keys(detail.user_distribution)).toHaveLength(102);
    expect(detail.user_distribution['(none)']).toBe(52);
    expect(detail.release_distribution['(other)']).toBe(173 - 100);
    expect(detail.environment_distribution).toEqual({ '(none)': 260 });
    expect(detail.tag_distribution['id:(other)']).toBe(160);
    expect(detail.tag_distribution['even:1']).toBe(130);
    expect(sum(detail.tag_distribution)).toBe(520);
  });
});

describe('told', () => {
  const types = async (bench: ErrorsBench) => (await bench.told()).map(({ type }) => type.replace('error.', ''));

  test('the first event, then at most one a minute, and every reopening', async () => {
    const bench = await shared.withAccount();
    const first = await bench.tryCapture({ message: 'm', user_id: 'private', tags: { a: 'b' } });
    const id = first.body.data.error_group_id;
    for (let i = 0; i < 5; i += 1) await bench.capture({ message: 'm' });
    const told = await bench.told();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      type: 'error.captured',
      requestId: first.body.metadata.request_id,
      object: { error_group_id: id, event_id: first.body.data.event_id, is_new_group: true, tags: { a: 'b' } },
    });
    expect(JSON.stringify(told)).not.toContain('private');
    await shared.service.advance(60);
    for (let i = 0; i < 3; i += 1) await bench.capture({ message: 'm' });
    expect(await types(bench)).toEqual(['captured', 'captured']);
    await bench.change('resolve', id);
    await bench.capture({ message: 'm' });
    const reopened = (await bench.told()).at(-1);
    expect(reopened?.object).toMatchObject({ is_reopened: true, is_new_group: false, group_count: 10 });
    expect(await types(bench)).toEqual(['captured', 'captured', 'captured']);
  });

  test('the record without stacks and what is about users, a long message cut and said to be', async () => {
    const bench = await shared.withAccount();
    const captured = await bench.capture({
      message: 'short',
      release: '1',
      extra: { note: 'not told' },
      stack: 'at x',
    });
    await bench.capture({ message: `long ${'word '.repeat(1_000)}` });
    const { rows } = await bench.service.core.db.query<{ data: string }>(
      { name: '', text: 'SELECT data FROM core.event WHERE account_id = $1 AND type = $2 ORDER BY sequence' },
      [bench.account.accountId, (await bench.told())[0]?.type as string],
    );
    const [short, long] = rows.map(({ data }) => JSON.parse(data));
    const record = await bench.get(captured.event_id);
    const left = [
      'user_id',
      'exception',
      'breadcrumbs',
      'context',
      'extra',
      'idempotency_key',
      'sdk',
      'runtime',
      'request',
    ].concat('user', 'fingerprint_source', 'previous_event_id', 'next_event_id');
    const told = Object.fromEntries(Object.entries(record).filter(([name]) => !left.includes(name)));
    expect(short).toEqual({ object: { ...told, group_title: 'short', is_new_group: true, is_reopened: false } });
    expect(long).toMatchObject({ truncated: true, object: { message: `long ${'word '.repeat(199)}` } });
  });

  test('an anomaly is told once in half an hour', async () => {
    const bench = await shared.withAccount();
    const burst = (events: number) =>
      Promise.all(Array.from({ length: events }, () => bench.capture({ message: 'burst' })));
    await burst(49);
    expect(await types(bench)).toEqual(['captured']);
    await burst(1);
    expect(await types(bench)).toEqual(['captured', 'rate_anomaly']);
    expect((await bench.told()).at(-1)?.object).toMatchObject({ count_5m: 50, baseline_5m: 0, group_count: 50 });
    await burst(100);
    expect(await types(bench)).toEqual(['captured', 'rate_anomaly']);
    await shared.service.advance(29 * 60);
    // 150 in the hour before: 125 in five minutes are not more than ten times as many.
    await burst(125);
    expect(await types(bench)).toEqual(['captured', 'rate_anomaly', 'captured']);
    await shared.service.advance(60);
    await burst(1);
    expect((await types(bench)).slice(3).sort()).toEqual(['captured', 'rate_anomaly']);
    const again = (await bench.told()).findLast(({ type }) => type === 'error.rate_anomaly');
    expect(again?.object).toMatchObject({ count_5m: 126, baseline_5m: 12.5 });
    expect(again?.object).not.toHaveProperty('count_60m_before');
  });

  test('an ignored group is silent', async () => {
    const bench = await shared.withAccount();
    const { error_group_id: id } = await bench.capture({ message: 'm' });
    await bench.change('ignore', id);
    await shared.service.advance(120);
    await Promise.all(Array.from({ length: 60 }, () => bench.capture({ message: 'm' })));
    expect(await types(bench)).toEqual(['captured']);
  });
});
