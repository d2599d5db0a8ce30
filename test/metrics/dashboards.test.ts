// Dashboards: kept by name, changed field by field, of their account alone.
import { beforeAll, expect, test } from 'vitest';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const panels = [
  { title: 'Jobs that wait', query: 'sum by (queue) (jobs_waiting)' },
  { title: 'Load', query: 'load', unit: 'ms' },
];

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

async function withAccount() {
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  const create = async (body: object) => (await call('POST', '/v1/metrics/dashboard/create', body)).body;
  return { call, create };
}

test('a dashboard is kept, listed without its panels, changed by what is sent, and deleted', async () => {
  const { call, create } = await withAccount();
  const { data: made } = await create({ name: 'Shop', panels });
  expect(made).toMatchObject({ dashboard_id: expect.stringMatching(/^dash_/), name: 'Shop', panels });
  const path = (act: string) => `/v1/metrics/dashboard/${act}/${made.dashboard_id}`;
  expect((await call('GET', path('get'))).body.data).toEqual(made);
  const { items } = (await call('GET', '/v1/metrics/dashboard/list')).body.data;
  expect(items).toEqual([expect.objectContaining({ name: 'Shop', panel_count: 2 })]);
  expect(items[0]).not.toHaveProperty('panels');
  const renamed = (await call('PATCH', path('update'), { name: 'Shop, all' })).body.data;
  expect(renamed).toMatchObject({ name: 'Shop, all', panels });
  const fewer = (await call('PATCH', path('update'), { panels: panels.slice(1) })).body.data;
  expect(fewer).toMatchObject({ name: 'Shop, all', panels: panels.slice(1) });
  expect((await call('DELETE', path('delete'))).body.data).toMatchObject({ deleted: true });
  expect((await call('GET', path('get'))).body.error).toMatchObject({ code: 'NOT_FOUND', param: 'dashboard_id' });
});

test('of two dashboards of an account no name is the same; other accounts may use it', async () => {
  const [own, other] = [await withAccount(), await withAccount()];
  await own.create({ name: 'Shop', panels: [] });
  const { data: second } = await own.create({ name: 'Mail', panels: [] });
  expect((await own.create({ name: 'Shop', panels: [] })).error).toMatchObject({
    code: 'ALREADY_EXISTS',
    param: 'name',
  });
  const update = `/v1/metrics/dashboard/update/${second.dashboard_id}`;
  expect((await own.call('PATCH', update, { name: 'Shop' })).body.error.code).toBe('ALREADY_EXISTS');
  expect((await own.call('PATCH', update, { name: 'Mail' })).body.ok).toBe(true);
  expect((await other.create({ name: 'Shop', panels: [] })).ok).toBe(true);
  expect((await other.call('PATCH', update, { name: 'Taken' })).body.error.code).toBe('NOT_FOUND');
});

test.each([
  ['21 panels', { panels: Array.from({ length: 21 }, () => panels[0]) }, 'panels'],
  ['a query of 2,001 characters', { panels: [{ title: 'Long', query: 'x'.repeat(2_001) }] }, 'panels[0].query'],
  ['a title of two lines', { panels: [{ title: 'a\nb', query: 'x' }] }, 'panels[0].title'],
  ['a name of 101 characters', { name: 'x'.repeat(101), panels: [] }, 'name'],
  ['no panels', {}, 'panels'],
])('%s is refused by the name of its field', async (_, sent, param) => {
  const { create } = await withAccount();
  const { error } = await create({ name: 'Shop', ...sent });
  expect([error.code, error.param ?? error.errors?.[0]?.param]).toEqual(['VALIDATION_FAILED', param]);
});

test('beyond the limit of the tier no dashboard is saved', async () => {
  const { create } = await withAccount();
  for (let i = 0; i < 50; i++) expect((await create({ name: `Board ${i}`, panels: [] })).ok).toBe(true);
  expect((await create({ name: 'One more', panels: [] })).error.code).toBe('QUOTA_EXCEEDED');
});
