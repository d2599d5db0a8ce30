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

/** publish 1, consume 1, ack it, and so on: the backlog stays what it is. Every call counts. */
export function wholeLives(url: string, account: BenchAccount): Flow {
  const request = post(url, '/v1/queue/publish', account.secret, BODY);
  const rest = consumeAndAck(url, account);
  const published = new Set<number>();
  return {
    next(connection) {
      if (published.has(connection)) return rest.next(connection);
      return request;
    },
    answered(connection, status, body) {
      if (!published.has(connection)) {
        published.add(connection);
        return;
      }
      const acked = !body.includes(HANDLE);
      rest.answered?.(connection, status, body);
      if (acked) published.delete(connection);
    },
  };
}
