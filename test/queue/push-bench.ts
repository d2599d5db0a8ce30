// Queues with push subscriptions, for tests: a service that may reach receivers on this machine.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';
import { QueueBench } from './harness.ts';
import type { Receiver } from './push-receiver.ts';

export const PRIVATE_TARGETS = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;

export class PushBench extends QueueBench {
  static async begin(
    options: { database?: TestDatabase; account?: TestAccount; env?: Record<string, string> } = {},
  ): Promise<PushBench> {
    const env = { ...PRIVATE_TARGETS, ...options.env };
    const service = await lendService({ database: options.database, env });
    return new PushBench(service, options.account ?? (await createTestAccount(service.core)));
  }

  async another(): Promise<PushBench> {
    return new PushBench(this.service, await createTestAccount(this.service.core));
  }

  subscribe(queue: string, receiver: Pick<Receiver, 'url'>, fields: Record<string, unknown> = {}): Promise<Data> {
    return this.ok('POST', '/v1/queue/subscribe', { queue, url: receiver.url, ...fields });
  }

  async subscriptions(queue: string): Promise<Data[]> {
    return (await this.ok('GET', `/v1/queue/subscriptions/${queue}`)).items;
  }

  unsubscribe(subscriptionId: string): Promise<Data> {
    return this.ok('DELETE', `/v1/queue/unsubscribe/${subscriptionId}`);
  }

  /** Publishes `{ n: from }` to `{ n: from + count - 1 }`. */
  async publishNumbers(
    queue: string,
    count: number,
    fields: (n: number) => Record<string, unknown> = () => ({}),
    from = 0,
  ): Promise<void> {
    const messages = Array.from({ length: count }, (_, i) => ({ payload: { n: from + i }, ...fields(from + i) }));
    for (let at = 0; at < count; at += 100) await this.batch(queue, messages.slice(at, at + 100));
  }

  /** Seconds until the only message of the account can be delivered. */
  async dueInSeconds(): Promise<number> {
    const text = `SELECT extract(epoch FROM m.visible_at - core.clock_now())::float8 AS seconds FROM queue.message m WHERE m.account_id = $1`;
    const { db } = this.service.core;
    const { rows } = await db.query<{ seconds: number }>({ name: 'test_push_due', text }, [this.account.accountId]);
    return (rows[0] as { seconds: number }).seconds;
  }

  /** Waits until every message is settled. */
  drained(queue: string, timeoutMs?: number): Promise<void> {
    return until(async () => (await this.stats(queue)).message_count === 0, timeoutMs);
  }
}

/** Whether the receiver hears nothing more for `ms`. */
export async function silent(receiver: Receiver, ms: number): Promise<boolean> {
  const before = receiver.requests.length;
  await sleep(ms);
  return receiver.requests.length === before;
}
