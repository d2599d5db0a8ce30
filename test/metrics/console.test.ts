// The explorer of the console: a query is drawn, its labels and values are read by people.
import { beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
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
