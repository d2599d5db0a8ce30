// Server-Sent Events that say that flags have changed, and nothing else, since EventSource sends no headers: its address has a token that can only listen.
// The token ends within a day, and with the key that got it.
import type { CallContext, Core } from '../../../core/context.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { Principal } from '../../../core/principal.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { enterStreams, mayFollow, streamBeat, streamHeaders } from '../../../kit/tail.ts';
import { commentText, eventText, within } from '../../../lib/event-stream.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';
import { EVALUATE } from '../capabilities/evaluate.ts';
import { accountOf } from '../flags/store.ts';
import { STREAMS_MAX, STREAMS_OF_ACCOUNT_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';
import { open, preflight, refusal } from './answers.ts';

const KIND = 'listen';
/** A client that asked just before a change, and listens only now, is told of it. */
const RECENT_MS = 60_000;
/** Whether its key still is one is looked at so often. */
const CHECK_EVERY_MS = 30_000;

/** The same for an hour: a client that is given another address connects anew. */
export function streamUrl({ core, tokens }: FlagsState, { accountId, principal }: CallContext): string {
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + DAY_MS;
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
  if (principal === null || Number(endMs) <= Date.now()) {
    const message = 'The token of the stream is wrong or has expired: evaluate all flags to get another.';
    throw problem('UNAUTHORIZED', { message });
  }
  await request.identify({ find: async () => principal });
  await request.rate();
  const { revision, changedMs } = await accountOf(core.db, principal.accountId);
  const leave = await enterStreams(core, principal.accountId, {
    ...{ kind: 'flag streams', noun: 'flags', accountMax: STREAMS_OF_ACCOUNT_MAX },
    allMax: Math.min(STREAMS_MAX, core.bounds.all.streams / 2),
  });
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  const heard = request.headers['last-event-id'];
  const isBehind = heard === undefined ? nowMs - changedMs < RECENT_MS : heard !== String(revision);
  const told = isBehind ? null : revision;
  const body = follow({ principal, served, endMs: Number(endMs), signal: request.signal, leave }, told);
  return { status: 200, headers: { ...streamHeaders, ...open }, body, beat: streamBeat };
}

/** The key that got the token, as it is now; null: it has ended, may evaluate no more, or belongs to another account by now. */
async function listener({ keys }: Core, accountId: string, keyId: string): Promise<Principal | null> {
  const [current] = await keys.secretsOf(keyId);
  const found = current === undefined ? 'unknown' : await keys.findByHash(current);
  return typeof found !== 'string' && found.accountId === accountId && mayFollow(found, EVALUATE) ? found : null;
}

interface Listening extends Pick<FlagsState, 'served'> {
  readonly principal: Principal;
  readonly endMs: number;
  readonly signal: AbortSignal;
  leave(): void;
}

/** `told`: the revision that the client knows; null: an older one. */
async function* follow({ principal, served, endMs, signal, leave }: Listening, told: bigint | null) {
  let known = told;
  let news = Promise.withResolvers<bigint | null>();
  const unfollow = served.follow(principal.accountId, (revision) => {
    if (revision !== known) news.resolve(revision);
  });
  signal.addEventListener('abort', () => news.resolve(null), { once: true });
  try {
    yield commentText('changes of flags');
    for (let checkedMs = performance.now(); !signal.aborted; ) {
      const revision = await within(news.promise, CHECK_EVERY_MS);
      if (revision !== null) {
        known = revision;
        news = Promise.withResolvers();
        const id = String(revision);
        yield eventText({ id, data: JSON.stringify({ type: 'refetchEvaluation', etag: id }) });
      }
      if (performance.now() - checkedMs < CHECK_EVERY_MS) continue;
      checkedMs = performance.now();
      if (endMs <= Date.now() || !mayFollow(await principal.kind.again(principal), EVALUATE)) return;
    }
  } finally {
    unfollow();
    leave();
  }
}
