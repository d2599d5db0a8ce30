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

async function withEvents() {
  const own = await bench.withAccount();
  await own.capture({
    items: ['a', 'b'].flatMap((id) =>
      ['seen', ...(id === 'a' ? ['bought'] : [])].map((event, later) => ({
        event,
        distinct_id: id,
        timestamp: ago(2 - later),
      })),
    ),
  });
  return { own, visitor: await signedIn(own.service.url, own.account.secret) };
}

test('a page asks one question at a time, so two open pages are what may run at once', async () => {
  const { visitor } = await withEvents();
  const pages = ['ask=trends&event=seen', 'ask=funnel&step=seen&step=bought', 'ask=retention'];
  for (const [i, page] of pages.entries()) {
    const { text } = await visitor.get(`/console/analytics?${page}`);
    const asked = text.match(/v1\/analytics\/(?:trends|funnel|retention)\b/g) ?? [];
    expect(asked).toEqual([`v1/analytics/${['trends', 'funnel', 'retention'][i]}`]);
  }
  const both = await Promise.all([
    visitor.get(`/console/analytics?${pages[1]}`),
    visitor.get(`/console/analytics?${pages[2]}`),
  ]);
  for (const { text } of both) expect(text).not.toContain('CONCURRENCY_LIMITED');
});

test('a funnel is bars from step to step, retention a table with shading', async () => {
  const { visitor } = await withEvents();
  const funnel = (await visitor.get('/console/analytics?steps=seen,bought')).text;
  expect(funnel).toContain('1. <bdi>seen</bdi>');
  expect(funnel).toMatch(/<span class="funnel"><svg class="meter"[^>]*><rect width="50.00"/);
  expect(funnel).toContain('<span>50 %</span>');
  const retention = (await visitor.get('/console/analytics?ask=retention&start_event=seen&periods=4')).text;
  expect(retention).toContain('class="number shade-5" title="1 person of 2">50 %</td>');
});

test('a question is saved by name, found on the page, asked again, renamed and deleted', async () => {
  const { own, visitor } = await withEvents();
  const asked = '/console/analytics?ask=funnel&step=seen&step=bought&period=30d';
  const [, question = ''] = /name="question" value="([^"]*)"/.exec((await visitor.get(asked)).text) ?? [];
  const sent = { name: 'Buyers <b>', question: question.replaceAll('&quot;', '"') };
  const made = await sendForm(visitor, asked, 'save', sent);
  expect(made.status).toBe(303);
  const { pathname: path } = new URL(String(made.location), `${own.service.url}/console/analytics`);
  expect((await visitor.get('/console/analytics')).text).toContain(`<a href="${path}"><bdi>Buyers &lt;b&gt;</bdi></a>`);
  const { text } = await visitor.get(path);
  expect(text).toContain('Funnel of the last 30 days: seen, bought.');
  expect(text).toContain('<span>50 %</span>');
  const again = await sendForm(visitor, asked, 'save', sent);
  expect([again.status, again.text.includes('has this name already')]).toEqual([409, true]);
  expect((await sendForm(visitor, `${path}/settings`, 'update', { name: 'Buyers', days: '14' })).status).toBe(303);
  expect((await visitor.get(path)).text).toContain('Funnel of the last 14 days');
  expect(
    (await sendForm(visitor, `${path}/delete`, 'delete', { typed: path.slice(path.lastIndexOf('/') + 1) })).status,
  ).toBe(303);
  expect((await visitor.get(path)).status).toBe(404);
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
