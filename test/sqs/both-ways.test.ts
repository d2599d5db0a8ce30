// One queue natively and by SQS: what is sent by one is what the other takes, counts agree, and it costs the same under the same keys.
import { DeleteMessageCommand, PurgeQueueCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PUBLISH_NANOS } from '../queue/harness.ts';
import { md5OfAttributes } from '../support/sqs.ts';
import { failureOf, SqsBench } from './harness.ts';

let bench: SqsBench;
beforeAll(async () => {
  bench = await SqsBench.start();
});
afterAll(() => bench.stop());

/** The text of the payload in an answer, as it stands there. */
async function payloadText(queue: string): Promise<string> {
  const { text } = await bench.native.call('POST', '/v1/queue/consume', { queue, max_messages: 1 });
  const [, rest = ''] = text.split('"payload":');
  let depth = 0;
  for (const [at, character] of [...rest].entries()) {
    if (character === '{') depth += 1;
    if (character === '}' && --depth === 0) return [...rest].slice(0, at + 1).join('');
  }
  throw new TypeError(`no payload in ${text}`);
}

describe('sent by SQS, taken natively', () => {
  test.each([
    ['spaces and order', '{ "b": 1,\n "a" :2}'],
    ['numbers as written', '{"n":1.00,"big":123456789012345678901234567890,"e":1E3}'],
    ['escapes as written', '{"\\u0061":"\\u00e9 é \\/"}'],
    ['an empty object', '{}'],
    ['a deep one', `${'{"a":'.repeat(20)}{}${'}'.repeat(20)}`],
  ])('a JSON object is the payload, byte for byte: %s', async (_, body) => {
    const url = await bench.create('by-sqs-objects');
    await bench.send(url, body);
    expect(await payloadText('by-sqs-objects')).toBe(body);
  });

  test.each([
    ['a word', 'hello'],
    ['an array', '[{"a":1}]'],
    ['a number', '17'],
    ['a JSON string', '"text"'],
    ['half an object', '{"a":'],
    ['quotes and lines', 'say "é" \\ \n\tand 😀'],
  ])('other text is the field `body` of the payload: %s', async (_, body) => {
    const url = await bench.create('by-sqs-text');
    await bench.send(url, body);
    const [item] = await bench.native.consume('by-sqs-text');
    expect(item.payload).toEqual({ body });
    await bench.native.ack('by-sqs-text', item.receipt_handle);
  });

  test('message attributes are headers, and the group of a FIFO queue is its group', async () => {
    const url = await bench.createFifo('by-sqs.fifo');
    await bench.send(url, '{"n":1}', {
      MessageGroupId: 'g1',
      MessageDeduplicationId: 'd1',
      MessageAttributes: {
        Trace: { DataType: 'String', StringValue: 'abc é' },
        count: { DataType: 'Number', StringValue: '7.50' },
      },
    });
    expect(await bench.native.consume('by-sqs.fifo')).toMatchObject([
      { payload: { n: 1 }, headers: { Trace: 'abc é', count: '7.50' }, message_group_id: 'g1', deduplication_id: 'd1' },
    ]);
  });

  test('a queue made by SQS has its settings natively, under its name in lower case', async () => {
    await bench.create('MadeBySqs', { VisibilityTimeout: '45', MessageRetentionPeriod: '90000', DelaySeconds: '5' });
    expect(await bench.native.ok('GET', '/v1/queue/get/madebysqs')).toMatchObject({
      name: 'madebysqs',
      sqs_name: 'MadeBySqs',
      type: 'standard',
      visibility_timeout_default: 45,
      message_retention_days: 2,
      delivery_delay_seconds: 5,
      dlq_name: null,
    });
  });
});

describe('sent natively, taken by SQS', () => {
  const urlOf = (name: string) => `${bench.url}/sqs/000000000000/${name}`;

  test('the payload is the body, byte for byte, and headers are String attributes', async () => {
    await bench.native.create('natively');
    const payload = '{ "b" : 1.50, "a":"\\u00e9" }';
    const body = `{"queue":"natively","payload":${payload},"headers":{"Trace":"abc é","kind":"video"}}`;
    const { status } = await bench.native.call('POST', '/v1/queue/publish', body);
    expect(status).toBe(200);
    const [message] = await bench.receive(urlOf('natively'), { MessageAttributeNames: ['All'] });
    const due = {
      Trace: { DataType: 'String', StringValue: 'abc é' },
      kind: { DataType: 'String', StringValue: 'video' },
    };
    expect(message).toMatchObject({ Body: payload, MessageAttributes: due });
    expect(message?.MD5OfMessageAttributes).toBe(md5OfAttributes(due));
  });

  test('a message that was given back comes by the other way, and is acknowledged there', async () => {
    await bench.native.create('to-and-fro');
    await bench.native.publish('to-and-fro', { n: 1 });
    const [first] = await bench.native.consume('to-and-fro');
    await bench.native.nack('to-and-fro', first.receipt_handle);
    const [second] = await bench.receive(urlOf('to-and-fro'), {
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    });
    expect(second).toMatchObject({ Body: '{"n":1}', Attributes: { ApproximateReceiveCount: '2' } });
    await bench.sdk.send(
      new DeleteMessageCommand({ QueueUrl: urlOf('to-and-fro'), ReceiptHandle: second?.ReceiptHandle }),
    );
    expect(await bench.native.counts('to-and-fro')).toEqual([0, 0, 0, 0]);
  });

  test('a native FIFO queue without the suffix is shown with it', async () => {
    const own = await bench.withAccount();
    await own.native.create('ordered', { type: 'fifo' });
    await own.native.publish('ordered', { n: 1 }, { message_group_id: 'g', deduplication_id: 'd' });
    const url = await own.create('plain').then((plain) => plain.replace('/plain', '/ordered.fifo'));
    expect(await own.receive(url, { MessageSystemAttributeNames: ['All'] })).toMatchObject([
      { Body: '{"n":1}', Attributes: { MessageGroupId: 'g', MessageDeduplicationId: 'd' } },
    ]);
    expect((await own.attributes(url)).QueueArn).toMatch(/:ordered\.fifo$/);
  });

  test('counts agree: visible, leased, delayed', async () => {
    await bench.native.create('counted');
    for (const fields of [{}, {}, {}, { delay_seconds: 600 }]) await bench.native.publish('counted', {}, fields);
    await bench.receive(urlOf('counted'), { MaxNumberOfMessages: 1 });
    expect(await bench.counts(urlOf('counted'))).toEqual([2, 1, 1]);
    expect(await bench.native.counts('counted')).toEqual([2, 1, 1, 0]);
  });
});

