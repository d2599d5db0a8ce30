// The table of failover (contract, vendors §2) as cases: what the first vendor does, and what the request and its breaker make of it.
import { createServer, type Server, type Socket } from 'node:net';
import type { Fault } from '../support/vendors/double.ts';
import type { Wire } from '../support/vendors/wire.ts';
import type { Breaker } from './failover-harness.ts';
import type { Data } from './harness.ts';

/** What the request comes to: another vendor makes it, it ends, or nobody knows what became of it. */
export type Verdict =
  | { readonly kind: 'left'; readonly reason: string; readonly status: number }
  | { readonly kind: 'ended'; readonly code: string; readonly status: number }
  | { readonly kind: 'unknown' };

export interface Row {
  readonly name: string;
  /** Of each submit to the first vendor. */
  readonly fault?: (wire: Wire) => Fault;
  /** Of the first vendor's entry. */
  readonly entry?: (nets: Nets) => Data;
  readonly verdict: Verdict;
  readonly breaker: Breaker;
  /** How often the first vendor is asked: once, and again after ten minutes when it is pinned. */
  readonly calls: 0 | 1;
  readonly pinnedCalls: 0 | 1 | 2;
}

const left = (reason: string, status: number) => ({ kind: 'left', reason, status }) as const;
const down = left('VENDOR_DOWN', 503);
const late = left('VENDOR_TIMEOUT', 504);
const busy = left('RATE_LIMIT_VENDOR', 429);
const auth = left('VENDOR_AUTH_ERROR', 502);
const counted: Breaker = { calls: 1, failures: 1 };
export const fine: Breaker = { calls: 1, failures: 0 };
const waits = (ms: number): Breaker => ({ state: 'closed', reason: 'RATE_LIMIT_VENDOR', retryInMs: ms });
const closed5min: Breaker = { state: 'open', reason: 'VENDOR_AUTH_ERROR', retryInMs: 300_000 };
export const seeded: Breaker = { state: 'open', reason: 'VENDOR_TIMEOUT', retryInMs: 3_600_000 };
const once = { calls: 1, pinnedCalls: 1 } as const;
const again = { calls: 1, pinnedCalls: 2 } as const;
const never = { calls: 0, pinnedCalls: 0 } as const;
const ended = (code: string, status: number, fault: Row['fault']): Omit<Row, 'name'> => {
  return { fault, verdict: { kind: 'ended', code, status }, breaker: fine, ...once };
};
const unknown = (fault: Fault, entry: Row['entry'] = () => ({})): Omit<Row, 'name'> => {
  return { fault: () => fault, entry, verdict: { kind: 'unknown' }, breaker: counted, ...once };
};
/** The vendor's own words for being down, with another status. */
const own = (status: number) => (wire: Wire) => ({ reply: { ...wire.refusal('down'), status } });

export const ROWS: readonly Row[] = [
  { name: 'refuses connections', entry: ({ shut }) => ({ base_url: shut }), verdict: down, breaker: counted, ...never },
  { name: 'resets before sending', entry: ({ cut }) => ({ base_url: cut }), verdict: down, breaker: counted, ...never },
  {
    name: 'does not connect in time',
    entry: ({ mute }) => ({ base_url: mute, timeouts: { connect_ms: 200 } }),
    verdict: late,
    breaker: counted,
    ...never,
  },
  ...[500, 503, 529].map((status) => {
    return { name: `says ${status} itself`, fault: own(status), verdict: down, breaker: counted, ...again };
  }),
  { name: 'is known to be down', verdict: left('VENDOR_TIMEOUT', 504), breaker: seeded, ...never },
  { name: 'says 429', fault: () => ({ refusal: 'busy' }), verdict: busy, breaker: waits(10_000), ...again },
  {
    name: 'says 429 with Retry-After',
    fault: () => ({ refusal: 'busy', retryAfterS: 1_800 }),
    verdict: busy,
    breaker: waits(1_800_000),
    ...once,
  },
  {
    name: 'has too many of ours',
    fault: () => ({ refusal: 'concurrency' }),
    verdict: busy,
    breaker: waits(10_000),
    ...again,
  },
  // A call before has taken the place of this minute; pinned, it is made when the minute is over.
  {
    name: 'has no place by `limits`',
    entry: () => ({ limits: { per_minute: 1 } }),
    verdict: busy,
    breaker: fine,
    calls: 0,
    pinnedCalls: 1,
  },
  { name: 'says 401', fault: () => ({ refusal: 'auth' }), verdict: auth, breaker: closed5min, ...again },
  { name: 'says 403', fault: () => ({ refusal: 'forbidden' }), verdict: auth, breaker: closed5min, ...again },
  { name: 'wants to be paid first', fault: () => ({ refusal: 'funds' }), verdict: auth, breaker: closed5min, ...again },
  { name: 'refuses a field', ...ended('VALIDATION_FAILED', 400, () => ({ refusal: 'invalid' })) },
  { name: 'says 404', ...ended('VENDOR_ERROR', 502, () => ({ proxy: 404 })) },
  { name: 'refuses the content', ...ended('CONTENT_REFUSED', 400, () => ({ refusal: 'content' })) },
  { name: 'takes it, and the answer is lost', ...unknown('lost') },
  { name: 'resets after sending', ...unknown('reset') },
  { name: 'says nothing in time', ...unknown('silent', () => ({ timeouts: { submit_ms: 300 } })) },
  ...[502, 504, 524].map((proxy) => ({ name: `is behind a ${proxy}`, ...unknown({ proxy }) })),
  { name: 'is behind a 500 of a proxy', ...unknown({ proxy: 500 }) },
  { name: 'is behind a 503 of a proxy', ...unknown({ proxy: 503 }) },
  { name: 'answers with a page', ...unknown('html') },
];

/** Where nobody answers as a vendor does. */
export interface Nets {
  /** Refuses connections. */
  readonly shut: string;
  /** Takes them, and ends them before TLS stands. */
  readonly cut: string;
  /** Takes them, and says nothing. */
  readonly mute: string;
}

/** `servers`: to be closed at the end. */
export async function openNets(servers: Server[]): Promise<Nets> {
  const open = async (onSocket: (socket: Socket) => unknown) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as { port: number }).port}`;
  };
  const cut = await open((socket) => socket.destroy());
  const mute = await open(() => undefined);
  // Of a port that was closed a moment ago another test may be the next owner; nobody listens at this one.
  return { shut: 'http://127.0.0.1:1', cut: `https://${cut}`, mute: `https://${mute}` };
}
