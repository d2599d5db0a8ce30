// Fields of paths by the names that they had before: a call without HTTP, as of MCP, is answered alike.
import { beforeAll, expect, test } from 'vitest';
import type { Input } from '../support/capabilities.ts';
import { inProcess, type Outcome } from '../support/in-process.ts';
import { createTestAccount } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

let invoke: (capability: string, input: Input) => Promise<Outcome>;
beforeAll(async () => {
  const service = await sharedService();
  invoke = await inProcess(service, (await createTestAccount(service.core, 10)).secret);
});

async function data(capability: string, input: Input) {
  const { status, text, body } = await invoke(capability, input);
  expect(status, text).toBe(200);
  return body.data;
}

const target = { url: 'https://example.org/hooks', events: ['queue.dlq'] };
const request = { custom_id: 'one', capability: 'ai.embed', body: { model: 'sandbox/ngram-1', input: 'A boat.' } };

test.each<[string, string, Input, string, Input]>([
  ['key_id', 'account.keys.create', {}, 'account.keys.update', { name: 'renamed' }],
  ['webhook_id', 'account.webhooks.register', target, 'account.webhooks.get', {}],
  ['job_id', 'cron.create', { task: 'https://example.org/tasks', cron_expr: '0 9 1 1 *' }, 'cron.get', {}],
  ['batch_id', 'ai.batch.create', { requests: [request] }, 'ai.batch.get', {}],
])('%s may be sent as id, and is answered by its name alone', async (name, create, fields, use, more) => {
  const made = await data(create, fields);
  expect(made).not.toHaveProperty('id');
  for (const sent of ['id', name]) expect((await data(use, { ...more, [sent]: made[name] }))[name]).toBe(made[name]);
  const { status, body } = await invoke(use, { ...more, id: 'another', [name]: made[name] });
  expect([status, body.error.code_detail, body.error.param]).toEqual([400, 'two_names', 'id']);
});

test('of a body that is free id is the name of the webhook, or data where that is sent as webhook_id', async () => {
  const { webhook_id } = await data('account.webhooks.register', target);
  for (const input of [
    { id: webhook_id, n: 1 },
    { webhook_id, n: 1 },
    { webhook_id, id: 'of the sample' },
  ])
    expect(await data('account.webhooks.test', input)).toMatchObject({ webhook_id, event_type: 'queue.dlq' });
  const { items } = await data('account.events.list', { type: 'queue.dlq' });
  expect(items.map((event: { data: object }) => event.data)).toEqual([
    { object: { id: 'of the sample' } },
    { object: { n: 1 } },
    { object: { n: 1 } },
  ]);
});

test.each<[string, string, Input]>([
  ['storage.bucket.create', 'bucket', {}],
  ['vector.collection.create', 'collection', { dimension: 2 }],
  ['dns.zone.create', 'zone', {}],
  ['flags.create', 'key', { type: 'boolean', variants: { on: true }, default_variant: 'on' }],
])('%s takes name for %s', async (create, field, more) => {
  expect(await data(create, { name: 'named.test', ...more })).toMatchObject({ [field]: 'named.test' });
});

test('the URL of a job is told under both of its names, and taken under both', async () => {
  const task = 'https://example.org/both';
  const { job_id } = await data('cron.create', { task_url: task, cron_expr: '0 9 1 1 *' });
  expect(await data('cron.get', { job_id })).toMatchObject({ task, task_url: task });
});
