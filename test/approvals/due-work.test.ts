// Work that nobody waits for: a scheduled run waits for its approval, and then runs once. And an agent that knows nothing but what the error says.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, startTestService, type TestService } from '../support/service.ts';
import { approve, boundAccount } from './harness.ts';

let service: TestService;
beforeAll(async () => {
  // own service: its clock is moved.
  service = await startTestService();
});
afterAll(() => service.stop());

test('a scheduled run waits until a person has decided, and fails with what they say', async () => {
  const bound = await boundAccount(service);
  await bound.call('POST', '/v1/queue/create', { name: 'orders' });
  await bound.rule({ capabilities: ['queue.publish'] });
  const made = await bound.agent('POST', '/v1/cron/create', {
    cron_expr: '0 0 1 1 *',
    target: { capability: 'queue.publish', input: { queue: 'orders', payload: { n: 1 } } },
  });
  expect(made.body).toMatchObject({ ok: true });
  const { job_id: job } = made.body.data;
  const runOnce = async (decision: object) => {
    await bound.call('POST', `/v1/cron/run/${job}`, {});
    const waiting = async () => (await bound.call('GET', '/v1/account/approvals/list?status=pending')).body.data.items;
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    const [{ approval_id: id, capability }] = await waiting();
    expect(capability).toBe('queue.publish');
    const last = async () => (await bound.call('GET', `/v1/cron/runs/${job}`)).body.data.items[0];
    expect((await last()).status).toBe('running');
    await bound.owner.call('account.approvals.decide', { approval_id: id, ...decision });
    await service.advance(15);
    await expect.poll(async () => (await last()).status, { timeout: 20_000 }).not.toBe('running');
    return last();
  };
  const messages = async () => (await bound.call('GET', '/v1/queue/stats/orders')).body.data.message_count;
  expect(await runOnce({ decision: 'approve' })).toMatchObject({ status: 'succeeded', attempt: 1 });
  expect(await messages()).toBe(1);
  expect(await runOnce({ decision: 'deny' })).toMatchObject({ status: 'failed', error_code: 'APPROVAL_DENIED' });
  expect(await messages()).toBe(1);
});

test('an agent that knows address and key alone gets its task done by what the error says', async () => {
  const bound = await boundAccount(service);
  await bound.call('POST', '/v1/queue/create', { name: 'orders' });
  await bound.rule({ capabilities: ['queue.publish'] });
  let calls = 0;
  const get = async (url: string) => {
    calls += 1;
    const { origin, pathname, search } = new URL(url);
    return client(origin, bound.secret)('GET', pathname + search);
  };
  const publish = () => {
    calls += 1;
    return bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: { n: 1 } });
  };
  const { message } = (await publish()).body.error;
  const [, url = ''] = /GET (\S+?),/.exec(message) ?? [];
  const waited = get(url);
  const [{ approval_id: id }] = (await bound.call('GET', '/v1/account/approvals/list?status=pending')).body.data.items;
  await approve(bound.owner, id);
  expect((await waited).body.data.status).toBe('approved');
  expect((await publish()).status).toBe(200);
  // The call, its repeat, and one to wait.
  expect(calls).toBe(3);
});
