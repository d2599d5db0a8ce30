// The page of logs: attributes are filtered by the address, under the names of the API and the one that the filter had.
import { beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

test('an attribute leads to its records, and can be taken out again', async () => {
  const { secret } = await createTestAccount(service.core);
  const items = ['eu', 'us'].map((zone) => ({ message: `from ${zone}`, attributes: { 'net.zone': zone } }));
  expect((await client(service.url, secret)('POST', '/v1/logs/ingest', { items })).status).toBe(200);
  const visitor = await signedIn(service.url, secret);
  const all = (await visitor.get('/console/logs')).text;
  expect(all).toContain('href="./logs?filter.net.zone=eu"');
  expect(all).toContain('from us');
  for (const name of ['filter.net.zone', 'attributes.net.zone']) {
    const { text } = await visitor.get(`/console/logs?${name}=eu`);
    expect(text).toContain('from eu');
    expect(text).not.toContain('from us');
    expect(text).toContain('<code>net.zone eu</code> <a href="./logs">Remove');
  }
});

test('the page is live until it is paused, and levels, services and attributes are fields that narrow it', async () => {
  const { secret } = await createTestAccount(service.core);
  const items = [
    { level: 'error', service: 'shop', message: 'declined', attributes: { zone: 'eu' } },
    { level: 'info', service: 'mail', message: 'sent', attributes: { zone: 'us' } },
  ];
  expect((await client(service.url, secret)('POST', '/v1/logs/ingest', { items })).status).toBe(200);
  const visitor = await signedIn(service.url, secret);
  const live = (await visitor.get('/console/logs')).text;
  expect(live).toMatch(/data-again="5"|data-again=5/);
  const pause = /href="\.\/(logs\?to=[^"]+)">Pause/.exec(live)?.[1] ?? '';
  const paused = (await visitor.get(`/console/${pause}`)).text;
  expect(paused).not.toMatch(/data-again/);
  expect(paused).toContain('href="./logs">Resume');
  const fields = /<summary>Fields<\/summary>[\s\S]*?<\/dl>/.exec(live)?.[0] ?? '';
  for (const link of ['level=error', 'service=shop', 'filter.zone=eu'])
    expect(fields).toContain(`href="./logs?${link}"`);
  const narrowed = (await visitor.get('/console/logs?service=shop&level=warn')).text;
  expect(narrowed).toContain('<code>service shop</code> <a href="./logs?level=warn">Remove');
  expect(narrowed).toContain('<code>level warn and above</code> <a href="./logs?service=shop">Remove');
});

test('times are picked in the zone of the reader, and what is around a record is of its service', async () => {
  const { secret } = await createTestAccount(service.core);
  const at = (seconds: number) => new Date(Date.now() - 3_600_000 + seconds * 1_000).toISOString();
  const middle = at(60);
  const items = [
    { service: 'shop', message: 'before it', timestamp: at(0) },
    { service: 'shop', message: 'the record', timestamp: middle },
    { service: 'mail', message: 'of another service', timestamp: middle },
    { service: 'shop', message: 'after it', timestamp: at(120) },
  ];
  expect((await client(service.url, secret)('POST', '/v1/logs/ingest', { items })).status).toBe(200);
  const visitor = await signedIn(service.url, secret);
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const later = (await visitor.get(`/console/logs?from=${day}T10:30`)).text;
  expect(later).toContain(`<input type="datetime-local" name="from" value="${day}T10:30">`);
  expect(later).not.toContain('before it');
  const { text } = await visitor.get(`/console/logs?around=${encodeURIComponent(middle)}&service=shop`);
  for (const message of ['before it', 'the record', 'after it']) expect(text).toContain(message);
  expect(text).not.toContain('of another service');
  expect(text.match(/>this record</g)).toHaveLength(1);
});
