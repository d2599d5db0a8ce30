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
