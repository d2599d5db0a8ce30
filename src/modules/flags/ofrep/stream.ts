// Server-Sent Events that say that flags have changed, and nothing else, since EventSource sends no headers: its address has a token that can only listen.
// The token ends within a day, and with the key that got it.
import type { CallContext, Core } from '../../../core/context.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { Ended, Principal } from '../../../core/principal.ts';
import { scopesAllow } from '../../../core/scopes.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { commentText, eventText } from '../../../lib/event-stream.ts';
import { EVALUATE } from '../capabilities/evaluate.ts';
import { accountOf } from '../flags/store.ts';
import { STREAMS_MAX, STREAMS_OF_ACCOUNT_MAX, TOKEN_MS } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';
import { open, preflight, refusal } from './answers.ts';

const KIND = 'listen';
const HOUR_MS = 3_600_000;
/** A client that asked just before a change, and listens only now, is told of it. */
const RECENT_MS = 60_000;
/** Whether its key still is one is looked at so often. */
const CHECK_EVERY_MS = 30_000;
const BEAT = { everyMs: 15_000, text: commentText('still here') };
const ALL = 'flag streams';

/** The same for an hour: a client that is given another address connects anew. */
export function streamUrl(
  { core, tokens }: Pick<FlagsState, 'core' | 'tokens'>,
  { accountId, principal }: CallContext,
): string {
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + TOKEN_MS;
  return `${core.baseUrl}/v1/flags/stream?token=${tokens.write(KIND, [accountId, principal.id, endMs])}`;
}

export const streamRoute: RawRoute<FlagsState> = {
  ...{ name: 'flags.stream', methods: ['GET', 'OPTIONS'], path: '/v1/flags/stream', capability: null },
  ...{ stream: 'answer', bodyBytesMax: 1_024, refuse: refusal },
  answer: (request, state) => (request.method === 'OPTIONS' ? Promise.resolve(preflight) : listen(request, state)),
};

async function listen(request: RawRequest, { core, tokens, served }: FlagsState): Promise<RawAnswer> {
  const [accountId, keyId, endMs] = tokens.read(KIND, request.query.get('token') ?? '') ?? [];
  const [principal, nowMs] = await Promise.all([listener(core, String(accountId), String(keyId)), clockNow(core.db)]);
  if (principal === null || Number(endMs) <= Date.now())
    throw problem('UNAUTHORIZED', {
      message: 'The token of the stream is wrong or has expired: evaluate all flags to get another.',
    });
  await request.identify({ find: async () => principal });
  await request.rate();
  const { revision, changedMs } = await accountOf(core.db, principal.accountId);
  const leave = await enter(core, principal.accountId);
  const heard = request.headers['last-event-id'];
  const isBehind = heard === undefined ? nowMs - changedMs < RECENT_MS : heard !== String(revision);
  const events = new Events(isBehind ? revision : null);
  const unfollow = served.follow(principal.accountId, revision, (now) => events.tell(now));
  const end = () => {
    events.end();
    unfollow();
    leave();
  };
  if (request.signal.aborted) end();
  else request.signal.addEventListener('abort', end, { once: true });
  const headers = {
    ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    ...open,
  };
  return { status: 200, headers, body: follow(principal, events, Number(endMs), end), beat: BEAT };
}

/** What a stream is to say next: only the newest revision counts. */
class Events {
  #revision: bigint | null;
  #woken = Promise.withResolvers<void>();
  isOver = false;

  constructor(revision: bigint | null) {
    this.#revision = revision;
    if (revision !== null) this.#woken.resolve();
  }

  tell(revision: bigint): void {
    this.#revision = revision;
    this.#woken.resolve();
  }

  end(): void {
    this.isOver = true;
    this.#woken.resolve();
  }

  /** Null: nothing for so long. */
  async next(withinMs: number): Promise<bigint | null> {
    const timer = setTimeout(() => this.#woken.resolve(), withinMs);
    await this.#woken.promise;
    clearTimeout(timer);
    this.#woken = Promise.withResolvers();
    const revision = this.#revision;
    this.#revision = null;
    return revision;
  }
}

async function* follow(principal: Principal, events: Events, endMs: number, end: () => void): AsyncGenerator<string> {
  try {
    yield commentText('changes of flags');
    let checkedMs = performance.now();
    while (!events.isOver) {
      const revision = await events.next(CHECK_EVERY_MS);
      if (events.isOver) return;
      if (revision !== null) {
        const data = JSON.stringify({ type: 'refetchEvaluation', etag: String(revision) });
        yield eventText({ id: String(revision), data });
      }
      if (performance.now() - checkedMs < CHECK_EVERY_MS) continue;
      checkedMs = performance.now();
      if (endMs <= Date.now() || !mayListen(await principal.kind.again(principal))) return;
    }
  } finally {
    end();
  }
}

/** The key that got the token, as it is now; null: it has ended, may evaluate no more, or belongs to another account by now. */
async function listener({ keys }: Core, accountId: string, keyId: string): Promise<Principal | null> {
  const [current] = await keys.secretsOf(keyId);
  const found = current === undefined ? 'unknown' : await keys.findByHash(current);
  return typeof found !== 'string' && found.accountId === accountId && mayListen(found) ? found : null;
}

function mayListen(now: Principal | Ended): boolean {
  return typeof now !== 'string' && !now.suspended && scopesAllow(now.scopes, EVALUATE, 'read');
}

/** Answers what gives the place back, once. */
async function enter({ underWay, bounds }: Core, accountId: string): Promise<() => void> {
  const own = `${ALL} of ${accountId}`;
  if (!(await underWay.begin(own, STREAMS_OF_ACCOUNT_MAX))) {
    const message = `The account has ${STREAMS_OF_ACCOUNT_MAX} streams of flags open: close one first.`;
    throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: 10_000 });
  }
  if (!(await underWay.begin(ALL, Math.min(STREAMS_MAX, bounds.all.streams / 2)))) {
    underWay.end(own);
    throw problem('OVERLOADED', { retryAfterMs: 10_000 });
  }
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    underWay.end(own);
    underWay.end(ALL);
  };
}
