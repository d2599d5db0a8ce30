// Where the two worlds meet at their edges: what one can hold and the other's wire cannot say, settings in other units, names of FIFO queues.
import { createHash } from 'node:crypto';
import { ListQueuesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { elements, jsonRequest } from '../support/sqs.ts';
import { failureOf, SqsBench } from './harness.ts';
import { wires } from './wires.ts';

let bench: SqsBench;
beforeAll(async () => {
  bench = await SqsBench.start();
});
afterAll(() => bench.stop());

const urlOf = (name: string) => `${bench.url}/sqs/000000000000/${name}`;

describe('contents', () => {
  test.each([
    ['262,144 quotes, which JSON makes twice as long', '"'.repeat(262_144)],
    ['262,144 line feeds', '\n'.repeat(262_144)],
    ['an object of 262,144 bytes', `{"a":"${'x'.repeat(262_136)}"}`],
    ['an object with escapes of what PostgreSQL cannot hold', '{"a":"\\u0000 \\ud800"}'],
    ['an object in spaces', ' {"a":1}\n'],
    ['an object too deep to publish', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`],
    ['two objects', '{"a":1}{"b":2}'],
    ['an object after a byte order mark', '\uFEFF{"a":1}'],
  ])('%s come back as sent', async (_, body) => {
    const url = await bench.create('edge-bodies');
    await bench.send(url, body);
    const [message] = await bench.receive(url);
    expect(message?.Body === body, message?.Body?.slice(0, 60)).toBe(true);
    const { status } = await bench.json('DeleteMessage', { QueueUrl: url, ReceiptHandle: message?.ReceiptHandle });
    expect(status).toBe(200);
  });

  test('ten messages of the greatest length are received, in as many answers as it takes', async () => {
    const url = await bench.create('edge-large');
    for (let n = 0; n < 10; n += 1) await bench.send(url, String(n).repeat(262_144));
    const bodies: string[] = [];
    while (bodies.length < 10) {
      const received = await bench.receive(url);
      expect(received.length).toBeGreaterThan(0);
      bodies.push(...received.map(({ Body = '' }) => `${Body.length} ${Body[0]}`));
    }
    expect(bodies.sort()).toEqual(Array.from({ length: 10 }, (_, n) => `262144 ${n}`));
  });

  describe.each(wires)('natively published, received as $name', (wire) => {
    test.each([
      [
        'headers of all types',
        '{}',
        '{"text":"a","number":1.50,"flag":true,"nothing":null,"list":[1],"empty":"","é ü":"x"}',
      ],
      ['eleven headers', '{}', `{${[...'abcdefghijk'].map((name) => `"${name}":"x"`).join()}}`],
      ['a header with control characters', '{}', '{"a":"\\u0001\\u0000\\uffff x"}'],
      ['a payload with noncharacters', '{"a":"\uFFFE\uFFFF \u007F"}', '{}'],
      ['a header named as markup', '{"a":"]]>"}', '{"<a b=\\"c\\">":"</Value>"}'],
    ])('%s reach the client', async (_, payload, headers) => {
      const name = `edge-${wire.name.toLowerCase()}`;
      await bench.native.create(name);
      const body = `{"queue":"${name}","payload":${payload},"headers":${headers}}`;
      expect((await bench.native.call('POST', '/v1/queue/publish', body)).status).toBe(200);
      const input = { QueueUrl: urlOf(name), MessageAttributeNames: ['All'] };
      const { status, data } = await wire.call(bench, 'ReceiveMessage', input);
      expect([status, data.Messages.length]).toEqual([200, 1]);
      const [message] = data.Messages;
      const attributes = Object.entries<{ StringValue?: string }>(message.MessageAttributes ?? {});
      const texts = [message.Body, ...attributes.flatMap(([key, { StringValue = '' }]) => [key, StringValue])];
      // XML has no way to write control characters and noncharacters.
      const isLegal = !/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(texts.join(''));
      expect(isLegal || wire.name === 'JSON', JSON.stringify(texts)).toBe(true);
      expect(message.MD5OfBody).toBe(createHash('md5').update(message.Body).digest('hex'));
      await bench.native.ack(name, message.ReceiptHandle);
    });
  });
});

describe('settings', () => {
  const native = (name: string) => bench.native.ok('GET', `/v1/queue/get/${name}`);

  test('seconds and bytes stay as set by SQS until they are set natively', async () => {
    const url = await bench.create('edge-units', { MessageRetentionPeriod: '90000', MaximumMessageSize: '1500' });
    expect(await native('edge-units')).toMatchObject({ message_retention_days: 2, max_message_size_kb: 2 });
    await bench.native.update('edge-units', { visibility_timeout_default: 11 });
    const names = ['MessageRetentionPeriod', 'MaximumMessageSize', 'VisibilityTimeout'] as const;
    const before = { MessageRetentionPeriod: '90000', MaximumMessageSize: '1500', VisibilityTimeout: '11' };
    expect(await bench.attributes(url, [...names])).toEqual(before);
    await bench.native.update('edge-units', { message_retention_days: 3, max_message_size_kb: 4 });
    const after = { MessageRetentionPeriod: '259200', MaximumMessageSize: '4096', VisibilityTimeout: '11' };
    expect(await bench.attributes(url, [...names])).toEqual(after);
  });

  test('the greatest size set by SQS holds, to the byte, natively too', async () => {
    const url = await bench.create('edge-size', { MaximumMessageSize: '1024' });
    await bench.send(url, 'x'.repeat(1_024));
    expect((await failureOf(bench.send(url, 'x'.repeat(1_025)))).name).toBe('InvalidParameterValue');
    const counted = { MessageAttributes: { a: { DataType: 'String', StringValue: 'x' } } };
    expect((await failureOf(bench.send(url, 'x'.repeat(1_020), counted))).name).toBe('InvalidParameterValue');
    const payload = { a: 'x'.repeat(1_024) };
    expect((await bench.native.fails('POST', '/v1/queue/publish', { queue: 'edge-size', payload })).code).toMatch(
      /LARGE/,
    );
  });

  test('a retention in seconds is kept to the second', async () => {
    const own = await SqsBench.start();
    const url = await own.create('brief', { MessageRetentionPeriod: '60', VisibilityTimeout: '0' });
    await own.send(url, 'x');
    await own.native.advance(59);
    expect(await own.bodies(url)).toEqual(['x']);
    await own.native.advance(2);
    expect(await own.receive(url)).toEqual([]);
    await own.stop();
  });

  test('a queue made natively is changed by SQS', async () => {
    await bench.native.create('edge-native');
    const url = urlOf('edge-native');
    const Attributes = { MessageRetentionPeriod: '3600', VisibilityTimeout: '7' };
    await bench.sdk.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }));
    expect(await bench.attributes(url, ['MessageRetentionPeriod', 'VisibilityTimeout'])).toEqual(Attributes);
    expect(await native('edge-native')).toMatchObject({ message_retention_days: 1, visibility_timeout_default: 7 });
  });
});

describe('names', () => {
  test('a FIFO queue made natively without the suffix is the one that SQS creates with it', async () => {
    const own = await bench.withAccount();
    await own.native.create('edge-fifo', { type: 'fifo' });
    await own.native.publish('edge-fifo', { n: 1 }, { message_group_id: 'g', deduplication_id: 'd' });
    const url = await own.create('edge-fifo.fifo', { FifoQueue: 'true' });
    expect(await own.bodies(url)).toEqual(['{"n":1}']);
    expect((await own.sdk.send(new ListQueuesCommand({}))).QueueUrls).toEqual([url]);
  });

  test('a native name with dots is reached by URL, ARN and list', async () => {
    const own = await bench.withAccount();
    await own.native.create('a.b.c');
    const [url = ''] = (await own.sdk.send(new ListQueuesCommand({}))).QueueUrls ?? [];
    expect(url).toMatch(/\/a\.b\.c$/);
    expect((await own.attributes(url)).QueueArn).toMatch(/:a\.b\.c$/);
  });

  test('a page that nobody was given is refused', async () => {
    const asked = bench.sdk.send(new ListQueuesCommand({ NextToken: 'bm9uZQ==', MaxResults: 5 }));
    expect(await failureOf(asked)).toMatchObject({ name: 'InvalidParameterValue', status: 400 });
  });
});

describe('forms of answers', () => {
  test('JSON failures carry the old code when it is asked for, and only then', async () => {
    const ask = (headers: Record<string, string>) =>
      bench.raw(jsonRequest('GetQueueUrl', { QueueName: 'nothing-here' }, headers));
    const [plain, old] = [await ask({}), await ask({ 'x-amzn-query-mode': 'true' })];
    expect(plain.json.__type).toBe('com.amazonaws.sqs#QueueDoesNotExist');
    expect(plain.headers.get('x-amzn-query-error')).toBeNull();
    expect(old.headers.get('x-amzn-query-error')).toBe('AWS.SimpleQueueService.NonExistentQueue;Sender');
    expect(old.headers.get('content-type')).toMatch(/^application\/x-amz-json-1\.0/);
  });

  test('XML has its namespace and a request id, in answers and failures', async () => {
    const answers = [
      await bench.form('ListQueues', {}),
      await bench.form('PurgeQueue', { QueueUrl: urlOf('nothing-here') }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    for (const { text, headers } of answers) {
      expect(headers.get('content-type')).toMatch(/^(text|application)\/xml/);
      expect(text).toContain('xmlns="http://queue.amazonaws.com/doc/2012-11-05/"');
      expect(elements(text, 'RequestId')).toEqual([expect.stringMatching(/./)]);
    }
  });
});
