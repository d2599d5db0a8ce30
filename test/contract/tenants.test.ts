// What belongs to account A does not exist for account B: every id of A gets from B exactly the answer of a random id.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountRows } from '../support/account-rows.ts';
import { byId, callCapability, capabilities, type Input } from '../support/capabilities.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { aims, type Names, random } from './tenant-aims.ts';

/** What lists are lists of. */
type Owners = Pick<Names, 'queue' | 'webhook' | 'job' | 'errorGroup' | 'collection'>;

let service: TestService;
let a: TestAccount;
let b: TestAccount;
let own: Names;
/** What B has of the kinds that lists are lists of. */
let ofB: Owners;
/** Cursors of A's lists, by capability. */
const cursors = new Map<string, string>();

beforeAll(async () => {
  service = await startTestService();
  [a, b] = await Promise.all([createTestAccount(service.core), createTestAccount(service.core)]);
  own = await fill(client(service.url, a.secret));
  const call = client(service.url, b.secret);
  await call('POST', '/v1/queue/create', { name: 'of-b' });
  const webhook = (await call('POST', '/v1/account/webhooks/register', target)).body.data;
  const job = (await call('POST', '/v1/cron/create', yearly)).body.data;
  const { error_group_id: errorGroup } = (await call('POST', '/v1/errors/capture', { message: 'of b' })).body.data;
  await call('POST', '/v1/vector/collection/create', { collection: 'of-b', dimension: 2 });
  ofB = { queue: 'of-b', webhook: webhook.id, job: job.id, errorGroup, collection: 'of-b' };
});
afterAll(() => service.stop());

/** Gives A one of everything, and every list of it two pages. */
async function fill(call: Client): Promise<Names> {
  const act = async (id: string, input: Input) => {
    const { body } = await callCapability(call, byId(id), input);
    expect(body, id).toMatchObject({ ok: true });
    return body.data;
  };
  await act('queue.create', { name: 'aa-dead' });
  await act('queue.create', { name: 'aa-source', dead_letter_queue: 'aa-dead', max_retries: 1 });
  const kill = async () => {
    await act('queue.publish', { queue: 'aa-source', payload: {} });
    const { items } = await act('queue.consume', { queue: 'aa-source' });
    await act('queue.nack', { queue: 'aa-source', receipt_handle: items[0].receipt_handle });
    return items[0].message_id as string;
  };
  const [deadMessage] = [await kill(), await kill()];
  await act('queue.dlq.redrive', { queue: 'aa-source', message_ids: [random.message] });
  const redrive = await act('queue.dlq.redrive', { queue: 'aa-source', message_ids: [random.message] });
  await act('queue.publish', { queue: 'aa-source', payload: {}, idempotency_key: 'shared' });
  const { items } = await act('queue.consume', { queue: 'aa-source' });
  // Nothing in the queue is due: nothing is pushed while the rows of A are watched.
  const subscribe = () => act('queue.subscribe', { queue: 'aa-source', url: 'https://example.org/jobs' });
  const [subscription] = [await subscribe(), await subscribe()];
  const key = await act('account.keys.create', { name: 'second', idempotency_key: 'shared' });
  const register = () => act('account.webhooks.register', target);
  const [webhook] = [await register(), await register()];
  const deliver = () => act('account.webhooks.test', { id: webhook.id });
  const [delivery] = [await deliver(), await deliver()];
  const schedule = () => act('cron.create', yearly);
  const [job] = [await schedule(), await schedule()];
  await recordRuns(job.id, 2);
  const fail = (message: string) => act('errors.capture', { message });
  const [failure] = [await fail('failure one'), await fail('failure one'), await fail('failure two')];
  await storeVectors(act);
  await keepCursors(act, {
    collection: 'aa-docs',
    queue: 'aa-source',
    webhook: webhook.id,
    job: job.id,
    errorGroup: failure.error_group_id,
  });
  return {
    queue: 'aa-source',
    dlq: 'aa-dead',
    message: items[0].message_id,
    receipt: items[0].receipt_handle,
    deadMessage,
    key: key.id,
    redrive: redrive.redrive_id,
    subscription: subscription.subscription_id,
    webhook: webhook.id,
    delivery: delivery.delivery_id,
    job: job.id,
    errorEvent: failure.event_id,
    errorGroup: failure.error_group_id,
    collection: 'aa-docs',
    vector: 'aa-1',
    project: key.project_id,
  };
}

async function storeVectors(act: (id: string, input: Input) => Promise<unknown>): Promise<void> {
  for (const collection of ['aa-docs', 'aa-more']) await act('vector.collection.create', { collection, dimension: 2 });
  const vectors = ['aa-1', 'aa-2'].map((id) => ({ id, embedding: [1, 0], metadata: { kind: 'of-a' } }));
  await act('vector.upsert', { collection: 'aa-docs', vectors, idempotency_key: 'shared' });
}

