// The cases of ElasticMQ's suite for several SDKs, over both protocols, as tables of our own: queues, their attributes, dead-letter queues, move tasks,
// creation at once, health. Where that suite and SQS part (permissions, 1 MiB), the case says what is so here.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SqsBench } from './harness.ts';
import { callsOf, wires } from './wires.ts';

let service: SqsBench;
beforeAll(async () => {
  service = await SqsBench.start();
});
afterAll(() => service.stop());

test('health check', async () => {
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});

describe.each(wires)('$name', (wire) => {
  let bench: SqsBench;
  beforeAll(async () => {
    bench = await service.withAccount();
  });
  const { ok, failure, call } = callsOf(wire, () => bench);
  const create = async (QueueName: string, Attributes = {}): Promise<string> =>
    (await ok('CreateQueue', { QueueName, Attributes })).QueueUrl;
  const attribute = async (QueueUrl: string, name: string) =>
    (await ok('GetQueueAttributes', { QueueUrl, AttributeNames: [name] })).Attributes[name];
  const count = async (url: string) => Number(await attribute(url, 'ApproximateNumberOfMessages'));
  const policy = (deadLetterTargetArn: string, maxReceiveCount: number) => ({
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
  });

  describe('creating at once', () => {
    test('100 requests for one name and the same attributes get one queue', async () => {
      const urls = await Promise.all(Array.from({ length: 100 }, () => create('at-once')));
      expect(new Set(urls).size).toBe(1);
    });

    test('of 100 requests for one name and different attributes one gets the queue', async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          call('CreateQueue', { QueueName: 'differing', Attributes: { VisibilityTimeout: String(10 + n) } }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(new Set(answers.flatMap(({ code }) => code ?? []))).toEqual(new Set(['QueueNameExists']));
    });
  });

  describe('queue operations', () => {
    test('a queue is created, its URL got, and it is deleted', async () => {
      const url = await create('testQueue1');
      expect((await ok('GetQueueUrl', { QueueName: 'testQueue1' })).QueueUrl).toBe(url);
      await ok('DeleteQueue', { QueueUrl: url });
      expect(await failure('GetQueueUrl', { QueueName: 'testQueue1' })).toEqual([400, 'QueueDoesNotExist']);
    });

    test('queues are listed, all or by a prefix, and none once they are deleted', async () => {
      bench = await service.withAccount();
      const urls: string[] = [];
      for (const name of ['aaa-testQueue1', 'bbb-testQueue2', 'bbb-testQueue3']) urls.push(await create(name));
      expect((await ok('ListQueues')).QueueUrls).toEqual(urls);
      expect((await ok('ListQueues', { QueueNamePrefix: 'bbb' })).QueueUrls).toEqual(urls.slice(1));
      for (const QueueUrl of urls) await ok('DeleteQueue', { QueueUrl });
      expect((await ok('ListQueues')).QueueUrls ?? []).toEqual([]);
    });

    test('tags are set, listed and removed', async () => {
      const QueueUrl = await create('tagged');
      await ok('TagQueue', { QueueUrl, Tags: { tag1: 'value1', tag2: 'value2' } });
      expect((await ok('ListQueueTags', { QueueUrl })).Tags).toEqual({ tag1: 'value1', tag2: 'value2' });
      await ok('UntagQueue', { QueueUrl, TagKeys: ['tag1'] });
      expect((await ok('ListQueueTags', { QueueUrl })).Tags).toEqual({ tag2: 'value2' });
    });

    test('permissions are added and removed: not here, where scopes of keys do that', async () => {
      const QueueUrl = await create('permitted');
      const add = { QueueUrl, Label: 'l', AWSAccountIds: ['123456789012'], Actions: ['get'] };
      expect(await failure('AddPermission', add)).toEqual([400, 'UnsupportedOperation']);
      expect(await failure('RemovePermission', { QueueUrl, Label: 'l' })).toEqual([400, 'UnsupportedOperation']);
    });
  });

  describe('queue attributes', () => {
    test.each([
      ['the visibility timeout it is created without', {}, 'VisibilityTimeout', '30'],
      ['the visibility timeout it is created with', { VisibilityTimeout: '14' }, 'VisibilityTimeout', '14'],
      ['the delay it is created with', { DelaySeconds: '14' }, 'DelaySeconds', '14'],
      ['the wait it is created with', { ReceiveMessageWaitTimeSeconds: '14' }, 'ReceiveMessageWaitTimeSeconds', '14'],
    ])('a queue has %s', async (_, given, name, value) => {
      const url = await create(`attribute-${Object.values(given).join()}-${name}`, given);
      expect(await attribute(url, name)).toBe(value);
    });

    test('the visibility timeout is changed', async () => {
      const QueueUrl = await create('changed');
      await ok('SetQueueAttributes', { QueueUrl, Attributes: { VisibilityTimeout: '10' } });
      expect(await attribute(QueueUrl, 'VisibilityTimeout')).toBe('10');
    });

    test('messages are counted: visible, not visible, delayed', async () => {
      const QueueUrl = await create('counted');
      for (const MessageBody of ['m1', 'm2']) await ok('SendMessage', { QueueUrl, MessageBody });
      await ok('ReceiveMessage', { QueueUrl });
      const { Attributes } = await ok('GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
      expect(Attributes).toMatchObject({
        ApproximateNumberOfMessages: '1',
        ApproximateNumberOfMessagesNotVisible: '1',
        ApproximateNumberOfMessagesDelayed: '0',
      });
    });

    test.each([
      ['too long', 'x'.repeat(81)],
      ['with spaces', 'queue with spaces'],
    ])('a name is refused that is %s', async (_, QueueName) => {
      expect(await failure('CreateQueue', { QueueName })).toEqual([400, 'InvalidParameterValue']);
    });
  });

  /** A queue whose messages die when they were received once, with `due` of them dead. */
  async function dead(name: string, due: number) {
    const deadUrl = await create(`${name}-dlq`);
    const arn = await attribute(deadUrl, 'QueueArn');
    const url = await create(name, { VisibilityTimeout: '0', ...policy(arn, 1) });
    for (let n = 0; n < due; n += 1) await ok('SendMessage', { QueueUrl: url, MessageBody: `message ${n}` });
    const received = (await ok('ReceiveMessage', { QueueUrl: url, MaxNumberOfMessages: 10, AttributeNames: ['All'] }))
      .Messages;
    expect(received).toHaveLength(due);
    await vi.waitFor(
      async () => {
        expect((await ok('ReceiveMessage', { QueueUrl: url })).Messages ?? []).toEqual([]);
        expect(await count(deadUrl)).toBe(due);
      },
      { timeout: 50_000, interval: 100 },
    );
    return { url, deadUrl, arn, received };
  }

  describe('dead-letter queues', () => {
    test('a dead message says which queue it comes from, one that lives says nothing', async () => {
      const { url, deadUrl, received } = await dead('origin', 1);
      expect(Object.keys(received[0].Attributes)).not.toContain('DeadLetterQueueSourceArn');
      const { Messages } = await ok('ReceiveMessage', { QueueUrl: deadUrl, AttributeNames: ['All'] });
      expect(Messages[0].Attributes.DeadLetterQueueSourceArn).toBe(await attribute(url, 'QueueArn'));
    });

    test('a dead-letter queue lists the queues that name it, and no others', async () => {
      const [one, two] = [await create('testDlq1'), await create('testDlq2')];
      const [toOne, toTwo] = [await attribute(one, 'QueueArn'), await attribute(two, 'QueueArn')];
      const urls: string[] = [];
      for (const n of [1, 2, 4]) urls.push(await create(`source${n}`, policy(toOne, 3)));
      await create('source3', policy(toTwo, 3));
      await create('source5');
      const { queueUrls } = await ok('ListDeadLetterSourceQueues', { QueueUrl: one });
      expect([...queueUrls].sort()).toEqual(urls);
    });
  });

  describe('move tasks', () => {
    const tasks = async (SourceArn: string) =>
      (await ok('ListMessageMoveTasks', { SourceArn, MaxResults: 10 })).Results ?? [];
    const slowly = { MaxNumberOfMessagesPerSecond: 1 };

    test('a task moves all messages back', async () => {
      const { url, deadUrl, arn } = await dead('moved', 6);
      await ok('StartMessageMoveTask', { SourceArn: arn });
      await vi.waitFor(async () => expect([await count(url), await count(deadUrl)]).toEqual([6, 0]), {
        timeout: 50_000,
      });
    });

    test('a slow task moves some at a time, is listed as running, is the only one, and ends when cancelled', async () => {
      const { url, deadUrl, arn } = await dead('slow', 6);
      const { TaskHandle } = await ok('StartMessageMoveTask', { SourceArn: arn, ...slowly });
      expect(
        (await tasks(arn)).map((task: { Status: string; TaskHandle: string }) => [task.TaskHandle, task.Status]),
      ).toEqual([[TaskHandle, 'RUNNING']]);
      expect(await failure('StartMessageMoveTask', { SourceArn: arn })).toEqual([400, 'UnsupportedOperation']);
      await vi.waitFor(async () => expect(await count(url)).toBeGreaterThan(0), { timeout: 50_000 });
      const moved = Number((await ok('CancelMessageMoveTask', { TaskHandle })).ApproximateNumberOfMessagesMoved);
      const after = [await count(url), await count(deadUrl)];
      expect(after).toEqual([moved, 6 - moved]);
      expect(moved).toBeLessThan(6);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect([await count(url), await count(deadUrl)]).toEqual(after);
    });

    test('tasks are listed with the newest first', async () => {
      const { url, deadUrl, arn } = await dead('listed', 2);
      const { TaskHandle: first } = await ok('StartMessageMoveTask', { SourceArn: arn });
      await vi.waitFor(async () => expect((await tasks(arn))[0].Status).toBe('COMPLETED'), { timeout: 50_000 });
      expect((await ok('ReceiveMessage', { QueueUrl: url, MaxNumberOfMessages: 10 })).Messages).toHaveLength(2);
      await vi.waitFor(
        async () => {
          await ok('ReceiveMessage', { QueueUrl: url });
          expect(await count(deadUrl)).toBe(2);
        },
        { timeout: 50_000 },
      );
      const { TaskHandle: second } = await ok('StartMessageMoveTask', { SourceArn: arn, ...slowly });
      const listed = await tasks(arn);
      expect(listed).toMatchObject([{ Status: 'RUNNING' }, { Status: 'COMPLETED' }]);
      expect(listed[0].TaskHandle ?? second).toBe(second);
      expect(first).not.toBe(second);
    });

    test.each([
      [
        'listing for an ARN of no queue',
        'ListMessageMoveTasks',
        { SourceArn: 'arn:aws:sqs:us-east-1:000000000000:none' },
      ],
      ['listing for what is no ARN', 'ListMessageMoveTasks', { SourceArn: 'invalidArn' }],
      ['cancelling what is no task', 'CancelMessageMoveTask', { TaskHandle: '7b8a3c1e-0000-4000-8000-000000000000' }],
    ])('%s fails', async (_, action, input) => {
      const { status, code } = await call(action, input);
      expect([400, 404]).toContain(status);
      expect(code).toMatch(/^(ResourceNotFoundException|QueueDoesNotExist|InvalidParameterValue)$/);
    });
  });
});