describe('price and keys', () => {
  const balance = async (own: SqsBench) => (await own.native.ok('GET', '/v1/account/balance')).balance_usd;

  test('a message costs what publish costs, a batch per accepted message, all else nothing', async () => {
    const own = await bench.withAccount();
    const url = await own.native.costing(0, {}, () => own.create('priced'));
    const before = await balance(own);
    await own.native.costing(1, {}, () => own.send(url, 'one'));
    expect(BigInt(Math.round((before - (await balance(own))) * 1e9))).toBe(PUBLISH_NANOS);
    const Entries = ['a', 'b', '', 'c'].map((MessageBody, n) => ({ Id: String(n), MessageBody }));
    await own.native.costing(3, {}, () => own.sdk.send(new SendMessageBatchCommand({ QueueUrl: url, Entries })));
    await own.native.costing(0, {}, async () => {
      const [message] = await own.receive(url, { MaxNumberOfMessages: 1 });
      await own.sdk.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle }));
      await own.attributes(url);
      await failureOf(own.send(url, ''));
      await own.sdk.send(new PurgeQueueCommand({ QueueUrl: url }));
    });
  });

  test('a repetition in a FIFO queue costs nothing', async () => {
    const own = await bench.withAccount();
    const url = await own.createFifo('priced.fifo');
    await own.native.costing(1, {}, async () => {
      await own.send(url, 'same', { MessageGroupId: 'g' });
      await own.send(url, 'same', { MessageGroupId: 'g' });
    });
  });

  test('without credit sending is 402 InsufficientCredit, once, and nothing is stored', async () => {
    const poor = await bench.withAccount(0);
    const url = await poor.create('poor');
    const due = { name: 'InsufficientCredit', status: 402, attempts: 1 };
    expect(await failureOf(poor.send(url, 'x'))).toMatchObject(due);
    const Entries = [{ Id: 'a', MessageBody: 'x' }];
    const batch = await poor.sdk.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    expect(batch.Failed).toMatchObject([{ Id: 'a', Code: 'InsufficientCredit', SenderFault: true }]);
    expect(batch.Successful ?? []).toEqual([]);
    expect(await poor.counts(url)).toEqual([0, 0, 0]);
  });

  test('a key that may only read is denied what writes, consuming too', async () => {
    const url = await bench.create('read-only');
    await bench.send(url, 'x');
    const reader = await bench.withScopes(['queue:read']);
    const denied = { name: 'AccessDenied', status: 403, attempts: 1 };
    expect(await failureOf(reader.send(url, 'y'))).toMatchObject(denied);
    expect(await failureOf(reader.receive(url))).toMatchObject(denied);
    expect(await failureOf(reader.create('another'))).toMatchObject(denied);
    expect(await failureOf(reader.sdk.send(new PurgeQueueCommand({ QueueUrl: url })))).toMatchObject(denied);
    expect(await reader.counts(url)).toEqual([1, 0, 0]);
  });

  test('a key for publishing alone sends and takes nothing', async () => {
    const url = await bench.create('send-only');
    const sender = await bench.withScopes(['queue.publish']);
    expect(await sender.send(url, 'x')).toMatchObject({ MessageId: expect.stringMatching(/./) });
    expect(await failureOf(sender.receive(url))).toMatchObject({ name: 'AccessDenied', status: 403 });
  });

  test('a revoked key is refused at once', async () => {
    const url = await bench.create('revoked');
    const brief = await bench.withScopes(['queue']);
    await brief.send(url, 'x');
    await bench.native.ok('DELETE', `/v1/account/keys/revoke/${brief.native.account.keyId}`);
    const failed = await failureOf(brief.send(url, 'y'));
    expect(failed).toMatchObject({ status: 403, attempts: 1 });
    expect(['InvalidClientTokenId', 'AccessDenied']).toContain(failed.name);
    expect(await bench.counts(url)).toEqual([1, 0, 0]);
  });
});