/** A first page of one entry of every list: its cursor leads to the second. */
async function keepCursors(
  act: (id: string, input: Input) => Promise<{ next_cursor: string }>,
  names: Owners,
): Promise<void> {
  for (const id of [
    'cron.list',
    'cron.runs',
    'errors.list',
    'errors.search',
    'errors.groups',
    'errors.events',
    'vector.collection.list',
    'vector.list',
    'queue.list',
    'queue.dlq.list',
    'queue.dlq.redrives',
    'queue.subscriptions',
    'account.keys.list',
    'account.ledger.list',
    'account.events.list',
    'account.webhooks.list',
    'account.webhooks.deliveries',
  ]) {
    const of = listOf(id, names);
    cursors.set(id, (await act(id, { ...of, limit: 1 })).next_cursor);
  }
}

const target = { url: 'https://example.org/hooks', events: ['wallet.expired'] };
const yearly = { task: 'https://example.org/tasks', cron_expr: '0 0 29 2 *' };

/** Runs that are over, as the background would have made them. */
async function recordRuns(jobId: string, count: number): Promise<void> {
  const text = `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, finished_at, status, attempt, cost_nanos)
                SELECT j.account_id, 'run_' || n, j.job_id, j.created_at - n * interval '1 minute', j.created_at, j.created_at, 'succeeded', 1, 0
                  FROM cron.job j, generate_series(1, $2) n WHERE j.job_id = $1`;
  await service.core.db.query({ name: 'test_record_runs', text }, [jobId, count]);
}

/** What the list is one of, by the parameter of its path. */
function listOf(id: string, of: Owners): Input {
  const { path } = byId(id);
  if (id === 'errors.search') return { q: 'failure' };
  if (id === 'vector.list') return { collection: of.collection };
  if (path.includes('{error_group_id}')) return { error_group_id: of.errorGroup };
  if (path.includes('{queue}')) return { queue: of.queue };
  return path.includes('{id}') ? { id: id.startsWith('cron.') ? of.job : of.webhook } : {};
}

/** The answer without what differs from call to call, and with one word for each name. */
function comparable(reply: Reply, names: Names): unknown {
  const { data, error, metadata } = reply.body;
  const volatile = [
    'request_id',
    'trace_id',
    'timestamp',
    'latency_ms',
    'balance_usd',
    'redrive_id',
    'created_at',
    'finished_at',
    'updated_at',
    'available_at',
  ];
  const text = JSON.stringify({ status: reply.status, data, error, metadata }, (name, value) =>
    volatile.includes(name) ? undefined : value,
  );
  return JSON.parse(Object.entries(names).reduce((all, [kind, name]) => all.replaceAll(name, `<${kind}>`), text));
}

const cases = Object.entries(aims).flatMap(([id, list]) =>
  list.map((aim) => ({ id, aim, shown: JSON.stringify(aim(random)) })),
);

describe('from account B', () => {
  test('every capability says how it names things', () => {
    expect(Object.keys(aims).sort()).toEqual(capabilities.map(({ id }) => id).sort());
  });

  test.each(cases)('$id $shown: the answer of a random id, and A unchanged', async ({ id, aim }) => {
    const call = client(service.url, b.secret);
    const before = await accountRows(service.core.db, a.accountId);
    const foreign = await callCapability(call, byId(id), aim(own));
    const unknown = await callCapability(call, byId(id), aim(random));
    expect(comparable(foreign, own)).toEqual(comparable(unknown, random));
    expect(Object.keys(foreign.body.error ?? {})).toEqual(Object.keys(unknown.body.error ?? {}));
    expect(await accountRows(service.core.db, a.accountId)).toEqual(before);
    expect(foreign.text).not.toContain(a.accountId);
  });

  test.each([...capabilities].filter(({ input }) => 'cursor' in input.properties).map(({ id }) => id))(
    '%s: a cursor of A is no cursor',
    async (id) => {
      const cursor = cursors.get(id);
      expect(cursor).toEqual(expect.any(String));
      const of = listOf(id, ofB);
      const { status, body } = await callCapability(client(service.url, b.secret), byId(id), { ...of, cursor });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'INVALID_CURSOR', 'cursor']);
      const list = listOf(id, own);
      expect((await callCapability(client(service.url, a.secret), byId(id), { ...list, cursor })).status).toBe(200);
    },
  );

  test.each([
    ['queue.publish', { queue: 'of-b', payload: {} }],
    ['account.keys.create', { name: 'second' }],
  ])("%s: A's idempotency key is free for B", async (id, input) => {
    const { status, body } = await callCapability(client(service.url, b.secret), byId(id), {
      ...input,
      idempotency_key: 'shared',
    });
    expect([status, body.metadata.idempotent_replay]).toEqual([200, false]);
    expect(JSON.stringify(body)).not.toContain(own.key);
  });

  test('the lists of B hold nothing of A', async () => {
    const call = client(service.url, b.secret);
    const listed = capabilities.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    for (const capability of listed) {
      const { text } = await callCapability(call, capability, listOf(capability.id, ofB));
      for (const name of [a.accountId, a.keyId, ...Object.values(own)]) expect(text, capability.id).not.toContain(name);
    }
  });
});
