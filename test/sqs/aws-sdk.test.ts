// The SDK of AWS for JavaScript and messages: sending, receiving, deleting, leases, batches, and failures by their names.

import { createHash } from 'node:crypto';
import {
  AddPermissionCommand,
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  type MessageAttributeValue,
  RemovePermissionCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { md5OfAttributes } from '../support/sqs.ts';
import { failureOf, SqsBench } from './harness.ts';

let bench: SqsBench;
beforeAll(async () => {
  bench = await SqsBench.start();
});
afterAll(() => bench.stop());

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const batch = (QueueUrl: string, Entries: SendMessageBatchRequestEntry[]) =>
  bench.sdk.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
const remove = (QueueUrl: string, ReceiptHandle: string | undefined) =>
  bench.sdk.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
const lease = (QueueUrl: string, ReceiptHandle: string | undefined, VisibilityTimeout: number) =>
  bench.sdk.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));

describe('bodies and attributes', () => {
  test.each([
    ['plain text', 'hello'],
    ['a JSON object, byte for byte', '{ "b" : 1.0,  "a":"\\u00e9", "b":2 }'],
    ['a JSON array', '[1, 2]'],
    ['text of all planes', 'tab\t line\r\n é 漢 😀 \u{10FFFF} \uFFFD'],
    ['markup', '<a href="x">&amp;</a>]]>'],
    ['262,144 bytes', 'é'.repeat(131_072)],
  ])('%s comes back as it was sent, with its MD5', async (_, body) => {
    const url = await bench.create('bodies');
    const sent = await bench.send(url, body);
    expect(sent).toMatchObject({ MD5OfMessageBody: md5(body) });
    const [message, ...others] = await bench.receive(url);
    expect(others).toEqual([]);
    expect(message).toMatchObject({ Body: body, MD5OfBody: md5(body), MessageId: sent.MessageId });
    await remove(url, message?.ReceiptHandle);
  });

  const attributes: Record<string, MessageAttributeValue> = {
    red: { DataType: 'String', StringValue: 'fish é' },
    'blue.one': { DataType: 'String.css', StringValue: '#00f' },
    green: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255, 128, 10) },
    yellow: { DataType: 'Number', StringValue: '-1234567890.50' },
    orange: { DataType: 'Number.custom', StringValue: '0987654321' },
  };

  test.each([
    ['all', ['All'], Object.keys(attributes)],
    ['all by a pattern', ['.*'], Object.keys(attributes)],
    ['some', ['red', 'green', 'none'], ['red', 'green']],
    ['those of a prefix', ['blue.*'], ['blue.one']],
    ['none', [], []],
  ])('attributes of three types come back as sent: %s', async (_, MessageAttributeNames, names) => {
    const url = await bench.create('attributes');
    const sent = await bench.send(url, 'x', { MessageAttributes: attributes });
    expect(sent.MD5OfMessageAttributes).toBe(md5OfAttributes(attributes));
    const [message] = await bench.receive(url, { MessageAttributeNames });
    const due = Object.fromEntries(names.map((name) => [name, attributes[name] as MessageAttributeValue]));
    expect(message?.MessageAttributes ?? {}).toEqual(due);
    expect(message?.MD5OfMessageAttributes).toBe(names.length === 0 ? undefined : md5OfAttributes(due));
    await remove(url, message?.ReceiptHandle);
  });

  test.each<[string, Record<string, MessageAttributeValue>]>([
    ['an empty value', { one: { DataType: 'String', StringValue: '' } }],
    ['a number that is none', { one: { DataType: 'Number', StringValue: 'seven' } }],
    ['an unknown type', { one: { DataType: 'Boolean', StringValue: 'true' } }],
    ['no type', { one: { DataType: '', StringValue: 'x' } }],
    ['a text for a binary', { one: { DataType: 'Binary', StringValue: 'x' } }],
    ['no value', { one: { DataType: 'String' } }],
    ['a reserved name', { 'AWS.one': { DataType: 'String', StringValue: 'x' } }],
    ['a dot at the end of a name', { 'one.': { DataType: 'String', StringValue: 'x' } }],
    ['eleven', Object.fromEntries([...'abcdefghijk'].map((n) => [n, { DataType: 'String', StringValue: 'x' }]))],
  ])('attributes are refused: %s', async (_, MessageAttributes) => {
    const url = await bench.create('bad-attributes');
    expect(await failureOf(bench.send(url, 'x', { MessageAttributes }))).toMatchObject({
      name: 'InvalidParameterValue',
      status: 400,
    });
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('the system attributes tell sender, times and count, and the trace header comes back', async () => {
    const beforeMs = Date.now();
    const url = await bench.create('system');
    const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793';
    const AWSTraceHeader = { DataType: 'String', StringValue: trace };
    await bench.send(url, 'x', { MessageSystemAttributes: { AWSTraceHeader } });
    const [first] = await bench.receive(url, { MessageSystemAttributeNames: ['All'], VisibilityTimeout: 0 });
    const told = first?.Attributes ?? {};
    expect(told).toMatchObject({ ApproximateReceiveCount: '1', AWSTraceHeader: trace });
    expect(told.SenderId).toMatch(/./);
    expect(Number(told.SentTimestamp)).toBeGreaterThan(beforeMs - 600_000);
    expect(Number(told.SentTimestamp)).toBeLessThan(Date.now() + 600_000);
    expect(Number(told.ApproximateFirstReceiveTimestamp)).toBeGreaterThanOrEqual(Number(told.SentTimestamp));
    expect(Object.keys(told)).not.toContain('MessageGroupId');
    const [second] = await bench.receive(url, { MessageSystemAttributeNames: ['ApproximateReceiveCount'] });
    expect(second?.Attributes).toEqual({ ApproximateReceiveCount: '2' });
  });
});

