// The request log as it grows, as Server-Sent Events. Each stream reads what is new once a second; rows come from all processes and machines, so it
// reads a little of the past again and passes over what it has sent.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext } from '../../../../core/context.ts';
import { bearer } from '../../../../core/credentials/http-schemes.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import type { Ended, Principal } from '../../../../core/principal.ts';
import { type RequestFilter, requestsFrom } from '../../../../core/requests/store.ts';
import { scopesAllow } from '../../../../core/scopes.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../../kit/raw-route.ts';
import { commentText, eventText } from '../../../../lib/event-stream.ts';
import { sequenceAt } from '../../../../lib/sequence.ts';
import { problem } from '../../../../problems/problem.ts';
import { requestsList } from './list.ts';
import { filterOf, requestRecord } from './request.ts';
import { readTailQuery } from './tail-query.ts';

const READ_EVERY_MS = 1_000;
/** What another process ended so long ago may become visible only now. */
const LATE_MS = 5_000;
const ROWS_PER_READ = 500;
const BEAT = { everyMs: 15_000, text: commentText('still here') };
/** A key that is revoked, or a person who is removed, ends the stream after so many reads. */
const READS_PER_CHECK = 2;

export const requestsTail: RawRoute = {
  name: 'account.requests.tail',
  methods: ['GET'],
  path: '/v1/account/requests/tail',
  capability: requestsList.id,
  stream: 'answer',
  bodyBytesMax: 1,
  credentialOf: bearer,
  answer: tail,
};

async function tail(request: RawRequest): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  const filter = filterOf(readTailQuery(request.query));
  const leave = ctx.core.requests.follow(ctx.accountId);
  if (leave === null)
    throw problem('CONCURRENCY_LIMITED', {
      retryAfterMs: 10_000,
      message: 'Too many streams of the request log are open.',
    });
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
    body: follow(ctx, filter, { signal: request.signal, leave }),
    beat: BEAT,
  };
}

async function* follow(
  ctx: CallContext,
  filter: RequestFilter,
  { signal, leave }: { readonly signal: AbortSignal; readonly leave: () => void },
): AsyncGenerator<string> {
  const { core, accountId, principal } = ctx;
  let sent = new Set<bigint>();
  try {
    yield commentText('requests');
    let from = sequenceAt(await clockNow(core.db));
    for (let reads = 1; !signal.aborted; reads += 1) {
      const rows = await requestsFrom(core.db, accountId, from, { filter, limit: ROWS_PER_READ });
      const fresh = rows.filter(({ seq }) => !sent.has(seq));
      for (const row of fresh) yield eventText({ id: row.request_id, data: JSON.stringify(requestRecord(row)) });
      // A full read may have ended before what is new: the next one goes on behind it.
      const last = rows.at(-1);
      if (rows.length === ROWS_PER_READ && last !== undefined) {
        from = last.seq;
        sent = new Set([last.seq]);
        continue;
      }
      const late = sequenceAt((await clockNow(core.db)) - LATE_MS);
      from = late > from ? late : from;
      sent = new Set([...sent, ...fresh.map(({ seq }) => seq)].filter((seq) => seq >= from));
      if (reads % READS_PER_CHECK === 0 && !mayFollow(await principal.kind.again(principal))) return;
      await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    leave();
  }
}

/** A key that was narrowed, or an account that was suspended, follows no longer either. */
function mayFollow(now: Principal | Ended): boolean {
  return typeof now !== 'string' && !now.suspended && scopesAllow(now.scopes, requestsList.id, 'read');
}
