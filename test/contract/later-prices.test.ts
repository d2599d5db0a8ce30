// What is charged later stands where it is caused: nothing that costs money is shown as free.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publicDocuments } from '../../src/surfaces/documents/documents.ts';
import { byId, capabilities, manifest, outputFaults } from '../support/capabilities.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const baseUrl = 'https://quartermaster.example';
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { ROLES: 'web,render' } });
});
afterAll(() => service.stop());

test('every entry of the price book stands with the capability that is charged or that causes the charge', () => {
  const named = capabilities.flatMap(({ price, laterPrices = [] }) => [
    ...(price === 'free' ? [] : [price]),
    ...laterPrices,
  ]);
  expect([...new Set(named)].sort()).toEqual(Object.keys(manifest.prices.prices).sort());
});

test('tokens are priced by the million, and what a batch has made by what is charged for it', () => {
  const text = publicDocuments(manifest, { baseUrl }).get('/llms/ai.txt')?.render() ?? '';
  const line = (id: string) => text.split('\n').find((each) => each.includes(`[${id}]`));
  expect(line('ai.chat')).toContain('(0.01 USD per million tokens;');
  expect(line('ai.batch.create')).toContain('(0.01 USD per million tokens, as ai.chat and ai.embed;');
});

test.each(['cron.create', 'cron.update', 'cron.resume'])('%s shows the price of a run on every surface', async (id) => {
  const documents = publicDocuments(manifest, { baseUrl });
  const text = (path: string) => documents.get(path)?.render() ?? '';
  const words = 'free; each run 0.00002 USD';
  expect(
    text('/llms/cron.txt')
      .split('\n')
      .find((line) => line.includes(`[${id}]`)),
  ).toContain(`(${words}; cron:write; key)`);
  expect(text(`/docs/capabilities/${id}`)).toContain(`<dd>${words}</dd>`);
  expect(text('/docs/modules/cron')).toContain(words);
  const operations = Object.values(JSON.parse(text('/v1/openapi.json')).paths).flatMap((path) =>
    Object.values(path as object),
  );
  expect(operations.find((one) => one['x-svc-capability'] === id).description).toContain(`Price: ${words}.`);
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  const later = [{ capability: 'cron.run', unit: 'run', price_usd: 0.00002 }];
  const detail = (await call('GET', `/v1/discovery/${id}`)).body.data;
  expect(detail).toMatchObject({ billable: false, pricing: { unit: 'call', price_usd: 0, later } });
  expect(outputFaults(byId('discovery.capability'), detail)).toBe('');
  const listing = (await call('GET', '/v1/discovery')).body.data;
  expect(outputFaults(byId('discovery'), listing)).toBe('');
  expect(listing.capabilities.find((one: { id: string }) => one.id === id).pricing.later).toEqual(later);
});
