// Saved questions: one kind each, asked again as they were saved.
import { beforeAll, expect, test } from 'vitest';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

async function withAccount() {
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  const create = async (body: object) => (await call('POST', '/v1/analytics/question/create', body)).body;
  return { call, create };
}

const funnel = { steps: [{ event: 'signed_up' }, { event: 'plan_chosen' }] };

test('a question is kept with its input, listed by its kind, and what it kept can be asked', async () => {
  const { call, create } = await withAccount();
  const { data: made } = await create({ name: 'Sign-up to plan', funnel, days: 30 });
  expect(made).toMatchObject({ name: 'Sign-up to plan', funnel, days: 30 });
  const { items } = (await call('GET', '/v1/analytics/question/list')).body.data;
  expect(items).toEqual([expect.objectContaining({ question_id: made.question_id, kind: 'funnel' })]);
  const kept = (await call('GET', `/v1/analytics/question/get/${made.question_id}`)).body.data;
  expect(kept).toEqual(made);
  expect((await call('POST', '/v1/analytics/funnel', kept.funnel)).body.ok).toBe(true);
});

test.each([
  ['no kind', {}],
  ['two kinds', { funnel, trends: {} }],
])('a question of %s is refused', async (_, sent) => {
  const { create } = await withAccount();
  expect((await create({ name: 'Wrong', ...sent })).error).toMatchObject({ code: 'INVALID_REQUEST', param: 'trends' });
});

test('a change that would make two kinds of it is refused', async () => {
  const { call, create } = await withAccount();
  const { data: made } = await create({ name: 'Funnel', funnel });
  const update = `/v1/analytics/question/update/${made.question_id}`;
  expect((await call('PATCH', update, { trends: {} })).body.error.code).toBe('INVALID_REQUEST');
  expect((await call('PATCH', update, { days: 14 })).body.data).toMatchObject({ funnel, days: 14 });
});

test('a question is refused for what its operation would refuse', async () => {
  const { create } = await withAccount();
  const { error } = await create({ name: 'One step', funnel: { steps: [{ event: 'signed_up' }] } });
  expect([error.code, error.param ?? error.errors?.[0]?.param]).toEqual(['VALIDATION_FAILED', 'funnel.steps']);
});
