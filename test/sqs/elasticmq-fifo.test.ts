// The cases of ElasticMQ's suite for several SDKs, over both protocols, as tables of our own: FIFO queues and deduplication.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SqsBench } from './harness.ts';
import { callsOf, wires } from './wires.ts';

let service: SqsBench;
beforeAll(async () => {
  service = await SqsBench.start();
});
afterAll(() => service.stop());

type Fields = Record<string, unknown>;
type Received = { Body: string; MessageId: string; ReceiptHandle: string; Attributes: Record<string, string> };

describe.each(wires)('$name', (wire) => {
  let bench: SqsBench;
  let queues = 0;
  beforeAll(async () => {
    bench = await service.withAccount();
  });
  const { ok, failure } = callsOf(wire, () => bench);
  const create = async (fields: Fields = {}): Promise<string> => {
    queues += 1;
    const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...fields };
    return (await ok('CreateQueue', { QueueName: `testQueue${queues}.fifo`, Attributes })).QueueUrl;
  };
  const send = (QueueUrl: string, MessageBody: string, MessageGroupId: string, fields: Fields = {}) =>
    ok('SendMessage', { QueueUrl, MessageBody, MessageGroupId, ...fields });
  const receive = async (QueueUrl: string, MaxNumberOfMessages = 1, fields: Fields = {}): Promise<Received[]> =>
    (await ok('ReceiveMessage', { QueueUrl, MaxNumberOfMessages, ...fields })).Messages ?? [];
  const bodies = async (url: string, count = 1) => (await receive(url, count)).map(({ Body }) => Body);
  const remove = (QueueUrl: string, { ReceiptHandle }: Received) => ok('DeleteMessage', { QueueUrl, ReceiptHandle });
  const dedup = (MessageDeduplicationId: string) => ({ MessageDeduplicationId });

  describe('FIFO queues', () => {
    test('a name without .fifo is refused', async () => {
      const made = await failure('CreateQueue', { QueueName: 'testQueue1', Attributes: { FifoQueue: 'true' } });
      expect(made).toEqual([400, 'InvalidParameterValue']);
    });

    test.each<[string, string, Fields]>([
      ['with a letter beyond ASCII', 'InvalidParameterValue', { MessageGroupId: 'æ' }],
      ['of more than 128 characters', 'InvalidParameterValue', { MessageGroupId: '1'.repeat(129) }],
      ['that is not there', 'MissingParameter', {}],
    ])('a group is refused %s', async (_, code, fields) => {
      const QueueUrl = await create();
      expect(await failure('SendMessage', { QueueUrl, MessageBody: 'A body', ...fields })).toEqual([400, code]);
    });

    test('a standard queue takes a group', async () => {
      const { QueueUrl } = await ok('CreateQueue', { QueueName: 'testQueue-standard' });
      await send(QueueUrl, 'A body', 'group-1');
    });

    test('a message has no delay of its own, alone or in a batch, but may say 0', async () => {
      const QueueUrl = await create();
      const delayed = { QueueUrl, MessageBody: 'body', MessageGroupId: '1', DelaySeconds: 10, ...dedup('1') };
      expect(await failure('SendMessage', delayed)).toEqual([400, 'InvalidParameterValue']);
      const Entries = [
        { Id: '1', MessageBody: 'Message 1', MessageGroupId: '1' },
        { Id: '2', MessageBody: 'Message 2', MessageGroupId: '2', DelaySeconds: 10 },
      ];
      const { Successful, Failed } = await ok('SendMessageBatch', { QueueUrl, Entries });
      expect(Successful).toMatchObject([{ Id: '1' }]);
      expect(Failed).toMatchObject([{ Id: '2', Code: 'InvalidParameterValue' }]);
      await send(QueueUrl, 'body', '1', { DelaySeconds: 0, ...dedup('2') });
    });

    test('a message’s delay of 0 leaves the queue’s delay as it is', async () => {
      const url = await create({ DelaySeconds: '300', ContentBasedDeduplication: 'false' });
      await send(url, 'test123', 'group1', { DelaySeconds: 0, ...dedup('dedup1') });
      expect(await receive(url)).toEqual([]);
    });

    test('the second message of a group waits until the first is deleted', async () => {
      const url = await create();
      expect(await receive(url)).toEqual([]);
      for (const body of ['Message 1', 'Message 2']) await send(url, body, 'group-1');
      const [first] = await receive(url);
      expect(first?.Body).toBe('Message 1');
      expect(await receive(url)).toEqual([]);
      await remove(url, first as Received);
      expect(await bodies(url)).toEqual(['Message 2']);
    });

    test('a group waits for the visibility timeout, and then starts with the same message', async () => {
      const url = await create({ VisibilityTimeout: '1' });
      for (const body of ['Message 1', 'Message 2']) await send(url, body, 'group');
      expect(await bodies(url)).toEqual(['Message 1']);
      await vi.waitFor(async () => expect(await bodies(url)).toEqual(['Message 1']), {
        timeout: 50_000,
        interval: 100,
      });
    });

    test('group and deduplication id are among all system attributes', async () => {
      const url = await create({ ContentBasedDeduplication: 'false' });
      await send(url, 'test123', 'gp1', dedup('dup1'));
      expect(await receive(url, 1, { AttributeNames: ['All'] })).toMatchObject([
        { Attributes: { MessageDeduplicationId: 'dup1', MessageGroupId: 'gp1' } },
      ]);
    });
  });

  describe('deduplication', () => {
    test('ids go before content', async () => {
      const url = await create();
      for (const id of ['1', '2']) await send(url, 'body', '1', dedup(id));
      expect(await bodies(url, 2)).toEqual(['body', 'body']);
    });

    test('ten messages with the same content are one, also once it is deleted', async () => {
      const url = await create();
      const ids = new Set<string>();
      for (let n = 1; n <= 10; n += 1) ids.add((await send(url, 'Message', String(n))).MessageId);
      expect(ids.size).toBe(1);
      const [message, ...others] = await receive(url, 4);
      expect([message?.Body, others]).toEqual(['Message', []]);
      await remove(url, message as Received);
      expect(await receive(url, 4)).toEqual([]);
    });

    test('ten messages with the same id are the first one', async () => {
      const url = await create();
      for (let n = 1; n <= 10; n += 1) await send(url, `Message ${n}`, '1', dedup('DedupId'));
      const [message] = await receive(url);
      expect(message?.Body).toBe('Message 1');
      await remove(url, message as Received);
      expect(await receive(url)).toEqual([]);
    });

    test('messages with the same id have each the MD5 of what was sent, and one message id', async () => {
      const url = await create();
      const sent: Record<string, string>[] = [];
      for (const n of [1, 2, 3]) {
        const MessageAttributes = { attribute: { DataType: 'String', StringValue: `value${n}` } };
        sent.push(await send(url, `Message ${n}`, '1', { MessageAttributes, ...dedup('DedupId') }));
      }
      expect(new Set(sent.map(({ MD5OfMessageBody }) => MD5OfMessageBody)).size).toBe(3);
      expect(new Set(sent.map(({ MD5OfMessageAttributes }) => MD5OfMessageAttributes)).size).toBe(3);
      expect(new Set(sent.map(({ MessageId }) => MessageId)).size).toBe(1);
    });

    /** A queue with its dead-letter queue, both with a visibility timeout of 0. */
    async function withDead(maxReceiveCount: number) {
      const deadUrl = await create({ VisibilityTimeout: '0' });
      const { Attributes } = await ok('GetQueueAttributes', { QueueUrl: deadUrl, AttributeNames: ['QueueArn'] });
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes.QueueArn, maxReceiveCount });
      return { deadUrl, url: await create({ RedrivePolicy, VisibilityTimeout: '0' }) };
    }

    /** Receives until the queue is empty; answers how often something came. */
    async function exhaust(url: string, times: number): Promise<void> {
      let seen = 0;
      await vi.waitFor(
        async () => {
          seen += (await receive(url)).length;
          expect(seen).toBeGreaterThanOrEqual(times);
          expect(await receive(url)).toEqual([]);
        },
        { timeout: 50_000, interval: 50 },
      );
      expect(seen).toBe(times);
    }

    test('an id stays taken once its message is dead', async () => {
      const { url } = await withDead(1);
      const first = await send(url, 'Message 1', '1', dedup('DedupId'));
      await exhaust(url, 1);
      const again = await send(url, 'Message 3', '1', dedup('DedupId'));
      expect(again.MessageId).toBe(first.MessageId);
      expect(await receive(url)).toEqual([]);
    });

    test('a dead message keeps its message id and body', async () => {
      const { url, deadUrl } = await withDead(2);
      const { MessageId } = await send(url, 'Message 1', '1', dedup('DedupId'));
      await exhaust(url, 2);
      const [message] = await receive(deadUrl, 1, { AttributeNames: ['All'] });
      expect(message).toMatchObject({ MessageId, Body: 'Message 1' });
      expect(message?.Attributes.MessageDeduplicationId).toMatch(/./);
    });

    test('a message sent to the dead-letter queue with the id of a dead one stands beside it', async () => {
      const { url, deadUrl } = await withDead(2);
      await send(url, 'Message 1', '1', dedup('DedupId'));
      await exhaust(url, 2);
      await send(deadUrl, 'Message 3', '1', dedup('DedupId'));
      const received = await receive(deadUrl, 10, { AttributeNames: ['All'] });
      expect(received.map(({ Body }) => Body)).toEqual(['Message 1', 'Message 3']);
      expect(received[1]?.Attributes.MessageDeduplicationId).toBe('DedupId');
    });
  });
});
