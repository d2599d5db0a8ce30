// The package sqs-consumer, as programs have it: it takes every message once, gives back what its handler fails with, and stops.

import { once } from 'node:events';
import type { Message } from '@aws-sdk/client-sqs';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { Consumer, type ConsumerOptions } from 'sqs-consumer';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SqsBench } from './harness.ts';

let bench: SqsBench;
beforeAll(async () => {
  bench = await SqsBench.start();
});
afterAll(() => bench.stop());

/** A queue with `count` messages, whose bodies are their numbers. */
async function filled(name: string, count: number): Promise<string> {
  const url = await bench.create(name);
  for (let from = 0; from < count; from += 10) {
    const Entries = Array.from({ length: Math.min(10, count - from) }, (_, n) => {
      const number = String(from + n);
      return { Id: number, MessageBody: number };
    });
    const { Failed = [] } = await bench.sdk.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    expect(Failed).toEqual([]);
  }
  return url;
}

/** Runs a consumer while `work` lasts; answers the errors that it told of. */
async function consuming(queueUrl: string, options: Omit<ConsumerOptions, 'queueUrl'>, work: () => Promise<void>) {
  const errors: Error[] = [];
  // Stopping waits for the poll that is under way: it may still bring a message.
  const waits = { waitTimeSeconds: 1, pollingCompleteWaitTimeMs: 10_000 };
  const consumer = Consumer.create({ queueUrl, sqs: bench.sdk, ...waits, ...options });
  for (const event of ['error', 'processing_error', 'timeout_error'] as const)
    consumer.on(event, (...[error]: readonly unknown[]) => void errors.push(error as Error));
  consumer.start();
  try {
    await work();
  } finally {
    const stopped = once(consumer, 'stopped');
    consumer.stop();
    await stopped;
  }
  expect(consumer.status.isRunning).toBe(false);
  return errors;
}

test.each([
  ['one by one', false],
  ['in batches', true],
])('100 messages are each handled once, %s, and the queue is then empty', async (_, inBatches) => {
  const url = await filled(`hundred-${inBatches}`, 100);
  const seen: string[] = [];
  const note = (message: Message) => void seen.push(message.Body as string);
  const handler: Partial<ConsumerOptions> = inBatches
    ? {
        handleMessageBatch: async (messages) => {
          messages.forEach(note);
          return messages;
        },
      }
    : {
        handleMessage: async (message) => {
          note(message);
          return message;
        },
      };
  const errors = await consuming(url, { batchSize: 10, ...handler }, async () => {
    await vi.waitFor(async () => expect(await bench.counts(url)).toEqual([0, 0, 0]), {
      timeout: 50_000,
      interval: 100,
    });
  });
  expect(errors).toEqual([]);
  expect(seen.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 100 }, (_, n) => String(n)));
});

test('what its handler fails with comes again at once, and only that', async () => {
  const url = await filled('failing', 5);
  const seen: string[] = [];
  const handleMessage = async (message: Message) => {
    const body = message.Body as string;
    seen.push(body);
    if (body === '3' && seen.filter((each) => each === '3').length < 3) throw new Error('not yet');
    return message;
  };
  const errors = await consuming(url, { batchSize: 5, handleMessage, terminateVisibilityTimeout: true }, async () => {
    await vi.waitFor(async () => expect(await bench.counts(url)).toEqual([0, 0, 0]), {
      timeout: 50_000,
      interval: 100,
    });
  });
  expect(errors.map(({ message }) => message)).toEqual(Array(2).fill('Unexpected message handler failure: not yet'));
  expect(seen.sort()).toEqual(['0', '1', '2', '3', '3', '3', '4']);
});

test('a slow handler’s lease is extended by heartbeats, and nothing is delivered twice', async () => {
  const url = await filled('heartbeat', 1);
  const seen: string[] = [];
  const handleMessage = async (message: Message) => {
    seen.push(message.Body as string);
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    return message;
  };
  const lease = { visibilityTimeout: 3, heartbeatInterval: 1 };
  const errors = await consuming(url, { handleMessage, ...lease }, async () => {
    await vi.waitFor(async () => expect(await bench.counts(url)).toEqual([0, 0, 0]), {
      timeout: 50_000,
      interval: 100,
    });
  });
  expect([errors, seen]).toEqual([[], ['0']]);
});

test('once stopped, it takes nothing more', async () => {
  const url = await filled('stopped', 1);
  await consuming(url, { handleMessage: async (message) => message }, async () => {
    await vi.waitFor(async () => expect(await bench.counts(url)).toEqual([0, 0, 0]), {
      timeout: 50_000,
      interval: 100,
    });
  });
  await bench.send(url, 'after the end');
  expect(await bench.receive(url, { WaitTimeSeconds: 2 })).toMatchObject([{ Body: 'after the end' }]);
});
