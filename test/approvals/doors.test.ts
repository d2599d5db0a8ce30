// A rule holds at every door: the call waits, its client is told in its own words, and once approved the same request runs.
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import nodemailer from 'nodemailer';
import OpenAI from 'openai';
import { beforeAll, expect, test } from 'vitest';
import { codeOf, startReceivingBench } from '../email/receiving-harness.ts';
import { awsKey } from '../sqs/harness.ts';
import { signedIn } from '../support/console.ts';
import { connectMcp } from '../support/mcp.ts';
import type { PageVisitor } from '../support/page-visitor.ts';
import { client } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { approve, type Bound, boundAccount } from './harness.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

interface Told {
  readonly isRefused: boolean;
  readonly told: string;
}

interface Door {
  readonly name: string;
  /** What its client is told, where it has a word of its own. */
  readonly says?: string;
  /** What is asked about. */
  readonly capability: string;
  prepare?(bound: Bound): Promise<unknown>;
  /** Sends the call, about `what`, by a key. Answers what its client was told. */
  send(bound: Bound, what: string, secret: string): Promise<Told>;
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

async function aws(secret: string) {
  return { region: 'us-east-1', credentials: await awsKey(service.url, secret), maxAttempts: 1 };
}

const say = (content: string) => ({ model: 'sandbox/echo-1', messages: [{ role: 'user' as const, content }] });

/** Forms of the console that wait, by key and content. */
const forms = new Map<string, { readonly visitor: PageVisitor; readonly text: string }>();

const doors: readonly Door[] = [
  {
    name: 'MCP',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send(_, what, secret) {
      const mcp = await connectMcp('2026-07-28', `${service.url}/mcp/queue`, secret);
      const { isError, content } = await mcp.call('queue_publish', { queue: 'orders', payload: { what } });
      await mcp.close();
      return { isRefused: isError === true, told: content[0]?.text ?? '' };
    },
    effects: messages,
  },
  {
    name: 'SQS',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send(bound, what, secret) {
      const sqs = new SQSClient({ ...(await aws(secret)), endpoint: `${service.url}/sqs` });
      const QueueUrl = `${service.url}/sqs/${bound.account.accountId}/orders`;
      return thrown(sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: what })));
    },
    effects: messages,
  },
  {
    name: 'OpenAI',
    says: '"type":"approval_required"',
    capability: 'ai.chat',
    async send(_, what, secret) {
      const openai = new OpenAI({ apiKey: secret, baseURL: `${service.url}/v1`, maxRetries: 0 });
      return thrown(openai.chat.completions.create(say(what)));
    },
    effects: async () => null,
  },
  {
    name: 'a stream of OpenAI',
    capability: 'ai.chat',
    async send(_, what, secret) {
      const openai = new OpenAI({ apiKey: secret, baseURL: `${service.url}/v1`, maxRetries: 0 });
      return thrown(
        openai.chat.completions.create({ ...say(what), stream: true }).then((stream) => Array.fromAsync(stream)),
      );
    },
    effects: async () => null,
  },
  {
    name: 'Messages of Anthropic',
    capability: 'ai.chat',
    async send(_, what, secret) {
      const reply = await fetch(`${service.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
        body: JSON.stringify({ ...say(what), max_tokens: 20 }),
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
    async send(_, what, secret) {
      const s3 = new S3Client({ ...(await aws(secret)), endpoint: `${service.url}/s3`, forcePathStyle: true });
      return thrown(s3.send(new PutObjectCommand({ Bucket: 'box', Key: what, Body: 'hello' })));
    },
    async effects({ call }) {
      return (await call('GET', '/v1/storage/object/list?bucket=box')).body.data.items.length;
    },
  },
  {
    name: 'the console, by who signed in with the key',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send(_, what, secret) {
      const known = forms.get(secret + what);
      const visitor = known?.visitor ?? (await signedIn(service.url, secret));
      const path = '/console/queues/orders/publish';
      const shown = known?.text ?? (await visitor.get(path)).text;
      const [, token = ''] = /name="form_token" value="([^"]+)"/.exec(shown) ?? [];
      const [, formKey = ''] =
        /name="form_key" value="([^"]+)"><input type="hidden" name="act" value="publish"/.exec(shown) ?? [];
      const form = { form_token: token, form_key: formKey, act: 'publish' };
      const { status, text } = await visitor.post(path, { ...form, payload: JSON.stringify({ what }) });
      // What the page shows again is the same form.
      if (text.includes('A person must approve')) forms.set(secret + what, { visitor, text });
      return { isRefused: status !== 303, told: text };
    },
    effects: messages,
  },
  {
    name: 'a batch at its creation',
    capability: 'queue.publish',
    prepare: makeQueue,
    async send(_, what, secret) {
      const items = [{ payload: { what } }];
      const { status, text } = await client(service.url, secret)('POST', '/v1/queue/batch/publish', {
        queue: 'orders',
        items,
      });
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
    async send(_, what, secret) {
      const store = { bucket: 'box', key: `${what}.pdf` };
      const { status, text } = await client(service.url, secret)('POST', '/v1/pdf/create', {
        type: 'markdown',
        content: 'Hello',
        store,
      });
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
  const made = await bound.call('POST', '/v1/account/keys/create', { name: 'second' });
  const { key_id: second, secret: secondSecret } = made.body.data;
  await bound.rule({ capabilities: [door.capability], keys: [bound.keyId, second] });
  const send = (what = 'one', secret = bound.secret) => door.send(bound, what, secret);
  const balance = async () => (await bound.call('GET', '/v1/account/balance')).body.data.balance_usd as number;
  const pending = async () => (await bound.call('GET', '/v1/account/approvals/list?status=pending')).body.data.items;
  const before = await balance();
  const words = expect.stringContaining(door.says ?? 'A person must approve');
  for (const each of [await send(), await send()]) expect(each).toEqual({ isRefused: true, told: words });
  const waiting = await pending();
  expect(waiting).toMatchObject([{ capability: expect.stringContaining(door.capability.split('.')[0] as string) }]);
  const isCounted = (await door.effects(bound)) !== null;
  expect([await door.effects(bound), await balance()]).toEqual([isCounted ? 0 : null, before]);
  await approve(bound.owner, waiting[0].approval_id);
  // Neither another content nor another key slips through.
  expect((await send('two')).isRefused).toBe(true);
  expect((await send('one', secondSecret)).isRefused).toBe(true);
  expect(await send()).toMatchObject({ isRefused: false });
  expect(await door.effects(bound)).toBe(isCounted ? 1 : null);
  expect(await balance()).toBeLessThan(before);
  // The approval is used up.
  forms.clear();
  expect((await send()).isRefused).toBe(true);
  const next = (await pending())[0].approval_id;
  await bound.owner.call('account.approvals.decide', { approval_id: next, decision: 'deny', words: 'Not now.' });
  expect(await send()).toMatchObject({ isRefused: true, told: expect.stringContaining('Not now.') });
});

test('SMTP: a mail waits, is taken once it is approved, and another is not', async () => {
  const bench = await startReceivingBench();
  try {
    const at = { core: bench.test.core, service: bench.test.service, url: bench.test.url };
    const bound = await boundAccount(at);
    await bound.rule({ capabilities: ['email.send'] });
    const auth = { user: 'any', pass: bound.secret };
    const transport = nodemailer.createTransport({ host: '127.0.0.1', port: bench.smtpPort, auth });
    const send = (subject: string) =>
      codeOf(
        transport.sendMail({
          from: 'shop@sender.example',
          to: 'bob@far.example',
          subject,
          text: 'Hello',
          date: new Date(0),
          messageId: `<${subject}@sender.example>`,
        }),
      );
    // For a while: mail clients come again by themselves.
    expect([await send('one'), await send('one')]).toEqual([451, 451]);
    const pending = async () => (await bound.call('GET', '/v1/account/approvals/list?status=pending')).body.data.items;
    await approve(bound.owner, (await pending())[0].approval_id);
    expect([await send('two'), await send('one'), await send('two')]).toEqual([451, 250, 451]);
    transport.close();
    expect((await bound.call('GET', '/v1/email/list')).body.data.items).toHaveLength(1);
  } finally {
    await bench.stop();
  }
});
