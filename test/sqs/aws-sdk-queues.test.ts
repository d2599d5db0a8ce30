// The SDK of AWS for JavaScript and queues: names, attributes, tags, lists, dead-letter queues and their redrive.
import {
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  PurgeQueueCommand,
  paginateListQueues,
  SetQueueAttributesCommand,
  StartMessageMoveTaskCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { failureOf, SqsBench } from './harness.ts';

let bench: SqsBench;
beforeAll(async () => {
  bench = await SqsBench.start();
});
afterAll(() => bench.stop());

describe('names and addresses', () => {
  test('a queue URL has 12 digits and the name as it was spelled, and the ARN has the same', async () => {
    const url = await bench.create('Orders_New');
    expect(url).toMatch(new RegExp(`^${bench.url}/sqs/\\d{12}/Orders_New$`));
    const digits = url.split('/').at(-2);
    expect((await bench.attributes(url)).QueueArn).toBe(`arn:aws:sqs:us-east-1:${digits}:Orders_New`);
    expect(await bench.sdk.send(new GetQueueUrlCommand({ QueueName: 'Orders_New' }))).toMatchObject({ QueueUrl: url });
  });

  test('the digits are those of the account, whatever the queue', async () => {
    const other = await bench.withAccount();
    const digitsOf = (url: string) => url.split('/').at(-2);
    const [first, second] = [await bench.create('digits-one'), await bench.create('digits-two')];
    expect(digitsOf(first)).toBe(digitsOf(second));
    expect(digitsOf(await other.create('digits-one'))).not.toBe(digitsOf(first));
  });

  test('only the last part of a queue URL is read', async () => {
    const url = await bench.create('last-part');
    await bench.send(url, 'hello');
    for (const place of ['/sqs/000000000000/last-part', '/elsewhere/last-part', '/last-part'])
      expect((await bench.counts(`https://sqs.eu-west-1.amazonaws.com${place}`))[0], place).toBe(1);
  });

  test('creating it again with the same attributes answers the same queue, with others fails', async () => {
    const url = await bench.create('twice', { VisibilityTimeout: '14' });
    expect(await bench.create('twice', { VisibilityTimeout: '14' })).toBe(url);
    expect(await bench.create('twice')).toBe(url);
    expect(await failureOf(bench.create('twice', { VisibilityTimeout: '15' }))).toMatchObject({
      name: 'QueueNameExists',
      status: 400,
    });
  });

  test.each([
    ['another spelling of a queue that is there', 'TWICE-Spelled', 'QueueNameExists'],
    ['a name of two letters', 'ab', 'InvalidParameterValue'],
    ['a name of 81 letters', 'x'.repeat(81), 'InvalidParameterValue'],
    ['a space in a name', 'with space', 'InvalidParameterValue'],
    ['a dot in a name', 'with.dot', 'InvalidParameterValue'],
  ])('%s is refused', async (_, name, code) => {
    await bench.create('twice-spelled');
    expect(await failureOf(bench.create(name))).toMatchObject({ name: code, status: 400, attempts: 1 });
  });

  test('another spelling names no queue', async () => {
    await bench.create('CaseMatters');
    const asked = bench.sdk.send(new GetQueueUrlCommand({ QueueName: 'casematters' }));
    expect(await failureOf(asked)).toMatchObject({ name: 'QueueDoesNotExist', status: 400 });
  });

  test('a deleted queue is gone and its name free', async () => {
    const url = await bench.create('short-lived', { DelaySeconds: '3' });
    await bench.sdk.send(new DeleteQueueCommand({ QueueUrl: url }));
    expect(await failureOf(bench.attributes(url))).toMatchObject({ name: 'QueueDoesNotExist', status: 400 });
    expect((await bench.attributes(await bench.create('short-lived'))).DelaySeconds).toBe('0');
  });

  test('lists go by prefix and in pages', async () => {
    const own = await bench.withAccount();
    const urls: string[] = [];
    for (const name of ['aaa-1', 'aaa-2', 'aaa-3', 'bbb-1', 'bbb-2']) urls.push(await own.create(name));
    expect((await own.sdk.send(new ListQueuesCommand({}))).QueueUrls).toEqual(urls);
    const ofB = await own.sdk.send(new ListQueuesCommand({ QueueNamePrefix: 'bbb' }));
    expect(ofB.QueueUrls).toEqual(urls.slice(3));
    const pages: string[][] = [];
    for await (const { QueueUrls = [] } of paginateListQueues({ client: own.sdk, pageSize: 2 }, {}))
      pages.push(QueueUrls);
    expect(pages).toEqual([urls.slice(0, 2), urls.slice(2, 4), urls.slice(4)]);
  });
});

describe('attributes', () => {
  test('a new queue has the defaults of SQS', async () => {
    const beforeSeconds = Date.now() / 1_000;
    const found = await bench.attributes(await bench.create('defaults'));
    expect(found).toMatchObject({
      VisibilityTimeout: '30',
      MessageRetentionPeriod: '345600',
      DelaySeconds: '0',
      ReceiveMessageWaitTimeSeconds: '0',
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '0',
      ApproximateNumberOfMessagesDelayed: '0',
    });
    expect(Number(found.MaximumMessageSize)).toBe(262_144);
    expect(Number(found.CreatedTimestamp)).toBeGreaterThan(beforeSeconds - 600);
    expect(Number(found.CreatedTimestamp)).toBeLessThan(Date.now() / 1_000 + 600);
    expect(Object.keys(found)).not.toContain('FifoQueue');
    expect(Object.keys(found)).not.toContain('RedrivePolicy');
  });

  const settings = [
    ['VisibilityTimeout', '0', '43200', '43201'],
    ['MessageRetentionPeriod', '60', '1209600', '1209601'],
    ['MaximumMessageSize', '1024', '262143', '1023'],
    ['DelaySeconds', '0', '900', '901'],
    ['ReceiveMessageWaitTimeSeconds', '0', '20', '21'],
  ] as const;

  test.each(settings)('%s comes back as set, at creation and later', async (name, least, most, beyond) => {
    const url = await bench.create(`set-${name}`, { [name]: least });
    expect(await bench.attributes(url, [name])).toEqual({ [name]: least });
    await bench.sdk.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { [name]: most } }));
    expect(await bench.attributes(url, [name])).toEqual({ [name]: most });
    for (const bad of [beyond, '-1', 'ten', '', '1.5']) {
      const change = bench.sdk.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { [name]: bad } }));
      expect(await failureOf(change), bad).toMatchObject({ name: 'InvalidAttributeValue', status: 400 });
    }
    expect(await bench.attributes(url, [name])).toEqual({ [name]: most });
  });

  test('only what is asked for is told, and nothing when nothing is', async () => {
    const url = await bench.create('asked-for');
    expect(Object.keys(await bench.attributes(url, ['DelaySeconds', 'QueueArn'])).sort()).toEqual([
      'DelaySeconds',
      'QueueArn',
    ]);
    expect(await bench.attributes(url, [])).toEqual({});
  });

  test.each([
    ['an unknown attribute', { Speed: '11' }, 'InvalidAttributeName'],
    ['one that is only read', { QueueArn: 'arn:aws:sqs:us-east-1:000000000000:x' }, 'InvalidAttributeName'],
    ['a redrive policy that is no JSON', { RedrivePolicy: '{' }, 'InvalidAttributeValue'],
    ['a redrive policy without an ARN', { RedrivePolicy: '{"maxReceiveCount":3}' }, 'InvalidAttributeValue'],
  ])('%s is refused', async (_, Attributes, code) => {
    const url = await bench.create('refused-attributes');
    const change = bench.sdk.send(
      new SetQueueAttributesCommand({ QueueUrl: url, Attributes: Attributes as Record<string, string> }),
    );
    expect(await failureOf(change)).toMatchObject({ name: code, status: 400 });
  });

  test('tags are set, changed, removed, and may come with the queue', async () => {
    const made = await bench.sdk.send(
      new CreateQueueCommand({ QueueName: 'tagged', tags: { team: 'video', 'a b': 'é' } }),
    );
    const QueueUrl = made.QueueUrl as string;
    const tags = async () => (await bench.sdk.send(new ListQueueTagsCommand({ QueueUrl }))).Tags;
    expect(await tags()).toEqual({ team: 'video', 'a b': 'é' });
    await bench.sdk.send(new TagQueueCommand({ QueueUrl, Tags: { team: 'sound', cost: '' } }));
    expect(await tags()).toEqual({ team: 'sound', 'a b': 'é', cost: '' });
    await bench.sdk.send(new UntagQueueCommand({ QueueUrl, TagKeys: ['a b', 'never there'] }));
    expect(await tags()).toEqual({ team: 'sound', cost: '' });
    await bench.sdk.send(new UntagQueueCommand({ QueueUrl, TagKeys: ['team', 'cost'] }));
    expect((await tags()) ?? {}).toEqual({});
  });

  test('a purge takes all messages, whether leased or delayed', async () => {
    const url = await bench.create('purged');
    for (const body of ['a', 'b', 'c']) await bench.send(url, body, body === 'c' ? { DelaySeconds: 60 } : {});
    await bench.receive(url, { MaxNumberOfMessages: 1 });
    expect(await bench.counts(url)).toEqual([1, 1, 1]);
    await bench.sdk.send(new PurgeQueueCommand({ QueueUrl: url }));
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });
});

