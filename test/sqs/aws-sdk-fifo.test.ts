// The SDK of AWS for JavaScript and FIFO queues: groups, deduplication by id and by content, sequence numbers; and groups on standard queues.
import { DeleteMessageCommand, type SendMessageCommandInput, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, SqsBench } from './harness.ts';

let bench: SqsBench;
beforeAll(async () => {
  bench = await SqsBench.start();
});
afterAll(() => bench.stop());

type Fields = Partial<SendMessageCommandInput>;
const send = (url: string, body: string, MessageGroupId: string, fields: Fields = {}) =>
  bench.send(url, body, { MessageGroupId, ...fields });
const remove = (QueueUrl: string, ReceiptHandle: string | undefined) =>
  bench.sdk.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
const one = { MaxNumberOfMessages: 1 };

describe('order', () => {
  test('a group is delivered in order, one lot at a time, and does not hold up another', async () => {
    const url = await bench.createFifo('groups.fifo');
    for (const [body, group] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
      ['a3', 'a'],
    ] as const)
      await send(url, body, group);
    const [first] = await bench.receive(url, one);
    expect(first?.Body).toBe('a1');
    expect(await bench.bodies(url)).toEqual(['b1']);
    expect(await bench.receive(url)).toEqual([]);
    await remove(url, first?.ReceiptHandle);
    expect(await bench.bodies(url)).toEqual(['a2', 'a3']);
  });

  test('sequence numbers are of 20 digits, rise, and come with the message', async () => {
    const url = await bench.createFifo('sequence.fifo');
    const sent: string[] = [];
    for (const body of ['a', 'b', 'c']) sent.push((await send(url, body, 'g')).SequenceNumber as string);
    expect(
      sent.every((number) => /^\d{20}$/.test(number)),
      sent.join(),
    ).toBe(true);
    expect([...sent].sort()).toEqual(sent);
    const received = await bench.receive(url, { MessageSystemAttributeNames: ['All'] });
    expect(received.map(({ Attributes }) => Attributes?.SequenceNumber)).toEqual(sent);
    expect(received[0]?.Attributes).toMatchObject({ MessageGroupId: 'g', ApproximateReceiveCount: '1' });
    expect(received[0]?.Attributes?.MessageDeduplicationId).toMatch(/^[0-9a-f]{64}$/);
  });

  test('a receive attempt id is taken and does nothing', async () => {
    const url = await bench.createFifo('attempt.fifo');
    await send(url, 'a', 'g');
    expect(await bench.bodies(url, { ReceiveRequestAttemptId: 'again' })).toEqual(['a']);
    expect(await bench.bodies(url, { ReceiveRequestAttemptId: 'again' })).toEqual([]);
  });
});

describe('deduplication', () => {
  test.each<[string, string[], Fields[], number]>([
    ['the same content', ['x', 'x'], [{}, {}], 1],
    ['other content', ['x', 'y'], [{}, {}], 2],
    [
      'the same content, other attributes',
      ['x', 'x'],
      [{}, { MessageAttributes: { n: { DataType: 'Number', StringValue: '1' } } }],
      1,
    ],
    [
      'the same content under two ids',
      ['x', 'x'],
      [{ MessageDeduplicationId: '1' }, { MessageDeduplicationId: '2' }],
      2,
    ],
    ['other content under one id', ['x', 'y'], [{ MessageDeduplicationId: '1' }, { MessageDeduplicationId: '1' }], 1],
  ])('%s', async (title, bodies, fields, stored) => {
    const url = await bench.createFifo(`dedup-${title.replaceAll(/\W/g, '-')}.fifo`);
    const ids: (string | undefined)[] = [];
    for (const [n, body] of bodies.entries()) ids.push((await send(url, body, `g${n}`, fields[n])).MessageId);
    expect(new Set(ids).size).toBe(stored);
    expect(await bench.bodies(url)).toEqual(bodies.slice(0, stored));
  });

  test('a repetition is answered with the first one’s id and number, and its own MD5', async () => {
    const url = await bench.createFifo('repeated.fifo');
    const first = await send(url, 'one', 'g', { MessageDeduplicationId: 'same' });
    const second = await send(url, 'two', 'g', { MessageDeduplicationId: 'same' });
    expect(second).toMatchObject({ MessageId: first.MessageId, SequenceNumber: first.SequenceNumber });
    expect(second.MD5OfMessageBody).not.toBe(first.MD5OfMessageBody);
  });

  test('a deleted message still keeps its id for five minutes, and no longer', async () => {
    const own = await SqsBench.start();
    const url = await own.createFifo('five-minutes.fifo');
    await own.send(url, 'x', { MessageGroupId: 'g' });
    const [message] = await own.receive(url);
    await own.sdk.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle }));
    await own.send(url, 'x', { MessageGroupId: 'g' });
    expect(await own.receive(url)).toEqual([]);
    await own.native.advance(301);
    await own.send(url, 'x', { MessageGroupId: 'g' });
    expect(await own.bodies(url)).toEqual(['x']);
    await own.stop();
  });

  test('without deduplication by content an id is needed, and switching it on ends that', async () => {
    const url = await bench.createFifo('no-content.fifo', { ContentBasedDeduplication: 'false' });
    expect(await failureOf(send(url, 'x', 'g'))).toMatchObject({ name: 'InvalidParameterValue', status: 400 });
    await send(url, 'x', 'g', { MessageDeduplicationId: 'd' });
    const Attributes = { ContentBasedDeduplication: 'true' };
    await bench.sdk.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }));
    await send(url, 'y', 'h');
    expect((await bench.bodies(url)).sort()).toEqual(['x', 'y']);
  });
});

describe('failures', () => {
  test.each<[string, string, Fields]>([
    ['no group', 'MissingParameter', {}],
    ['a group with a letter beyond ASCII', 'InvalidParameterValue', { MessageGroupId: 'æ' }],
    ['a group of 129 letters', 'InvalidParameterValue', { MessageGroupId: 'x'.repeat(129) }],
    ['a delay of its own', 'InvalidParameterValue', { MessageGroupId: 'g', DelaySeconds: 10 }],
    [
      'a deduplication id of 129 letters',
      'InvalidParameterValue',
      { MessageGroupId: 'g', MessageDeduplicationId: 'x'.repeat(129) },
    ],
    [
      'a deduplication id with a space',
      'InvalidParameterValue',
      { MessageGroupId: 'g', MessageDeduplicationId: 'a b' },
    ],
  ])('a message is refused: %s', async (_, name, fields) => {
    const url = await bench.createFifo('refused.fifo');
    expect(await failureOf(bench.send(url, 'x', fields))).toMatchObject({ name, status: 400, attempts: 1 });
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('name and kind must agree', async () => {
    const refused = { name: 'InvalidParameterValue', status: 400 };
    expect(await failureOf(bench.create('no-suffix', { FifoQueue: 'true' }))).toMatchObject(refused);
    expect(await failureOf(bench.create('suffix-only.fifo'))).toMatchObject(refused);
    const url = await bench.createFifo('stays.fifo');
    expect(await bench.attributes(url, ['FifoQueue', 'ContentBasedDeduplication'])).toEqual({
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
    });
  });
});

test('a standard queue keeps a message’s group, without effect', async () => {
  const url = await bench.create('fair');
  for (const body of ['a', 'b']) await send(url, body, 'tenant-1');
  const [first] = await bench.receive(url, { ...one, MessageSystemAttributeNames: ['MessageGroupId'] });
  expect(first?.Attributes).toEqual({ MessageGroupId: 'tenant-1' });
  expect(await bench.bodies(url)).toHaveLength(1);
});
