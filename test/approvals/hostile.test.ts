// What tries to get around approvals, and what asks without end.
import { beforeAll, expect, test } from 'vitest';
import { RULES_MAX } from '../../src/approvals/rules.ts';
import { PENDING_MAX } from '../../src/approvals/store.ts';
import { secretCredential } from '../../src/core/credentials/credential.ts';
import { cannotApprove } from '../../src/people/devices/approve.ts';
import { removePerson } from '../../src/people/remove-person.ts';
import { client, startTestService } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { approve, type Bound, boundAccount, personOf, waitingFor } from './harness.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const publishIn = (queue: string) => (bound: Bound, n: number) =>
  bound.agent('POST', '/v1/queue/publish', { queue, payload: { n } });
const publish = publishIn('orders');

async function askedAbout(capability: string): Promise<Bound> {
  const bound = await boundAccount(service);
  await bound.call('POST', '/v1/queue/create', { name: 'orders' });
  await bound.rule({ capabilities: [capability] });
  return bound;
}

test('so many calls wait at once, and repeats of one are one', async () => {
  const bound = await askedAbout('queue.publish');
  const first = await publish(bound, 0);
  const repeats = await Promise.all(Array.from({ length: 20 }, () => publish(bound, 0)));
  expect(new Set(repeats.map(waitingFor))).toEqual(new Set([waitingFor(first)]));
  for (let n = 1; n < PENDING_MAX; n += 1) waitingFor(await publish(bound, n));
  const { error } = (await publish(bound, PENDING_MAX)).body;
  expect(error).toMatchObject({ code: 'APPROVAL_REQUIRED', code_detail: 'too_many_pending', retryable: true });
  expect(error.approval).toBeUndefined();
  // What waited before still can be decided.
  await approve(bound.owner, waitingFor(first));
  expect((await publish(bound, 0)).status).toBe(200);
});

test('a repeat while the call waits reads, and writes nothing', async () => {
  const bound = await askedAbout('queue.publish');
  waitingFor(await publish(bound, 0));
  const rows = async () => {
    const read = { name: 'test_rows', text: 'SELECT count(*)::int AS rows FROM core.approval WHERE account_id = $1' };
    const mails = { name: 'test_mails', text: 'SELECT count(*)::int AS rows FROM core.mail WHERE account_id = $1' };
    const found = await Promise.all(
      [read, mails].map((each) => service.core.db.query<{ rows: number }>(each, [bound.account.accountId])),
    );
    return found.map(({ rows: [row] }) => row?.rows);
  };
  expect(await rows()).toEqual([1, 1]);
  for (let n = 0; n < 100; n += 1) waitingFor(await publish(bound, 0));
  expect(await rows()).toEqual([1, 1]);
});

test('a revoked key runs nothing that was approved for it', async () => {
  const bound = await askedAbout('queue.publish');
  await approve(bound.owner, waitingFor(await publish(bound, 1)));
  await bound.call('DELETE', `/v1/account/keys/revoke/${bound.keyId}`);
  expect((await publish(bound, 1)).body.error.code).toBe('INVALID_API_KEY');
});

test('a person who was removed decides nothing', async () => {
  const bound = await askedAbout('queue.publish');
  const second = await personOf(service, bound.account.accountId, 'owner');
  const id = waitingFor(await publish(bound, 1));
  const { accountId } = bound.account;
  await service.core.db.transaction((tx) => removePerson(tx, accountId, second.personId));
  const decided = await second.call('account.approvals.decide', { approval_id: id, decision: 'approve' });
  expect(decided.body.error.code).toBe('UNAUTHORIZED');
  waitingFor(await publish(bound, 1));
});

test('an approval of one account is nothing to another, nor to keys that may not read the account', async () => {
  const bound = await askedAbout('queue.publish');
  const id = waitingFor(await publish(bound, 1));
  const other = await boundAccount(service);
  expect((await other.call('GET', `/v1/account/approvals/get/${id}`)).body.error.code).toBe('NOT_FOUND');
  const decided = await other.owner.call('account.approvals.decide', { approval_id: id, decision: 'approve' });
  expect(decided.body.error.code).toBe('NOT_FOUND');
  const { body } = await bound.call('POST', '/v1/account/keys/create', { name: 'narrow', scopes: ['queue'] });
  const narrow = client(service.url, body.data.secret);
  expect((await narrow('GET', `/v1/account/approvals/get/${id}`)).body.error.code).toBe('NOT_FOUND');
  expect((await narrow('GET', '/v1/account/approvals/list')).body.data.items).toEqual([]);
});

