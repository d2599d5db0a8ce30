// Live tail of the request log as Server-Sent Events. Rows come from all processes and machines, so each read covers a little of the past again
// and skips what was already sent.
import Type from 'typebox';
import { bearer } from '../../../../core/credentials/http-schemes.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import { flushRequests } from '../../../../core/hear-siblings.ts';
import { type RequestFilter, requestsFrom, type StoredRequest } from '../../../../core/requests/store.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../../kit/raw-route.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { type Tail, tailAnswer } from '../../../../kit/tail.ts';
import { eventText } from '../../../../lib/event-stream.ts';
import { sequenceAt } from '../../../../lib/sequence.ts';
import { requestsList } from './list.ts';
import { filterFields, filterOf, requestRecord } from './request.ts';
import { readTailQuery } from './tail-query.ts';

/** What another process ended so long ago may become visible only now. */
const LATE_MS = 5_000;
const ROWS_PER_READ = 500;
const PAGES_PER_READ = 10;

export const requestsTail: RawRoute = {
  name: 'account.requests.tail',
  methods: ['GET'],
  path: '/v1/account/requests/tail',
  capability: requestsList.id,
  stream: 'answer',
  eventStream: {
    summary: 'Follows the request log as it grows.',
    query: Type.Object(filterFields),
    event: 'A call, as account.requests.list answers it.',
  },
  bodyBytesMax: 1,
  credentialOf: bearer,
  answer: tail,
};

async function tail(request: RawRequest): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  const filter = filterOf(readTailQuery(request.query));
  return tailAnswer(request, ctx, { noun: 'the request log', ...follower(ctx, filter, request.signal) });
}

function follower(
  { core, accountId }: CallContext,
  filter: RequestFilter,
  signal: AbortSignal,
): Pick<Tail, 'begin' | 'read'> {
  const archive =
    filter.outcome === 'all' && filter.code === null ? core.requests.archive.follow(accountId, filter, signal) : null;
  let from = 0n;
  let sent = new Set<bigint>();
  const begin = async () => {
    from = sequenceAt(await clockNow(core.db));
    if (archive === null) return;
    await flushRequests(core, accountId);
    await archive.begin();
  };
  async function* readShort() {
    if (archive === null) return;
    await flushRequests(core, accountId);
    for await (const call of archive.read()) yield textOf(call);
  }
  async function* readPages() {
    for (let pages = 0; pages < PAGES_PER_READ; pages += 1) {
      const rows = await requestsFrom(core.db, accountId, from, { filter, limit: ROWS_PER_READ });
      const fresh = rows.filter(({ seq }) => !sent.has(seq));
      for (const row of fresh) yield textOf(row);
      // A full read may have ended before what is new: the next one goes on behind it.
      const last = rows.at(-1);
      if (rows.length < ROWS_PER_READ || last === undefined) {
        const late = sequenceAt((await clockNow(core.db)) - LATE_MS);
        from = late > from ? late : from;
        sent = new Set([...sent, ...fresh.map(({ seq }) => seq)].filter((seq) => seq >= from));
        return;
      }
      from = last.seq;
      sent = new Set([last.seq]);
    }
  }
  return {
    begin,
    async *read() {
      yield* readPages();
      yield* readShort();
    },
  };
}

function textOf(call: StoredRequest): string {
  return eventText({ id: call.request_id, data: JSON.stringify(requestRecord(call)) });
}
