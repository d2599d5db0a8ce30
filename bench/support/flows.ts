// What the load generator sends: the same body for every kind of call, so that rates compare.
import { type Flow, post } from './load.ts';
import type { BenchAccount } from './service.ts';

export const QUEUE = 'bench';
export const BODY = `{"queue":"${QUEUE}","payload":{"task":"resize","image":"https://example.org/images/0123456789.png","width":640,"height":480,"tags":["a","b","c"]}}`;

export function noop(url: string, account: BenchAccount): Flow {
  const request = post(url, '/v1/bench/noop', account.secret, BODY);
  return { next: () => request };
}

export function publish(url: string, account: BenchAccount): Flow {
  const request = post(url, '/v1/queue/publish', account.secret, BODY);
  return { next: () => request };
}

/** Connection i publishes with account i. */
export function publishFromAll(url: string, accounts: readonly BenchAccount[]): Flow {
  const requests = accounts.map((account) => post(url, '/v1/queue/publish', account.secret, BODY));
  return { next: (connection) => requests[connection % requests.length] as Buffer };
}

let keys = 0;

/** A fresh key a call. The requests are written before the clock runs: `calls` of them, at most. */
export function publishWithKeys(url: string, account: BenchAccount, calls = 60_000): Flow {
  const requests = Array.from({ length: calls }, () => {
    keys += 1;
    return post(url, '/v1/queue/publish', account.secret, BODY, `Idempotency-Key: bench-${process.pid}-${keys}\r\n`);
  });
  return { next: () => requests.pop() ?? null };
}

const HANDLE = '"receipt_handle":"';

/** The receipts in an answer of consume. */
export function receiptsIn(body: Buffer): string[] {
  const text = body.toString('latin1');
  const found: string[] = [];
  for (let at = text.indexOf(HANDLE); at !== -1; at = text.indexOf(HANDLE, at)) {
    at += HANDLE.length;
    found.push(text.slice(at, text.indexOf('"', at)));
  }
  return found;
}

/** consume 1, ack it, and so on; every call counts. An empty queue makes it consume again. */
export function consumeAndAck(url: string, account: BenchAccount): Flow {
  const consume = post(url, '/v1/queue/consume', account.secret, `{"queue":"${QUEUE}"}`);
  const held = new Map<number, string>();
  return {
    next(connection) {
      const receipt = held.get(connection);
      if (receipt === undefined) return consume;
      return post(url, '/v1/queue/ack', account.secret, `{"queue":"${QUEUE}","receipt_handle":"${receipt}"}`);
    },
    answered(connection, _status, body) {
      if (held.delete(connection)) return;
      const [receipt] = receiptsIn(body);
      if (receipt !== undefined) held.set(connection, receipt);
    },
  };
}

/** Body of `queue/batch/publish` with so many messages. */
export function messagesBody(count: number): string {
  const message = BODY.slice(BODY.indexOf('"payload"'), -1);
  return `{"queue":"${QUEUE}","items":[${new Array(count).fill(`{${message}}`).join(',')}]}`;
}

/** publish `batch` messages, consume as many, ack them, and so on, connection i as account i: the backlog stays what it is. Every call counts. */
export function wholeLives(
  url: string,
  accounts: readonly BenchAccount[],
  batch = 1,
  acked: (messages: number) => void = () => undefined,
): Flow {
  const many = messagesBody(batch);
  const requests = accounts.map(({ secret }) => ({
    publish:
      batch === 1 ? post(url, '/v1/queue/publish', secret, BODY) : post(url, '/v1/queue/batch/publish', secret, many),
    consume: post(url, '/v1/queue/consume', secret, `{"queue":"${QUEUE}","max_messages":${batch}}`),
    ack: (receipts: readonly string[]) =>
      post(url, '/v1/queue/ack', secret, JSON.stringify({ queue: QUEUE, receipts })),
  }));
  const published = new Set<number>();
  const held = new Map<number, readonly string[]>();
  return {
    next(connection) {
      const { publish, consume, ack } = requests[connection % requests.length] as (typeof requests)[number];
      const receipts = held.get(connection);
      if (receipts !== undefined) return ack(receipts);
      return published.has(connection) ? consume : publish;
    },
    answered(connection, _status, body) {
      const receipts = held.get(connection);
      if (receipts !== undefined) {
        acked(receipts.length);
        held.delete(connection);
        published.delete(connection);
      } else if (published.has(connection)) {
        const fresh = receiptsIn(body);
        if (fresh.length > 0) held.set(connection, fresh);
      } else published.add(connection);
    },
  };
}
