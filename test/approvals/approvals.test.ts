// Calls that wait for a person: what a rule asks about, and that an approved call runs once and nothing else does.
import { beforeAll, describe, expect, test } from 'vitest';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { approve, type Bound, boundAccount, personOf, waitingFor } from './harness.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

async function withQueue(usd?: number): Promise<Bound> {
  const bound = await boundAccount(service, usd);
  await bound.call('POST', '/v1/queue/create', { name: 'orders' });
  return bound;
}

async function messages({ call }: Bound): Promise<number> {
  return (await call('GET', '/v1/queue/stats/orders')).body.data.message_count;
}

describe('a call that a rule meets', () => {
  test('waits, costs nothing and does nothing; approved, it runs once', async () => {
    const bound = await withQueue();
    await bound.rule({ capabilities: ['queue.publish'] });
    const publish = () => bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: { n: 1 } });
    const first = await publish();
    const id = waitingFor(first);
    expect(first.body.metadata.cost_usd).toBe(0);
    expect(waitingFor(await publish())).toBe(id);
    expect(await messages(bound)).toBe(0);
    const waited = await bound.agent('GET', `/v1/account/approvals/wait/${id}`);
    expect(waited.body.data).toMatchObject({
      status: 'pending',
      capability: 'queue.publish',
      input: { queue: 'orders' },
    });
    expect(waited.body.data.cost_usd_max).toBeGreaterThan(0);
    await approve(bound.owner, id);
    const replies = await Promise.all([publish(), publish(), publish()]);
    const ran = replies.filter(({ status }) => status === 200);
    expect(ran.length).toBeGreaterThan(0);
    expect(await messages(bound)).toBe(1);
    const charged = ran.map(({ body }) => body.metadata.cost_usd).filter((cost) => cost > 0);
    expect(charged).toHaveLength(1);
    expect(waitingFor(await publish())).not.toBe(id);
    expect(await messages(bound)).toBe(1);
  });

  test('another input, another idempotency key and another key each ask for themselves', async () => {
    const bound = await withQueue();
    await bound.rule({ capabilities: ['queue'] });
    const publish = (n: unknown, key?: string) =>
      bound.agent(
        'POST',
        '/v1/queue/publish',
        `{"queue":"orders","payload":{"n":${n}}}`,
        key === undefined ? {} : { 'idempotency-key': key },
      );
    const ids = [
      waitingFor(await publish(1)),
      waitingFor(await publish(2)),
      waitingFor(await publish(1, 'a')),
      waitingFor(await publish(1, 'b')),
      waitingFor(await publish('12345678901234567890')),
      waitingFor(await publish('12345678901234567891')),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    // People see all digits.
    const { body } = await bound.agent('GET', `/v1/account/approvals/get/${ids[5]}`);
    expect(body.data.input.payload.n).toBe('12345678901234567891');
    await approve(bound.owner, ids[2] as string);
    waitingFor(await publish(1));
    waitingFor(await publish(1, 'b'));
    const once = await publish(1, 'a');
    expect(once.status).toBe(200);
    const again = await publish(1, 'a');
    expect(again.body).toMatchObject({ data: once.body.data, metadata: { idempotent_replay: true } });
    expect(await messages(bound)).toBe(1);
    // The first key is not bound.
    expect((await bound.call('POST', '/v1/queue/publish', { queue: 'orders', payload: {} })).status).toBe(200);
  });

  test('denied, it tells the words, and stays denied', async () => {
    const bound = await withQueue();
    await bound.rule({ capabilities: ['queue.delete'], reason_required: true });
    const remove = () => bound.agent('DELETE', '/v1/queue/delete/orders');
    const id = waitingFor(await remove());
    const deny = { approval_id: id, decision: 'deny' };
    expect((await bound.owner.call('account.approvals.decide', deny)).body.error).toMatchObject({ param: 'words' });
    const said = await bound.owner.call('account.approvals.decide', { ...deny, words: 'Orders are still open.' });
    expect(said.body.data).toMatchObject({ status: 'denied', words: 'Orders are still open.' });
    for (const reply of [await remove(), await remove()]) {
      expect(reply.body.error).toMatchObject({ code: 'APPROVAL_DENIED', code_detail: 'denied', retryable: false });
      expect(reply.body.error.message).toContain('Orders are still open.');
    }
    const twice = await bound.owner.call('account.approvals.decide', { ...deny, decision: 'approve', words: 'x' });
    expect(twice.body.error).toMatchObject({ code: 'STATE_CONFLICT', code_detail: 'denied' });
    expect((await bound.call('GET', '/v1/queue/get/orders')).status).toBe(200);
  });

  test('a failure does not use the approval up', async () => {
    const bound = await withQueue();
    await bound.rule({ capabilities: ['queue.create'] });
    const create = () => bound.agent('POST', '/v1/queue/create', { name: 'orders', max_retries: 7 });
    const id = waitingFor(await create());
    await approve(bound.owner, id);
    expect((await create()).body.error.code).toBe('ALREADY_EXISTS');
    await bound.call('DELETE', '/v1/queue/delete/orders');
    expect((await create()).status).toBe(200);
    expect((await bound.agent('GET', `/v1/account/approvals/get/${id}`)).body.data.status).toBe('used');
  });
});

