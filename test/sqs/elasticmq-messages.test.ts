// The cases of ElasticMQ's suite for several SDKs, over both protocols, as tables of our own: messages, their attributes, tracing. Where that suite
// and SQS part (an empty body, 1 MiB), the case says what is so here.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { md5OfAttributes } from '../support/sqs.ts';
import { SqsBench } from './harness.ts';
import { callsOf, wires } from './wires.ts';

let service: SqsBench;
beforeAll(async () => {
  service = await SqsBench.start();
});
afterAll(() => service.stop());

type Fields = Record<string, unknown>;
const text = (StringValue: string, DataType = 'String') => ({ DataType, StringValue });
const ATTRIBUTES = {
  red: text('fish'),
  blue: text('cat'),
  green: { DataType: 'Binary', BinaryValue: Buffer.from('dog').toString('base64') },
  yellow: text('1234567890', 'Number'),
  orange: text('0987654321', 'Number.custom'),
};
/** As their MD5 wants them. */
const bytes = (attributes: typeof ATTRIBUTES) => ({
  ...attributes,
  green: { DataType: 'Binary', BinaryValue: Buffer.from('dog') },
});

describe.each(wires)('$name', (wire) => {
  let bench: SqsBench;
  let queues = 0;
  beforeAll(async () => {
    bench = await service.withAccount();
  });
  const { ok, failure } = callsOf(wire, () => bench);
  const create = async (): Promise<string> => {
    queues += 1;
    return (await ok('CreateQueue', { QueueName: `testQueue${queues}` })).QueueUrl;
  };
  const send = (QueueUrl: string, MessageBody: string, fields: Fields = {}, headers = {}) =>
    ok('SendMessage', { QueueUrl, MessageBody, ...fields }, headers);
  const receive = async (QueueUrl: string, fields: Fields = {}) =>
    (await ok('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10, ...fields })).Messages ?? [];
  const counts = async (QueueUrl: string) => {
    const { Attributes: all } = await ok('GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
    return [all.ApproximateNumberOfMessages, all.ApproximateNumberOfMessagesNotVisible].map(Number);
  };

  describe('message operations', () => {
    test.each([
      ['empty: AWS says which parameter is missing', '', 'MissingParameter'],
      ['longer than the queue takes', 'x'.repeat(1024 * 1024 + 1), 'InvalidParameterValue'],
    ])('a body is refused that is %s', async (_, MessageBody, code) => {
      expect(await failure('SendMessage', { QueueUrl: await create(), MessageBody })).toEqual([400, code]);
    });

    test.each<[string, string, string[] | undefined, string[]]>([
      ['a simple message', 'test msg 123', ['All'], []],
      ['one with attributes', 'Message 1', ['All'], Object.keys(ATTRIBUTES)],
      [
        'one of whose attributes some are asked for',
        'Message 1',
        ['red', 'green', 'orange'],
        ['red', 'green', 'orange'],
      ],
      ['one of whose attributes none are asked for', 'Message 1', undefined, []],
      ['one of the greatest length: here 256 KiB', 'x'.repeat(262_144), ['All'], []],
    ])('%s is sent and received', async (title, body, MessageAttributeNames, names) => {
      const url = await create();
      const MessageAttributes = /attributes/.test(title) ? ATTRIBUTES : undefined;
      const sent = await send(url, body, MessageAttributes === undefined ? {} : { MessageAttributes });
      const [message] = await receive(url, MessageAttributeNames === undefined ? {} : { MessageAttributeNames });
      const due = Object.fromEntries(Object.entries(ATTRIBUTES).filter(([name]) => names.includes(name)));
      expect(message).toMatchObject({ Body: body, MessageId: sent.MessageId, MD5OfBody: sent.MD5OfMessageBody });
      expect(message.MessageAttributes ?? {}).toEqual(due);
      if (MessageAttributes !== undefined) expect(sent.MD5OfMessageAttributes).toBe(md5OfAttributes(bytes(ATTRIBUTES)));
    });

    test('attributes and a trace come back together, each where it belongs', async () => {
      const url = await create();
      const MessageSystemAttributes = { AWSTraceHeader: text('abc-123') };
      await send(url, 'Message 1', { MessageAttributes: ATTRIBUTES, MessageSystemAttributes });
      const asked = { MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['AWSTraceHeader'] };
      expect(await receive(url, asked)).toMatchObject([
        { MessageAttributes: ATTRIBUTES, Attributes: { AWSTraceHeader: 'abc-123' } },
      ]);
    });

    test('a message to a queue that is not there is refused', async () => {
      const url = (await create()).replace(/[^/]*$/, 'missingQueue');
      expect(await failure('SendMessage', { QueueUrl: url, MessageBody: 'test123' })).toEqual([
        400,
        'QueueDoesNotExist',
      ]);
    });

    test('a purge leaves nothing', async () => {
      const url = await create();
      for (const body of ['test123', 'test234', 'test345']) await send(url, body);
      await ok('PurgeQueue', { QueueUrl: url });
      expect(await counts(url)).toEqual([0, 0]);
    });

    test('of a batch the entry with an empty body fails alone', async () => {
      const QueueUrl = await create();
      const Entries = [
        { Id: '1', MessageBody: 'test123' },
        { Id: '2', MessageBody: '' },
      ];
      const { Successful, Failed } = await ok('SendMessageBatch', { QueueUrl, Entries });
      expect(Successful).toMatchObject([
        { Id: '1', MessageId: expect.stringMatching(/./), MD5OfMessageBody: expect.stringMatching(/^[0-9a-f]{32}$/) },
      ]);
      expect(Failed).toMatchObject([{ Id: '2', Code: 'MissingParameter' }]);
      expect(String(Failed[0].SenderFault)).toBe('true');
    });

    test('a message is deleted', async () => {
      const QueueUrl = await create();
      await send(QueueUrl, 'test123');
      const [{ ReceiptHandle }] = await receive(QueueUrl);
      await ok('DeleteMessage', { QueueUrl, ReceiptHandle });
      expect(await counts(QueueUrl)).toEqual([0, 0]);
    });

    test.each([
      ['deleted', 'DeleteMessageBatch', {}, [0, 1]],
      ['released', 'ChangeMessageVisibilityBatch', { VisibilityTimeout: 0 }, [2, 1]],
    ])('two of three messages are %s in a batch', async (_, action, fields, due) => {
      const QueueUrl = await create();
      for (const body of ['test123', 'test234', 'test345']) await send(QueueUrl, body);
      const received = await receive(QueueUrl);
      expect(received).toHaveLength(3);
      const handles = [received[0], received[2]].map(({ ReceiptHandle }) => ReceiptHandle);
      const Entries = handles.map((ReceiptHandle, n) => ({ Id: 'AB'[n], ReceiptHandle, ...fields }));
      const { Successful, Failed = [] } = await ok(action, { QueueUrl, Entries });
      expect([Successful.map(({ Id }: { Id: string }) => Id), Failed]).toEqual([['A', 'B'], []]);
      expect(await counts(QueueUrl)).toEqual(due);
    });

    test('a message whose visibility is set to 0 is received again', async () => {
      const QueueUrl = await create();
      await send(QueueUrl, 'test123');
      const [{ ReceiptHandle }] = await receive(QueueUrl);
      await ok('ChangeMessageVisibility', { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
      expect(await receive(QueueUrl)).toHaveLength(1);
    });
  });

  describe('message attributes', () => {
    test.each([
      ['an empty text', text('')],
      ['an empty number', text('', 'Number')],
      ['an empty type', text('value', '')],
    ])('an attribute is refused: %s', async (_, attribute1) => {
      const QueueUrl = await create();
      const sent = await failure('SendMessage', {
        QueueUrl,
        MessageBody: 'Message 1',
        MessageAttributes: { attribute1 },
      });
      expect(sent).toEqual([400, 'InvalidParameterValue']);
    });

    test('of a batch only the entry with an empty attribute fails', async () => {
      const QueueUrl = await create();
      const Entries = ['value1', '', 'value1'].map((value, n) => ({
        Id: String(n + 1),
        MessageBody: `Message ${n + 1}`,
        MessageAttributes: { attribute1: text(value) },
      }));
      const { Successful, Failed } = await ok('SendMessageBatch', { QueueUrl, Entries });
      expect([Successful.length, Failed.length]).toEqual([2, 1]);
      const bodies = (await receive(QueueUrl)).map(({ Body }: { Body: string }) => Body);
      expect(bodies.sort()).toEqual(['Message 1', 'Message 3']);
    });

    test('group and deduplication id are told of FIFO queues, and not of others', async () => {
      const standard = await create();
      await send(standard, 'Message 1');
      const [plain] = await receive(standard, { AttributeNames: ['All'] });
      expect(Object.keys(plain.Attributes)).not.toContain('MessageDeduplicationId');
      expect(Object.keys(plain.Attributes)).not.toContain('MessageGroupId');
      const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
      const { QueueUrl } = await ok('CreateQueue', { QueueName: 'told.fifo', Attributes });
      await send(QueueUrl, 'Message 1', { MessageDeduplicationId: '123', MessageGroupId: '456' });
      expect(await receive(QueueUrl, { AttributeNames: ['All'] })).toMatchObject([
        { Attributes: { MessageDeduplicationId: '123', MessageGroupId: '456' } },
      ]);
    });
  });

  describe('tracing', () => {
    const trace = (value: string) => ({ MessageSystemAttributes: { AWSTraceHeader: text(value) } });
    const header = { 'x-amzn-trace-id': '987654321' };
    const traces = async (url: string, names = ['All']) =>
      (await receive(url, { MessageSystemAttributeNames: names })).map(
        ({ Attributes }: { Attributes?: Record<string, string> }) => Attributes?.AWSTraceHeader,
      );

    test.each<[string, Fields, Record<string, string>, string | undefined]>([
      ['no trace has none', {}, {}, undefined],
      ['a trace as system attribute has that', trace('123456789'), {}, '123456789'],
      ['a trace in the header of the request has that', {}, header, '987654321'],
      ['both has that of the attribute', trace('123456789'), header, '123456789'],
    ])('a message with %s', async (_, fields, headers, due) => {
      const url = await create();
      await send(url, 'Message 1', fields, headers);
      expect(await traces(url)).toEqual([due]);
    });

    test.each<[string, Fields[], Record<string, string>, string[]]>([
      ['its own', [trace('1'), trace('2')], {}, ['1', '2']],
      ['that of the request', [{}, {}], header, ['987654321', '987654321']],
    ])('each message of a batch has %s', async (_, fields, headers, due) => {
      const QueueUrl = await create();
      const Entries = fields.map((each, n) => ({ Id: `id${n}`, MessageBody: `message ${n}`, ...each }));
      await ok('SendMessageBatch', { QueueUrl, Entries }, headers);
      expect((await traces(QueueUrl)).sort()).toEqual(due);
    });

    test('the trace alone is asked for, and told alone', async () => {
      const url = await create();
      await send(url, 'Message 1', trace('123456789'), header);
      const [message] = await receive(url, { AttributeNames: ['AWSTraceHeader'] });
      expect(message.Attributes).toEqual({ AWSTraceHeader: '123456789' });
    });
  });
});
