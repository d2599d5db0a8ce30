// Two processes on one database: what one changes, the other does not remember otherwise.
import { DeleteQueueCommand, GetQueueUrlCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QueueBench } from '../queue/harness.ts';
import { failureOf, SqsBench } from './harness.ts';

let one: SqsBench;
let two: SqsBench;
beforeAll(async () => {
  one = await SqsBench.start();
  const { database } = one.native.service;
  two = await SqsBench.of(await QueueBench.start({ database, account: one.native.account }));
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

/** The URL of the same queue at the other process. */
const there = (url: string) => url.replace(one.url, two.url);

test('a key signs the same at each of them', async () => {
  expect(two.key).toEqual(one.key);
});

test('a queue that one deletes is gone for the other, and made anew with another spelling it has only that', async () => {
  const url = await one.create('Shared');
  await two.send(there(url), 'x');
  const ask = (QueueName: string) => two.sdk.send(new GetQueueUrlCommand({ QueueName }));
  expect((await ask('Shared')).QueueUrl).toBe(there(url));
  await one.sdk.send(new DeleteQueueCommand({ QueueUrl: url }));
  const gone = { name: 'QueueDoesNotExist', status: 400 };
  expect(await failureOf(ask('Shared'))).toMatchObject(gone);
  expect(await failureOf(two.send(there(url), 'y'))).toMatchObject(gone);
  expect(await failureOf(two.receive(there(url)))).toMatchObject(gone);
  const again = await one.create('shared');
  expect(await failureOf(two.send(there(url), 'y'))).toMatchObject(gone);
  await two.send(there(again), 'z');
  expect(await one.bodies(again)).toEqual(['z']);
});

test('settings that one changes hold at the other from then on', async () => {
  const url = await one.createFifo('settings.fifo', { ContentBasedDeduplication: 'false' });
  const send = () => two.send(there(url), 'x', { MessageGroupId: 'g' });
  expect(await failureOf(send())).toMatchObject({ name: 'InvalidParameterValue' });
  const Attributes = { ContentBasedDeduplication: 'true', MaximumMessageSize: '1024' };
  await one.sdk.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }));
  await send();
  expect(await failureOf(two.send(there(url), 'y'.repeat(1_025), { MessageGroupId: 'g' }))).toMatchObject({
    name: 'InvalidParameterValue',
  });
  expect(await two.attributes(there(url), ['MaximumMessageSize'])).toEqual({ MaximumMessageSize: '1024' });
});

test('a handle of one is good at the other', async () => {
  const url = await one.create('handles');
  await one.send(url, 'x');
  const [message] = await one.receive(url);
  const { status } = await two.json('DeleteMessage', { QueueUrl: url, ReceiptHandle: message?.ReceiptHandle });
  expect(status).toBe(200);
  expect(await one.counts(url)).toEqual([0, 0, 0]);
});
