// Pages of analytics: a person with their events, their deletion by typing their ID, and the period of figures.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { AnalyticsBench, ago } from './harness.ts';

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

test('a person is shown, and deleted only by who types their ID', async () => {
  const own = await bench.withAccount();
  await own.capture({ items: ['ann/1 <b>', 'bob'].map((distinct_id) => ({ event: 'seen', distinct_id })) });
  const visitor = await signedIn(own.service.url, own.account.secret);
  const path = `/console/analytics/people/${encodeURIComponent('ann/1 <b>')}`;
  expect((await visitor.get('/console/analytics/events')).text).toContain(`href="${path}"`);
  const { status, text } = await visitor.get(path);
  expect([status, text.includes('ann/1 &lt;b&gt;'), text.includes('Delete this person')]).toEqual([200, true, true]);
  expect((await sendForm(visitor, `${path}/delete`, 'delete', { typed: 'ann' })).status).toBe(400);
  expect((await own.events()).length).toBe(2);
  expect((await sendForm(visitor, `${path}/delete`, 'delete', { typed: 'ann/1 <b>' })).status).toBe(303);
  expect((await own.events()).map(({ distinct_id: id }) => id)).toEqual(['bob']);
  expect((await visitor.get(path)).status).toBe(404);
});

test('trends, funnel and retention are shown at once: the page asks no more than may run', async () => {
  const own = await bench.withAccount();
  await own.capture({
    items: ['a', 'b'].flatMap((id) =>
      ['seen', 'bought'].map((event, hour) => ({ event, distinct_id: id, timestamp: ago(2 - hour) })),
    ),
  });
  const visitor = await signedIn(own.service.url, own.account.secret);
  const { text } = await visitor.get('/console/analytics?events=seen&steps=seen,bought&period=7d');
  expect(text).not.toContain('CONCURRENCY_LIMITED');
  expect(text).toContain('100 %');
});

test('figures are of the period that is chosen, and keep it when another question is asked', async () => {
  const own = await bench.withAccount();
  await own.capture({ items: [1, 20].map((days) => ({ event: 'seen', distinct_id: 'a', timestamp: ago(days) })) });
  const visitor = await signedIn(own.service.url, own.account.secret);
  const shown = async (query: string) => {
    const { text } = await visitor.get(`/console/analytics?${query}`);
    const [, step, rows = ''] = /<caption class="unseen">By (\w+),[\s\S]*?<tbody>([\s\S]*?)<\/tbody>/.exec(text) ?? [];
    const total = [...rows.matchAll(/>(\d+)<\/td>/g)].reduce((sum, [, digits]) => sum + Number(digits), 0);
    return [step, total];
  };
  expect(await shown('events=seen')).toEqual(['hour', 1]);
  expect(await shown('events=seen&period=30d')).toEqual(['day', 2]);
  expect(await shown('events=seen&period=30d&step=hour')).toEqual(['hour', 2]);
  const { text } = await visitor.get('/console/analytics?events=seen&period=30d');
  expect(text).toContain('<input type="hidden" name="period" value="30d">');
});
