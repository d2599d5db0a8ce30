// Tenant-isolation fixture of keys, webhooks, top-ups, payment methods and requests, for the contract tests: creates them, and
// lists calls of another account that name them.
import { insertApproval, type NewApproval } from '../../approvals/store.ts';
import type { TenantFixture } from '../../kit/tenant-fixture.ts';
import { newId } from '../../lib/ids.ts';
import { DAY_MS } from '../../lib/time.ts';

const receiver = { name: 'builds', verify: { scheme: 'none' }, to: { channel: 'builds' } };
const target = { url: 'https://example.org/hooks', events: ['wallet.expired'] };

function approvalOf(keyId: string, callHash: string): NewApproval {
  const nowMs = Date.now();
  return {
    approval_id: newId('apr_'),
    rule_name: 'deletes',
    key_id: keyId,
    capability: 'queue.delete',
    call_hash: callHash,
    input: '{"queue":"orders"}',
    cost_nanos: 0n,
    approvers: null,
    reason_required: false,
    request_id: newId('req_'),
    created_at: nowMs,
    expires_at: nowMs + DAY_MS,
  };
}

export const tenants: TenantFixture = {
  first: 'account.webhooks.register',
  nobody: {
    key: 'key_1111111111111111111111',
    webhook: 'wh_1111111111111111111111',
    delivery: 'whd_1111111111111111111111',
    project: 'proj_1111111111111111111111',
    topup: 'top_1111111111111111111111',
    method: 'pm_1111111111111111111111',
    request: 'req_1111111111111111111111',
    receiver: 'whr_1111111111111111111111',
    received: 'whq_1111111111111111111111',
    approval: 'apr_1111111111111111111111',
  },
  async fill({ act, leaveCard, accountId, db }) {
    const key = await act('account.keys.create', { name: 'second', idempotency_key: 'shared' });
    const register = () => act('account.webhooks.register', target);
    const [webhook] = [await register(), await register()];
    const deliver = () => act('account.webhooks.test', { webhook_id: webhook.webhook_id });
    const [delivery] = [await deliver(), await deliver()];
    const receive = () => act('account.webhooks.receive.create', receiver);
    const [{ receiver_id }] = [await receive(), await receive()];
    const sample = () => act('account.webhooks.receive.test', { receiver_id });
    const [received] = [await sample(), await sample()];
    const [topup] = [await act('account.topup', {}), await act('account.topup', {})];
    await leaveCard((await act('account.payment_method.attach', {})).checkout_url);
    await leaveCard((await act('account.payment_method.attach', {})).checkout_url);
    for (const name of ['deletes', 'payments'])
      await act('account.approvals.rule.set', { name, capabilities: ['queue.delete'], keys: [key.key_id] });
    // They come of calls that are refused.
    const approvals = ['one', 'two'].map((callHash) => approvalOf(key.key_id, callHash));
    for (const row of approvals) await db.transaction((tx) => insertApproval(tx, accountId, row));
    const { items: methods } = await act('account.payment_method.list', {});
    const { items: requests } = await act('account.requests.list', { audit: true });
    return {
      request: requests[0].request_id,
      method: methods[1].payment_method_id,
      topup: topup.topup_id,
      key: key.key_id,
      webhook: webhook.webhook_id,
      delivery: delivery.delivery_id,
      project: key.project_id,
      receiver: receiver_id,
      received: received.request_id,
      approval: approvals[0]?.approval_id ?? '',
    };
  },
  async fillOther({ act }) {
    const { receiver_id } = await act('account.webhooks.receive.create', receiver);
    return { webhook: (await act('account.webhooks.register', target)).webhook_id, receiver: receiver_id };
  },
  aims: {
    'account.approvals.decide': [],
    'account.approvals.get': [(names) => ({ approval_id: names.approval })],
    'account.approvals.wait': [(names) => ({ approval_id: names.approval })],
    'account.approvals.rule.set': [(names) => ({ name: 'asks', capabilities: ['queue'], keys: [names.key] })],
    'account.approvals.rule.delete': [],
    'account.autorecharge.configure': [
      (names) => ({ trigger_balance: 1, recharge_amount: 5, payment_method_id: names.method }),
      (names) => ({ trigger_balance: 1, recharge_amount: 5, payment_method_id: names.method, enabled: false }),
    ],
    'account.update': [],
    'account.delete': [],
    'account.email.bind': [],
    'account.email.verify': [],
    'account.keys.create': [(names) => ({ project_id: names.project })],
    'account.keys.revoke': [(names) => ({ key_id: names.key })],
    'account.keys.rotate': [(names) => ({ key_id: names.key }), (names) => ({ key_id: names.key, grace_hours: 0 })],
    'account.keys.suspected_compromise': [
      (names) => ({ key_id: names.key, confirmed_leak: true }),
      (names) => ({ key_id: names.key }),
    ],
    'account.keys.update': [
      (names) => ({ key_id: names.key, name: 'taken' }),
      (names) => ({ key_id: names.key, scopes: ['queue'] }),
    ],
    'account.payment_method.attach': [],
    'account.payment_method.set_default': [(names) => ({ payment_method_id: names.method })],
    'account.payment_method.delete': [(names) => ({ payment_method_id: names.method })],
    'account.routing.set': [],
    'account.routing.test': [],
    'account.tier.upgrade': [],
    'account.topup': [],
    'account.topup.get': [(names) => ({ topup_id: names.topup })],
    'account.usage': [(names) => ({ key_id: names.key })],
    'account.usage.timeseries': [(names) => ({ key_id: names.key })],
    'account.ledger.list': [(names) => ({ key_id: names.key })],
    'account.events.list': [],
    'account.requests.list': [(names) => ({ trace_id: names.request, outcome: 'all' })],
    'account.search': [
      (names) => ({ q: names.key }),
      (names) => ({ q: names.webhook }),
      (names) => ({ q: names.request }),
    ],
    'account.requests.get': [(names) => ({ request_id: names.request })],
    'account.webhooks.register': [],
    'account.webhooks.get': [(names) => ({ webhook_id: names.webhook })],
    'account.webhooks.update': [
      (names) => ({ webhook_id: names.webhook, description: 'taken' }),
      (names) => ({ webhook_id: names.webhook, secret: null, status: 'disabled' }),
    ],
    'account.webhooks.delete': [(names) => ({ webhook_id: names.webhook })],
    'account.webhooks.deliveries': [(names) => ({ webhook_id: names.webhook })],
    'account.webhooks.test': [(names) => ({ webhook_id: names.webhook })],
    'account.webhooks.receive.create': [],
    'account.webhooks.receive.get': [(names) => ({ receiver_id: names.receiver })],
    'account.webhooks.receive.update': [
      (names) => ({ receiver_id: names.receiver, name: 'taken' }),
      (names) => ({ receiver_id: names.receiver, state: 'disabled', new_url: true }),
    ],
    'account.webhooks.receive.delete': [(names) => ({ receiver_id: names.receiver })],
    'account.webhooks.receive.requests': [(names) => ({ receiver_id: names.receiver })],
    'account.webhooks.receive.test': [(names) => ({ receiver_id: names.receiver })],
    'account.webhooks.receive.replay': [(names) => ({ receiver_id: names.receiver, request_id: names.received })],
    'account.webhooks.redeliver': [(names) => ({ delivery_id: names.delivery })],
  },
  lists: {
    'account.requests.list': () => ({ audit: true, capability: 'account.payment_method.attach' }),
    'account.webhooks.deliveries': ({ webhook }) => ({ webhook_id: webhook }),
    'account.webhooks.receive.requests': ({ receiver: receiver_id }) => ({ receiver_id }),
  },
  keyed: [['account.keys.create', { name: 'second' }]],
};