test('a call that takes no idempotency key uses the approval up, unless it is refused', async () => {
  const bound = await withQueue();
  await bound.rule({ capabilities: ['queue.consume'] });
  const consume = () => bound.agent('POST', '/v1/queue/consume', { queue: 'notes' });
  await approve(bound.owner, waitingFor(await consume()));
  expect((await consume()).body.error.code).toBe('QUEUE_NOT_FOUND');
  await bound.call('POST', '/v1/queue/create', { name: 'notes' });
  const replies = await Promise.all([consume(), consume()]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 403]);
  waitingFor(await consume());
});

describe('rules', () => {
  test('about cost ask above it alone, and tell the most that the call may cost', async () => {
    const bound = await withQueue();
    const { body } = await bound.call('POST', '/v1/queue/publish', { queue: 'orders', payload: {} });
    const one = body.metadata.cost_usd;
    await bound.rule({ capabilities: ['*'], when: { cost_usd_above: one } });
    expect((await bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: {} })).status).toBe(200);
    const batch = () =>
      bound.agent('POST', '/v1/queue/batch/publish', { queue: 'orders', items: [{ payload: {} }, { payload: {} }] });
    const id = waitingFor(await batch());
    const { data } = (await bound.agent('GET', `/v1/account/approvals/get/${id}`)).body;
    expect(data).toMatchObject({ cost_usd_max: 2 * one, key_name: 'agent' });
    await approve(bound.owner, id);
    expect((await batch()).status).toBe(200);
    expect(await messages(bound)).toBe(4);
  });

  test('about the input ask for the inputs that they hold for', async () => {
    const bound = await withQueue();
    await bound.call('POST', '/v1/queue/create', { name: 'notes' });
    await bound.rule({ capabilities: ['queue'], when: { input: { '==': [{ var: 'queue' }, 'orders'] } } });
    expect((await bound.agent('POST', '/v1/queue/publish', { queue: 'notes', payload: {} })).status).toBe(200);
    waitingFor(await bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: {} }));
    waitingFor(await bound.agent('GET', '/v1/queue/get/orders'));
  });

  test('about the first use ask until the key has made such a call', async () => {
    const bound = await withQueue();
    await bound.rule({ capabilities: ['queue.publish'], when: { first_use_of_key: true } });
    const publish = (n: number) => bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: { n } });
    await approve(bound.owner, waitingFor(await publish(1)));
    expect((await publish(1)).status).toBe(200);
    expect((await publish(2)).status).toBe(200);
  });

  test('an approval for an hour lets such calls pass, up to its amount', async () => {
    const bound = await withQueue();
    const { body } = await bound.call('POST', '/v1/queue/publish', { queue: 'orders', payload: {} });
    const one = body.metadata.cost_usd;
    await bound.rule({ capabilities: ['queue.publish'] });
    const publish = (n: number) => bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: { n } });
    const id = waitingFor(await publish(1));
    const lasting = { approval_id: id, decision: 'approve', for: 'hour' };
    expect((await bound.owner.call('account.approvals.decide', lasting)).body.error).toMatchObject({
      param: 'up_to_usd',
    });
    await approve(bound.owner, id, { for: 'hour', up_to_usd: Number((3 * one).toFixed(9)) });
    const replies = await Promise.all([1, 2, 3, 4, 5].map(publish));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await messages(bound)).toBe(4);
  });

  test('bind keys, not people, and a bound key changes none and makes no way around', async () => {
    const bound = await withQueue();
    await bound.rule({ capabilities: ['queue'] });
    expect((await bound.owner.call('queue.get', { queue: 'orders' })).status).toBe(200);
    for (const [method, path, input] of [
      ['PUT', '/v1/account/approvals/rule/other', { capabilities: ['ai'] }],
      ['DELETE', '/v1/account/approvals/rule/asks', undefined],
    ] as const)
      expect((await bound.agent(method, path, input)).body.error).toMatchObject({ code_detail: 'bound_by_rule' });
    waitingFor(await bound.agent('POST', '/v1/account/keys/create', { name: 'free' }));
    const id = waitingFor(await bound.agent('POST', '/v1/account/email/bind', { email: 'me@example.org' }));
    const own = { approval_id: id, decision: 'approve' };
    const decided = await bound.agent('POST', '/v1/account/approvals/decide', own);
    expect(decided.body.error).toMatchObject({ code: 'INSUFFICIENT_SCOPE', code_detail: 'needs_person' });
  });

  test('hold at once, and no longer once they are gone', async () => {
    const bound = await withQueue();
    const publish = () => bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload: {} });
    expect((await publish()).status).toBe(200);
    await bound.rule({ capabilities: ['queue'] });
    const id = waitingFor(await publish());
    await bound.call('DELETE', '/v1/account/approvals/rule/asks');
    expect((await publish()).status).toBe(200);
    const list = async (status: string) =>
      (await bound.call('GET', `/v1/account/approvals/list?status=${status}`)).body.data.items;
    expect(await list('expired')).toMatchObject([{ approval_id: id, status: 'expired' }]);
    expect(await list('pending')).toEqual([]);
    expect(await messages(bound)).toBe(2);
  });
});

test('only those whom the rule names decide, as long as they act for the account', async () => {
  const bound = await withQueue();
  const viewer = await personOf(service, bound.account.accountId, 'viewer');
  await bound.rule({ capabilities: ['queue.delete'], approvers: [viewer.personId] });
  const id = waitingFor(await bound.agent('DELETE', '/v1/queue/delete/orders'));
  const refused = await bound.owner.call('account.approvals.decide', { approval_id: id, decision: 'approve' });
  expect(refused.body.error).toMatchObject({ code_detail: 'not_an_approver' });
  await approve(viewer, id);
  expect((await bound.agent('DELETE', '/v1/queue/delete/orders')).status).toBe(200);
});
