// Approvals: what waits, what was decided or expired, and rules; for who may decide, and for who may not. The page of the mailed link too.
import { linkOf } from '../../../src/approvals/link.ts';
import { HOUR_MS } from '../../../src/lib/time.ts';
import { approve, boundAccount, personOf, waitingFor } from '../../approvals/harness.ts';
import { act, type Scene, type State, sessionOf } from './state.ts';

const UNKNOWN = 'apr_1111111111111111111111';
const MINUTES = 10;

export async function approvalStates({ service, mark }: Scene): Promise<readonly State[]> {
  const bound = await boundAccount(service);
  const { account, owner, call, agent } = bound;
  await call('POST', '/v1/queue/create', { name: 'orders' });
  await agent('GET', '/v1/queue/get/orders');
  const asked = async (n: number) =>
    waitingFor(await agent('POST', '/v1/queue/publish', { queue: 'orders', payload: { n, text: mark } }));
  const rule = (name: string, fields: object) =>
    call('PUT', `/v1/account/approvals/rule/${name}`, { keys: [bound.keyId], ...fields });
  await rule('messages', { capabilities: ['queue.publish'] });
  await rule('deletes', { capabilities: ['queue.delete'], reason_required: true });
  const [pending, approved, denied, lasting] = [await asked(1), await asked(2), await asked(3), await asked(4)];
  const withReason = waitingFor(await agent('DELETE', '/v1/queue/delete/orders'));
  await approve(owner, approved, { words: 'The first ten may go.' });
  await owner.call('account.approvals.decide', { approval_id: denied, decision: 'deny', words: mark });
  const expired = await expiredOne(rule, agent);
  await approve(owner, lasting, { for: 'day', up_to_usd: 2.5 });
  const viewer = await personOf(service, account.accountId, 'viewer');
  const byKey = await sessionOf(service, account);
  const used = await usedOne(bound);
  const at = (name: string, path: string, rest: Partial<State> = {}): State => ({
    name: `approvals-${name}`,
    path: `/console/approvals${path}`,
    by: owner.token,
    ...rest,
  });
  const one = `/${pending}`;
  const { accountId } = account;
  const link = (approvalId: string, { personId } = owner) =>
    new URL(linkOf(service.core, { accountId, approvalId, personId, endsAtMs: Date.now() + HOUR_MS })).pathname;
  const byLink = (name: string, path: string, rest: Partial<State> = {}): State => ({
    name: `approve-link-${name}`,
    path,
    by: null,
    ...rest,
  });
  const amount = { for: 'hour', up_to_usd: 'much' };
  return [
    at('waiting', '', { says: 'waits' }),
    at('decided', '?view=decided', { says: 'approved' }),
    at('unreadable', '?view=decided&cursor=none', { says: 'INVALID_CURSOR' }),
    at('pending', one, { says: 'wants to call' }),
    at('pending-key', one, { by: byKey, says: 'Only a person decides' }),
    at('pending-viewer', one, { by: viewer.token, says: 'decided by the owners' }),
    at('refused-amount', one, { status: 400, form: act('approve', amount), says: 'up_to_usd' }),
    at('refused-words', `/${withReason}`, { status: 400, form: act('deny', { words: '' }), says: 'say why' }),
    at('approved', `/${approved}`, { says: 'The first ten may go.' }),
    at('lasting', `/${lasting}`, { says: 'more, together' }),
    at('denied', `/${denied}`, { says: 'may not call' }),
    at('used', `/${used}`, { says: 'approved, used' }),
    at('expired', `/${expired}`, { says: 'Nobody decided in time' }),
    at('missing', `/${UNKNOWN}`, { status: 404 }),
    at('rules', '/rules', { says: 'deletes' }),
    at('rules-viewer', '/rules', { by: viewer.token }),
    at('new-rule', '/rules?new=1', { says: 'Who approves' }),
    at('refused-rule', '/rules?new=1', {
      status: 400,
      form: act('create', { name: 'x', capabilities: 'queue.deletes', 'when.input': '{' }),
      says: 'The condition must be JSON',
    }),
    at('rule', '/rules/deletes', { says: 'Save' }),
    at('rule-viewer', '/rules/deletes', { by: viewer.token, says: 'Time to decide' }),
    at('rule-delete', '/rules/deletes/delete', { says: 'run without asking' }),
    byLink('pending', link(pending), { says: 'wants to call' }),
    byLink('words', link(withReason), { status: 400, form: denial({ words: '' }), says: 'say why' }),
    byLink('not-mine', link(pending, viewer), { says: 'no longer decide' }),
    byLink('approved', link(approved), { says: 'You approved it' }),
    byLink('denied', link(denied), { says: 'You denied it' }),
    byLink('used', link(used), { says: 'The call has run' }),
    byLink('expired', link(expired), { says: 'Nobody decided in time' }),
    byLink('gone', link(UNKNOWN), { status: 404, says: '90 days' }),
    byLink('wrong', '/approve/none', { status: 404, says: 'does not work' }),
  ];
}

const denial = (fields: Readonly<Record<string, string>>) => ({ has: 'input[name=decision][value=deny]', fields });

/** A call of a rule that was changed since. */
async function expiredOne(
  rule: (name: string, fields: object) => Promise<unknown>,
  agent: Awaited<ReturnType<typeof boundAccount>>['agent'],
): Promise<string> {
  const capabilities = ['queue.update'];
  await rule('changes', { capabilities });
  const id = waitingFor(await agent('PATCH', '/v1/queue/update/orders', { max_retries: 3 }));
  await rule('changes', { capabilities, expires_seconds: MINUTES * 60 });
  return id;
}

async function usedOne({ owner, agent }: Awaited<ReturnType<typeof boundAccount>>): Promise<string> {
  const change = () => agent('PATCH', '/v1/queue/update/orders', { max_retries: 4 });
  const id = waitingFor(await change());
  await approve(owner, id);
  await change();
  return id;
}
