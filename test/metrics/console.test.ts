// The explorer of the console: a query is drawn, its labels and values are read by people.
import { beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

test('the answer of a query is drawn once, with its labels and values of six digits', async () => {
  const { secret } = await createTestAccount(service.core);
  const points = [
    { name: 'load', type: 'gauge', value: 0.123456789012345, labels: { host: '<web-1>', zone: 'a' } },
    { name: 'load', type: 'gauge', value: 1_234_567, labels: { host: 'web-2', zone: 'a' } },
  ];
  const ingested = await client(service.url, secret)('POST', '/v1/metrics/ingest', { items: points });
  expect(ingested.text).toContain('"ok":true');
  const { text } = await (await signedIn(service.url, secret)).get('/console/metrics?query=load');
  expect(text).toMatch(/<script[^>]+plots/);
  expect(text.match(/<(h2|figcaption)>Over time/g)).toHaveLength(1);
  expect(text).not.toContain('[object Object]');
  expect(text).toContain('host=<bdi>&lt;web-1&gt;</bdi>');
  expect(text).toContain('<span title="0.123456789012345">0.123457</span>');
  expect(text).toContain('<span title="1234567">1,234,567</span>');
});

test('the list tells each metric with a small plot and its last value, by one query', async () => {
  const { secret } = await createTestAccount(service.core);
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const items = [
    { name: 'hits_total', type: 'counter', value: 10, timestamp: at(20), labels: { host: 'a' } },
    { name: 'hits_total', type: 'counter', value: 40, timestamp: at(1), labels: { host: 'a' } },
    { name: 'hits_total', type: 'counter', value: 2, timestamp: at(1), labels: { host: 'b' } },
    { name: 'load', type: 'gauge', value: 1.5, timestamp: at(1), labels: { host: 'a' } },
    { name: 'load', type: 'gauge', value: 2.5, timestamp: at(1), labels: { host: 'b' } },
  ];
  expect((await client(service.url, secret)('POST', '/v1/metrics/ingest', { items })).text).toContain('"ok":true');
  const { text } = await (await signedIn(service.url, secret)).get('/console/metrics');
  const row = (name: string) =>
    new RegExp(`<tr><th scope="row"><a href="[^"]*">(?:<bdi>)?${name}[\\s\\S]*?</tr>`).exec(text)?.[0];
  expect(row('hits_total')).toContain('<span title="42">42</span>');
  expect(row('load')).toContain('<span title="2">2</span>');
  expect(row('load')).toMatch(/<svg class="spark"[^>]*role="img"/);
  expect(text.match(/metrics\/query_range/g)).toHaveLength(1);
});

test('labels are fields that write the query, which may be edited and keeps the fields', async () => {
  const { secret } = await createTestAccount(service.core);
  const items = ['mail', 'video'].map((queue) => ({ name: 'jobs', type: 'gauge', value: 3, labels: { queue } }));
  await client(service.url, secret)('POST', '/v1/metrics/ingest', { items });
  const visitor = await signedIn(service.url, secret);
  const { text } = await visitor.get('/console/metrics?metric=jobs&l.queue=mail&agg=sum&by=queue');
  expect(text).toContain('<select name="l.queue">');
  expect(text).toContain('<option value="video">video</option>');
  expect(text).toContain('<option value="mail" selected>');
  expect(text).toContain('value="sum by (queue) (jobs{queue=&quot;mail&quot;})"');
  const edited = await visitor.get('/console/metrics?metric=jobs&l.queue=mail&query=max(jobs)');
  expect(edited.text).toContain('value="max(jobs)"');
  expect(edited.text).toContain('<option value="mail" selected>');
  expect(edited.text).toContain('Use the fields again');
});

test('a dashboard is made, filled from a query, ordered, renamed and deleted; a wrong panel fails alone', async () => {
  const { secret } = await createTestAccount(service.core);
  await client(service.url, secret)('POST', '/v1/metrics/ingest', { items: [{ name: 'jobs', value: 3 }] });
  const visitor = await signedIn(service.url, secret);
  const made = await sendForm(visitor, '/console/metrics/dashboards', 'create', { name: 'Shop <b>' });
  expect(made.status).toBe(303);
  const { pathname: path } = new URL(String(made.location), `${service.url}/console/metrics/dashboards`);
  const explorer = await visitor.get('/console/metrics?metric=jobs');
  expect(explorer.text).toContain(`${path}?new=1&amp;query=jobs`);
  const panels = async () => {
    const { text } = await visitor.get(path);
    const [, value = ''] = /name="panels" value="([^"]*)"/.exec(text) ?? [];
    return value.replaceAll('&quot;', '"');
  };
  const form = await visitor.get(`${path}?new=1&query=jobs`);
  expect(form.text).toMatch(/<textarea[^>]*name="query"[^>]*>\njobs<\/textarea>/);
  expect((await sendForm(visitor, path, 'add', { panels: '[]', title: 'Jobs', query: 'jobs', unit: '' })).status).toBe(
    303,
  );
  const added = { panels: await panels(), title: 'Wrong', query: 'sum(', unit: 'ms' };
  expect((await sendForm(visitor, path, 'add', added)).status).toBe(303);
  const shown = (await visitor.get(path)).text;
  expect(shown).toContain('Shop &lt;b&gt;');
  expect(shown.match(/<figure class="plot"/g)).toHaveLength(1);
  expect(shown.match(/<div class="failure">/g)).toHaveLength(1);
  const send = async (act: string, more = {}) => {
    const { text } = await visitor.get(path);
    const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
    const [, formKey = ''] = /name="form_key" value="([^"]+)"/.exec(text) ?? [];
    const fields = { form_token: formToken, form_key: formKey, act, panels: await panels(), ...more };
    expect((await visitor.post(path, fields)).status).toBe(303);
    return JSON.parse(await panels()).map(({ title }: { title: string }) => title);
  };
  expect(await send('up-1')).toEqual(['Wrong', 'Jobs']);
  expect(await send('change', { place: '0', title: 'Mended', query: 'jobs', unit: '' })).toEqual(['Mended', 'Jobs']);
  expect(await send('remove-1')).toEqual(['Mended']);
  expect((await sendForm(visitor, `${path}/settings`, 'update', { name: 'Shop' })).status).toBe(303);
  // By the name that it has now, or by its ID.
  const untyped = await sendForm(visitor, `${path}/delete`, 'delete', { typed: 'Jobs' });
  expect([untyped.status, untyped.text.includes('Type Shop to delete the dashboard')]).toEqual([400, true]);
  expect((await sendForm(visitor, `${path}/delete`, 'delete', { typed: 'Shop' })).status).toBe(303);
  expect((await visitor.get(path)).status).toBe(404);
});