describe('dead-letter queues', () => {
  const startMove = (arn: string, fields = {}) =>
    bench.sdk.send(new StartMessageMoveTaskCommand({ SourceArn: arn, ...fields }));
  const moves = async (arn: string) =>
    (await bench.sdk.send(new ListMessageMoveTasksCommand({ SourceArn: arn, MaxResults: 10 }))).Results ?? [];

  /** Lets `count` messages die. */
  async function dying(name: string, count: number) {
    const made = await bench.createWithDlq(name, 1);
    for (let n = 0; n < count; n += 1) await bench.send(made.url, `message ${n}`);
    expect(await bench.receive(made.url, { VisibilityTimeout: 0 })).toHaveLength(count);
    await vi.waitFor(
      async () => {
        expect(await bench.receive(made.url)).toEqual([]);
        expect((await bench.counts(made.deadUrl))[0]).toBe(count);
      },
      { timeout: 50_000 },
    );
    return made;
  }

  test('the policy comes back, its queue knows its sources, and taking it off ends it', async () => {
    const { url, deadUrl, deadArn } = await bench.createWithDlq('sources', 7);
    const { RedrivePolicy = '' } = await bench.attributes(url, ['RedrivePolicy']);
    expect(JSON.parse(RedrivePolicy)).toEqual({ deadLetterTargetArn: deadArn, maxReceiveCount: 7 });
    const sources = async () =>
      (await bench.sdk.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: deadUrl }))).queueUrls;
    expect(await sources()).toEqual([url]);
    await bench.sdk.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { RedrivePolicy: '' } }));
    expect(await sources()).toEqual([]);
    expect(await bench.attributes(url, ['RedrivePolicy'])).toEqual({});
  });

  test('a message that was received too often moves there, and a move task brings it back', async () => {
    const { url, deadUrl, deadArn } = await dying('moving', 3);
    const { TaskHandle } = await startMove(deadArn);
    expect(TaskHandle).toMatch(/./);
    await vi.waitFor(async () => expect((await bench.counts(url))[0]).toBe(3), { timeout: 50_000 });
    expect(await bench.counts(deadUrl)).toEqual([0, 0, 0]);
    await vi.waitFor(async () => expect((await moves(deadArn))[0]?.Status).toBe('COMPLETED'), { timeout: 50_000 });
    expect((await moves(deadArn))[0]).toMatchObject({ ApproximateNumberOfMessagesMoved: 3, SourceArn: deadArn });
  });

  test('a slow move task is listed as running, is the only one, and can be cancelled', async () => {
    const { deadArn } = await dying('slowly', 5);
    const { TaskHandle } = await startMove(deadArn, { MaxNumberOfMessagesPerSecond: 1 });
    expect((await moves(deadArn))[0]).toMatchObject({ TaskHandle, Status: 'RUNNING', MaxNumberOfMessagesPerSecond: 1 });
    expect(await failureOf(startMove(deadArn))).toMatchObject({ name: 'UnsupportedOperation', status: 400 });
    const cancelled = await bench.sdk.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
    expect(cancelled.ApproximateNumberOfMessagesMoved).toBeLessThan(5);
    await vi.waitFor(async () => expect((await moves(deadArn))[0]?.Status).toBe('CANCELLED'), { timeout: 50_000 });
  });

  test('a dead-letter queue of several queues has one task, with their sum, that is cancelled as one', async () => {
    const { url, deadUrl, deadArn } = await dying('first-of-two', 3);
    const policy = { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: 1 }) };
    const second = await bench.create('second-of-two', policy);
    await bench.create('third-of-two', policy);
    for (const body of ['a', 'b']) await bench.send(second, body);
    expect(await bench.receive(second, { VisibilityTimeout: 0 })).toHaveLength(2);
    await vi.waitFor(
      async () => {
        expect(await bench.receive(second)).toEqual([]);
        expect((await bench.counts(deadUrl))[0]).toBe(5);
      },
      { timeout: 50_000 },
    );
    const { TaskHandle } = await startMove(deadArn, { MaxNumberOfMessagesPerSecond: 1 });
    const running = await moves(deadArn);
    expect(running).toHaveLength(1);
    expect(running[0]).toMatchObject({ TaskHandle, Status: 'RUNNING', ApproximateNumberOfMessagesToMove: 5 });
    expect(await failureOf(startMove(deadArn))).toMatchObject({ name: 'UnsupportedOperation', status: 400 });
    const cancelled = await bench.sdk.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
    const [ended] = await moves(deadArn);
    const moved = cancelled.ApproximateNumberOfMessagesMoved as number;
    expect(ended).toMatchObject({ Status: 'CANCELLED', ApproximateNumberOfMessagesMoved: moved });
    await startMove(deadArn);
    await vi.waitFor(async () => expect(await bench.counts(deadUrl)).toEqual([0, 0, 0]), { timeout: 50_000 });
    const both = await moves(deadArn);
    expect(
      both.map(({ Status, ApproximateNumberOfMessagesMoved }) => [Status, ApproximateNumberOfMessagesMoved]),
    ).toEqual([
      ['COMPLETED', 5 - moved],
      ['CANCELLED', moved],
    ]);
    expect((await bench.counts(url))[0]).toBe(3);
    expect((await bench.counts(second))[0]).toBe(2);
  });

  test('tasks of queues that are not there, or are nobody’s dead-letter queue, are refused', async () => {
    const { QueueArn: arn = '' } = await bench.attributes(await bench.create('nobodys'));
    expect((await failureOf(startMove(`${arn}-missing`))).name).toBe('ResourceNotFoundException');
    expect(await failureOf(startMove(arn))).toMatchObject({ name: 'InvalidParameterValue', status: 400 });
    const cancel = bench.sdk.send(new CancelMessageMoveTaskCommand({ TaskHandle: 'bm9uZQ==' }));
    expect((await failureOf(cancel)).name).toBe('ResourceNotFoundException');
  });
});
