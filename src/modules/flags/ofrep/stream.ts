// Server-Sent Events that say that flags have changed, and nothing else, since EventSource sends no headers: its address has a token that can only listen.
// The token ends within a day, and with the key that got it.
import type { CallContext, Core } from '../../../core/context.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { Principal } from '../../../core/principal.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { mayFollow, streamAnswer } from '../../../kit/tail.ts';
import { eventText } from '../../../lib/event-stream.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';
import { EVALUATE } from '../capabilities/evaluate.ts';
import { accountOf } from '../flags/store.ts';
import { STREAMS_MAX, STREAMS_OF_ACCOUNT_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';

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
  ...{ name: 'flags.stream', methods: ['GET'], path: '/v1/flags/stream', capability: null },
  ...{ stream: 'answer', bodyBytesMax: 1_024, answer: listen },
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
  const { revision, changedMs } = await accountOf(core.db, principal);
  const heard = request.headers['last-event-id'];
  const isBehind = heard === undefined ? nowMs - changedMs < RECENT_MS : heard !== String(revision);
  let known = isBehind ? null : revision;
  const by = { core, principal, accountId: principal.accountId, capability: EVALUATE };
  return streamAnswer(request, by, {
    ...{ kind: 'flag streams', noun: 'flags', accountMax: STREAMS_OF_ACCOUNT_MAX },
    allMax: Math.min(STREAMS_MAX, core.bounds.all.streams / 2),
    ...{ checkEveryMs: CHECK_EVERY_MS, endMs: Number(endMs) },
    async *next(signal) {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(CHECK_EVERY_MS)]);
      const now = await served.revisionAfter(by.accountId, known, ended);
      if (now === null) return;
      known = now;
      const id = String(now);
      yield eventText({ id, data: JSON.stringify({ type: 'refetchEvaluation', etag: id }) });
    },
  });
}

/** The key that got the token, as it is now; null: it has ended, may evaluate no more, or belongs to another account by now. */
async function listener({ keys }: Core, accountId: string, keyId: string): Promise<Principal | null> {
  const [current] = await keys.secretsOf(keyId);
  const found = current === undefined ? 'unknown' : await keys.findByHash(current);
  return typeof found !== 'string' && found.accountId === accountId && mayFollow(found, EVALUATE) ? found : null;
}
