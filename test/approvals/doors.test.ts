// A rule holds at every door: the call waits, its client is told in its own words, and once approved the same request runs.
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import OpenAI from 'openai';
import { beforeAll, expect, test } from 'vitest';
import { awsKey } from '../sqs/harness.ts';
import { connectMcp } from '../support/mcp.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { approve, type Bound, boundAccount } from './harness.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

interface Door {
  readonly name: string;
  /** What its client is told, where it has a word of its own. */
  readonly says?: string;
  /** What is asked about. */
  readonly capability: string;
  prepare?(bound: Bound): Promise<unknown>;
  /** Sends the call. Answers what its client was told. */
  send(bound: Bound): Promise<{ readonly isRefused: boolean; readonly told: string }>;
  /** How often the call has had its effect; null: it can only be paid. */
  effects(bound: Bound): Promise<number | null>;
}

async function messages({ call }: Bound): Promise<number> {
  return (await call('GET', '/v1/queue/stats/orders')).body.data.message_count;
}

const makeQueue = ({ call }: Bound) => call('POST', '/v1/queue/create', { name: 'orders' });

function thrown(work: Promise<unknown>) {
  return work.then(
    () => ({ isRefused: false, told: '' }),
    (error: Error & { error?: object }) => ({
      isRefused: true,
      told: `${error.name} ${error.message} ${JSON.stringify(error.error ?? {})}`,
    }),
  );
}

async function aws({ secret }: Bound) {
  return { region: 'us-east-1', credentials: await awsKey(service.url, secret), maxAttempts: 1 };
}

const say = { model: 'sandbox/echo-1', messages: [{ role: 'user' as const, content: 'Say hello.' }] };

const doors: readonly Door[] = [
  {
    name: 'MCP',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send({ secret }) {
      const mcp = await connectMcp('2026-07-28', `${service.url}/mcp/queue`, secret);
      const { isError, content } = await mcp.call('queue_publish', { queue: 'orders', payload: { n: 1 } });
      await mcp.close();
      return { isRefused: isError === true, told: content[0]?.text ?? '' };
    },
    effects: messages,
  },
  {
    name: 'SQS',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send(bound) {
      const sqs = new SQSClient({ ...(await aws(bound)), endpoint: `${service.url}/sqs` });
      const QueueUrl = `${service.url}/sqs/${bound.account.accountId}/orders`;
      return thrown(sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' })));
    },
    effects: messages,
  },
  {
    name: 'OpenAI',
    says: '"type":"approval_required"',
    capability: 'ai.chat',
    async send({ secret }) {
      const openai = new OpenAI({ apiKey: secret, baseURL: `${service.url}/v1`, maxRetries: 0 });
      return thrown(openai.chat.completions.create(say));
    },
    effects: async () => null,
  },
  {
    name: 'a stream of OpenAI',
    capability: 'ai.chat',
    async send({ secret }) {
      const openai = new OpenAI({ apiKey: secret, baseURL: `${service.url}/v1`, maxRetries: 0 });
      return thrown(openai.chat.completions.create({ ...say, stream: true }).then((stream) => Array.fromAsync(stream)));
    },
    effects: async () => null,
  },
  {
    name: 'Messages of Anthropic',
    capability: 'ai.chat',
    async send({ secret }) {
      const reply = await fetch(`${service.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
        body: JSON.stringify({ ...say, max_tokens: 20 }),
      });
      return { isRefused: reply.status !== 200, told: await reply.text() };
    },
    effects: async () => null,
  },
  {
    name: 'S3',
    capability: 'storage.object.put',
    async prepare({ call }) {
      await call('POST', '/v1/storage/bucket/create', { name: 'box' });
    },
    async send(bound) {
      const s3 = new S3Client({ ...(await aws(bound)), endpoint: `${service.url}/s3`, forcePathStyle: true });
      return thrown(s3.send(new PutObjectCommand({ Bucket: 'box', Key: 'a', Body: 'hello' })));
    },
    async effects({ call }) {
      return (await call('GET', '/v1/storage/object/list?bucket=box')).body.data.items.length;
    },
  },
  {
    name: 'a batch at its creation',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send({ agent }) {
      const items = [{ payload: { n: 1 } }];
      const { status, text } = await agent('POST', '/v1/queue/batch/publish', { queue: 'orders', items });
      return { isRefused: status !== 200, told: text };
    },
    effects: messages,
  },
  {
    name: 'a call that another makes',
    capability: 'storage.object.put',
    async prepare({ call }) {
      await call('POST', '/v1/storage/bucket/create', { name: 'box' });
    },
    async send({ agent }) {
      const store = { bucket: 'box', key: 'a.pdf' };
      const { status, text } = await agent('POST', '/v1/pdf/create', { type: 'markdown', content: 'Hello', store });
      return { isRefused: status !== 200, told: text };
    },
    async effects({ call }) {
      return (await call('GET', '/v1/storage/object/list?bucket=box')).body.data.items.length;
    },
  },
];

test.each(doors)('$name', async (door) => {
  const bound = await boundAccount(service);
  await door.prepare?.(bound);
  await bound.rule({ capabilities: [door.capability] });
  const balance = async () => (await bound.call('GET', '/v1/account/balance')).body.data.balance_usd as number;
  const before = await balance();
  const told = [await door.send(bound), await door.send(bound)];
  const words = expect.stringContaining(door.says ?? 'A person must approve');
  for (const each of told) expect(each).toEqual({ isRefused: true, told: words });
  const pending = (await bound.call('GET', '/v1/account/approvals/list?status=pending')).body.data.items;
  expect(pending).toMatchObject([{ capability: expect.stringContaining(door.capability.split('.')[0] as string) }]);
  expect([await door.effects(bound), await balance()]).toEqual([
    (await door.effects(bound)) === null ? null : 0,
    before,
  ]);
  await approve(bound.owner, pending[0].approval_id);
  expect(await door.send(bound)).toMatchObject({ isRefused: false });
  expect([1, null]).toContain(await door.effects(bound));
  expect(await balance()).toBeLessThan(before);
  // The approval is used up.
  expect((await door.send(bound)).isRefused).toBe(true);
  const [next] = (await bound.call('GET', '/v1/account/approvals/list?status=pending')).body.data.items;
  await bound.owner.call('account.approvals.decide', {
    approval_id: next.approval_id,
    decision: 'deny',
    words: 'Not now.',
  });
  expect(await door.send(bound)).toMatchObject({ isRefused: true, told: expect.stringContaining('Not now.') });
});