describe('leases', () => {
  test('a message is invisible for its lease, visible by visibility 0, gone once deleted', async () => {
    const url = await bench.create('leases');
    await bench.send(url, 'x');
    const [first] = await bench.receive(url);
    expect([await bench.receive(url), await bench.counts(url)]).toEqual([[], [0, 1, 0]]);
    await lease(url, first?.ReceiptHandle, 0);
    const [second] = await bench.receive(url);
    expect(second).toMatchObject({ MessageId: first?.MessageId, Body: 'x' });
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
    await remove(url, second?.ReceiptHandle);
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('an old handle is accepted and deletes nothing, as is the same one twice', async () => {
    const url = await bench.create('old-handles');
    await bench.send(url, 'x');
    const [first] = await bench.receive(url, { VisibilityTimeout: 0 });
    const [second] = await bench.receive(url);
    await remove(url, first?.ReceiptHandle);
    expect(await bench.counts(url)).toEqual([0, 1, 0]);
    await remove(url, second?.ReceiptHandle);
    await remove(url, second?.ReceiptHandle);
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('the lease of an old handle, or of a deleted message, is not changed', async () => {
    const url = await bench.create('old-leases');
    await bench.send(url, 'x');
    const [first] = await bench.receive(url, { VisibilityTimeout: 0 });
    const [second] = await bench.receive(url);
    const late = { name: 'MessageNotInflight', status: 400 };
    for (const seconds of [0, 100])
      expect(await failureOf(lease(url, first?.ReceiptHandle, seconds))).toMatchObject(late);
    expect(await bench.counts(url)).toEqual([0, 1, 0]);
    await remove(url, second?.ReceiptHandle);
    for (const seconds of [0, 100])
      expect(await failureOf(lease(url, second?.ReceiptHandle, seconds))).toMatchObject(late);
  });

  test('a lease can be made longer: the message stays away past its first one', async () => {
    const own = await SqsBench.start();
    const url = await own.create('longer', { VisibilityTimeout: '30' });
    await own.send(url, 'x');
    const [message] = await own.receive(url);
    const longer = { QueueUrl: url, ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout: 600 };
    await own.sdk.send(new ChangeMessageVisibilityCommand(longer));
    await own.native.advance(100);
    expect(await own.receive(url)).toEqual([]);
    await own.native.advance(600);
    expect(await own.bodies(url)).toEqual(['x']);
    await own.stop();
  });

  test('a delay keeps a message back: its own, else that of the queue', async () => {
    const url = await bench.create('delays', { DelaySeconds: '300' });
    await bench.send(url, 'late');
    await bench.send(url, 'now', { DelaySeconds: 0 });
    expect([await bench.bodies(url), await bench.counts(url)]).toEqual([['now'], [0, 1, 1]]);
  });

  test('a long poll is answered by the message that comes, and ends empty at its time', async () => {
    const url = await bench.create('long-poll', { ReceiveMessageWaitTimeSeconds: '20' });
    const started = performance.now();
    expect(await bench.receive(url, { WaitTimeSeconds: 1 })).toEqual([]);
    expect(performance.now() - started).toBeGreaterThan(900);
    const empty = await bench.create('long-poll-empty', { ReceiveMessageWaitTimeSeconds: '20' });
    const others: unknown[] = [];
    const other = bench.bodies(empty, { WaitTimeSeconds: undefined });
    void other.then((bodies) => others.push(...bodies, 'ended'));
    const waiting = bench.bodies(url, { WaitTimeSeconds: undefined });
    await vi.waitFor(() => bench.send(url, 'it came'), 50_000);
    expect(await waiting).toEqual(['it came']);
    // Another poll, of as many seconds and begun before it, still waits.
    expect(others).toEqual([]);
    await bench.send(empty, 'the end');
    expect(await other).toEqual(['the end']);
  });
});

describe('batches', () => {
  test('each entry stands alone: what is wrong with one fails it only', async () => {
    const url = await bench.create('batches');
    const { Successful = [], Failed = [] } = await batch(url, [
      { Id: 'good', MessageBody: 'a' },
      { Id: 'empty', MessageBody: '' },
      { Id: 'control', MessageBody: 'bell \u0007' },
      { Id: 'attribute', MessageBody: 'b', MessageAttributes: { one: { DataType: 'String', StringValue: '' } } },
      { Id: 'delay', MessageBody: 'c', DelaySeconds: 901 },
      { Id: 'also-good_2', MessageBody: '{"n":1}' },
    ]);
    expect(Successful.map(({ Id, MD5OfMessageBody }) => [Id, MD5OfMessageBody])).toEqual([
      ['good', md5('a')],
      ['also-good_2', md5('{"n":1}')],
    ]);
    expect(Failed.map(({ Id, SenderFault }) => [Id, SenderFault])).toEqual(
      ['empty', 'control', 'attribute', 'delay'].map((id) => [id, true]),
    );
    const codes = Object.fromEntries(Failed.map(({ Id, Code }) => [Id, Code]));
    expect(codes).toMatchObject({ control: 'InvalidMessageContents', attribute: 'InvalidParameterValue' });
    expect((await bench.bodies(url)).sort()).toEqual(['a', '{"n":1}']);
  });

  test('of ten handles those that are none fail, and the others are deleted or released', async () => {
    const url = await bench.create('handle-batches');
    await batch(
      url,
      [...'abcd'].map((Id) => ({ Id, MessageBody: Id })),
    );
    const handles = (await bench.receive(url)).map(({ ReceiptHandle }, n) => ({ Id: `h${n}`, ReceiptHandle }));
    const none = { Id: 'none', ReceiptHandle: 'not a handle' };
    const released = await bench.sdk.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: url,
        Entries: [...handles.slice(0, 2), none].map((each) => ({ ...each, VisibilityTimeout: 0 })),
      }),
    );
    expect(released.Successful?.map(({ Id }) => Id)).toEqual(['h0', 'h1']);
    expect(released.Failed).toMatchObject([{ Id: 'none', Code: 'ReceiptHandleIsInvalid', SenderFault: true }]);
    const deleted = await bench.sdk.send(
      new DeleteMessageBatchCommand({ QueueUrl: url, Entries: [none, ...handles.slice(2)] }),
    );
    expect(deleted.Successful?.map(({ Id }) => Id)).toEqual(['h2', 'h3']);
    expect(deleted.Failed).toMatchObject([{ Id: 'none', Code: 'ReceiptHandleIsInvalid', SenderFault: true }]);
    expect(await bench.counts(url)).toEqual([2, 0, 0]);
  });

  const entries = (count: number, id = (n: number) => `e${n}`, MessageBody = 'x') =>
    Array.from({ length: count }, (_, n) => ({ Id: id(n), MessageBody }));
  test.each([
    ['none', [], 'EmptyBatchRequest'],
    ['eleven', entries(11), 'TooManyEntriesInBatchRequest'],
    ['the same id twice', entries(2, () => 'same'), 'BatchEntryIdsNotDistinct'],
    ['an id with a space', entries(1, () => 'a b'), 'InvalidBatchEntryId'],
    ['an id of 81 letters', entries(1, () => 'x'.repeat(81)), 'InvalidBatchEntryId'],
    ['more than 1 MiB', entries(5, undefined, 'x'.repeat(250_000)), 'BatchRequestTooLong'],
  ])('a batch is refused as a whole: %s', async (_, sent, name) => {
    const url = await bench.create('whole-batches');
    expect(await failureOf(batch(url, sent))).toMatchObject({ name, status: 400, attempts: 1 });
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });
});

describe('failures', () => {
  const missing = 'http://localhost/sqs/000000000000/not-there';
  test.each([
    ['a queue that is not there', 'QueueDoesNotExist', () => bench.send(missing, 'x')],
    ['an empty body', 'MissingParameter', (url: string) => bench.send(url, '')],
    ['a body too long', 'InvalidParameterValue', (url: string) => bench.send(url, 'x'.repeat(262_145))],
    ['a control character', 'InvalidMessageContents', (url: string) => bench.send(url, 'bell \u0007')],
    ['a delay too long', 'InvalidParameterValue', (url: string) => bench.send(url, 'x', { DelaySeconds: 901 })],
    ['eleven messages', 'InvalidParameterValue', (url: string) => bench.receive(url, { MaxNumberOfMessages: 11 })],
    ['no message', 'InvalidParameterValue', (url: string) => bench.receive(url, { MaxNumberOfMessages: 0 })],
    ['a wait of 21 s', 'InvalidParameterValue', (url: string) => bench.receive(url, { WaitTimeSeconds: 21 })],
    ['a lease too long', 'InvalidParameterValue', (url: string) => bench.receive(url, { VisibilityTimeout: 43_201 })],
    ['a handle that is none', 'ReceiptHandleIsInvalid', (url: string) => remove(url, 'not a handle')],
    ['a lease of no handle', 'ReceiptHandleIsInvalid', (url: string) => lease(url, 'bm9uZQ==', 10)],
  ])('%s is told by name', async (_, name, call) => {
    const url = await bench.create('failures');
    const failed = await failureOf(call(url));
    expect(failed).toMatchObject({ name, attempts: 1 });
    expect([400, 404]).toContain(failed.status);
    expect(failed.message).toMatch(/\w+ \w+/);
  });

  test('permissions are not for SQS to give', async () => {
    const QueueUrl = await bench.create('permissions');
    const add = { QueueUrl, Label: 'l', AWSAccountIds: ['123456789012'], Actions: ['SendMessage'] };
    for (const command of [new AddPermissionCommand(add), new RemovePermissionCommand({ QueueUrl, Label: 'l' })])
      expect(await failureOf(bench.sdk.send(command as AddPermissionCommand))).toMatchObject({
        name: 'UnsupportedOperation',
        status: 400,
      });
  });
});