test('a key of an account with rules connects no device, and goes by no other name', async () => {
  const bound = await askedAbout('account.keys');
  const principal = await secretCredential(bound.secret).find(service.core);
  if (typeof principal === 'string') throw new Error(principal);
  expect(cannotApprove(principal)).toContain('Sign in as a person');
  waitingFor(await bound.agent('POST', '/v1/account/keys/create', { name: 'free' }));
  // A key that gets another secret is the same key.
  const { body } = await bound.call('POST', `/v1/account/keys/rotate/${bound.keyId}`, {});
  const rotated = client(service.url, body.data.secret);
  waitingFor(await rotated('POST', '/v1/account/keys/create', { name: 'free' }));
});

test.each([
  ['capabilities[1]', { capabilities: ['queue', 'quue.publish'] }],
  ['keys[0]', { capabilities: ['queue'], keys: ['key_1111111111111111111111'] }],
  ['approvers[0]', { capabilities: ['queue'], approvers: ['pers_1111111111111111111111'] }],
  [
    'when.input',
    {
      capabilities: ['queue'],
      when: { input: { map: [{ var: 'a' }, { map: [{ var: 'b' }, { cat: ['x', { var: 'c' }] }] }] } },
    },
  ],
  ['when.cost_usd_above', { capabilities: ['queue'], when: { cost_usd_above: 0.0000000001 } }],
  ['expires_seconds', { capabilities: ['queue'], expires_seconds: 59 }],
  ['name', { name: 'A Rule', capabilities: ['queue'] }],
])('a rule with a wrong %s is refused by its name', async (param, { name = 'x', ...rule }: Record<string, unknown>) => {
  const { call } = await boundAccount(service);
  const reply = await call('PUT', `/v1/account/approvals/rule/${encodeURIComponent(String(name))}`, rule);
  expect(reply.body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: expect.stringContaining(param) });
  expect((await call('GET', '/v1/account/approvals/rules')).body.data.items).toEqual([]);
});

test('an account has so many rules', async () => {
  const { call } = await boundAccount(service);
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'second', scopes: ['queue'] });
  const keys = [body.data.key_id];
  for (let n = 0; n < RULES_MAX; n += 1)
    expect((await call('PUT', `/v1/account/approvals/rule/rule-${n}`, { capabilities: ['ai'], keys })).status).toBe(
      200,
    );
  const more = await call('PUT', '/v1/account/approvals/rule/more', { capabilities: ['ai'], keys });
  expect(more.body.error.code).toBe('QUOTA_EXCEEDED');
});

test('time ends what waits, what was approved, and what was denied', async () => {
  // own service: its clock is moved.
  const own = await startTestService();
  try {
    const bound = await boundAccount(own);
    await bound.call('POST', '/v1/queue/create', { name: 'orders' });
    await bound.rule({ capabilities: ['queue.publish'], expires_seconds: 60 });
    const undecided = waitingFor(await publish(bound, 1));
    await approve(bound.owner, waitingFor(await publish(bound, 2)));
    await bound.owner.call('account.approvals.decide', {
      approval_id: waitingFor(await publish(bound, 3)),
      decision: 'deny',
    });
    await own.advance(61);
    for (const n of [1, 2])
      expect((await publish(bound, n)).body.error).toMatchObject({ code: 'APPROVAL_DENIED', code_detail: 'expired' });
    expect((await publish(bound, 3)).body.error).toMatchObject({ code: 'APPROVAL_DENIED', code_detail: 'denied' });
    expect((await bound.agent('GET', `/v1/account/approvals/wait/${undecided}?wait_seconds=55`)).body.data.status).toBe(
      'expired',
    );
    const late = await bound.owner.call('account.approvals.decide', { approval_id: undecided, decision: 'approve' });
    expect(late.body.error).toMatchObject({ code: expect.stringMatching(/STATE_CONFLICT|REAUTHENTICATION_REQUIRED/) });
    await own.advance(86_400);
    for (const n of [1, 2, 3]) expect(waitingFor(await publish(bound, n))).not.toBe(undecided);
  } finally {
    await own.stop();
  }
});
