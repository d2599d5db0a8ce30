// GET /v1/logs/tail: records as they are stored, as Server-Sent Events. Once a second each stream reads the blocks that were committed since; blocks of all
// processes are seen, and each once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockRef } from '../../core/blocks/block.ts';
import type { CallContext } from '../../core/context.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import { clockNow } from '../../core/database-clock.ts';
import type { Ended, Principal } from '../../core/principal.ts';
import { scopesAllow } from '../../core/scopes.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { commentText, eventText } from '../../lib/event-stream.ts';
import { invalidField, problem } from '../../problems/problem.ts';
import { levels } from './records/levels.ts';
import { ALL_COLUMNS } from './records/stored-log.ts';
import { filterFields, type Question, questionOf, type SentFilter } from './search/question.ts';
import { type FindArgs, type FoundRecord, findRecords } from './search/scan.ts';
import type { LogsState } from './state.ts';

const SEARCH = 'logs.search';
const READ_EVERY_MS = 1_000;
/** Of what came in a second; of more the first are passed over, and a comment says so. */
const RECORDS_PER_READ = 500;
const BLOCKS_PER_READ = 64;
const READS_PER_CHECK = 2;
const BEAT = { everyMs: 15_000, text: commentText('still here') };
const TAILS_MAX = 5;
const ALL_TAILS_MAX = 100;
const TEXT_CHARACTERS_MAX = 1_024;

export const tailRoute: RawRoute<LogsState> = {
  name: 'logs.tail',
  methods: ['GET'],
  path: '/v1/logs/tail',
  capability: SEARCH,
  stream: 'answer',
  bodyBytesMax: 1,
  credentialOf: bearer,
  answer: tail,
};

async function tail(request: RawRequest, state: LogsState): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  const asked = questionOf(readQuery(request.query), await clockNow(ctx.core.db));
  const leave = enter(state.tails, ctx.accountId);
  // Records may say any time that ingest takes.
  const question = { ...asked, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
    body: follow(ctx, state, question, { signal: request.signal, leave }),
    beat: BEAT,
  };
}

/** Throws CONCURRENCY_LIMITED. */
function enter(tails: LogsState['tails'], accountId: string): () => void {
  const count = tails.get(accountId) ?? 0;
  const all = [...tails.values()].reduce((sum, each) => sum + each, 0);
  if (count >= TAILS_MAX || all >= ALL_TAILS_MAX) {
    throw problem('CONCURRENCY_LIMITED', { retryAfterMs: 10_000, message: 'Too many streams of logs are open.' });
  }
  tails.set(accountId, count + 1);
  return () => {
    const left = (tails.get(accountId) ?? 1) - 1;
    if (left === 0) tails.delete(accountId);
    else tails.set(accountId, left);
  };
}

async function* follow(
  ctx: CallContext,
  { store }: LogsState,
  question: Question,
  { signal, leave }: { readonly signal: AbortSignal; readonly leave: () => void },
): AsyncGenerator<string> {
  const { accountId, principal } = ctx;
  const args: FindArgs = { question, after: null, isNewestFirst: true, limit: RECORDS_PER_READ };
  const work = { source: findRecords.source, exportName: findRecords.id, columns: ALL_COLUMNS, args };
  try {
    let seen = new Set((await store.tail(accountId, 0n)).map(({ blockId }) => blockId));
    yield commentText('logs');
    for (let reads = 1; !signal.aborted; reads += 1) {
      // A long call has an older number than calls that overtook it: what is new is what was not seen.
      const refs = await store.tail(accountId, 0n);
      const fresh = refs.filter(({ blockId }) => !seen.has(blockId));
      seen = new Set(refs.map(({ blockId }) => blockId));
      for (const part of partsOf(fresh)) {
        const rows = await store.work<FoundRecord[]>(accountId, part, work, signal);
        for (const { json } of rows.slice(0, RECORDS_PER_READ).reverse()) yield eventText({ data: json });
        if (rows.length > RECORDS_PER_READ) yield commentText('records were passed over: too many at once');
      }
      if (reads % READS_PER_CHECK === 0 && !mayFollow(await principal.kind.again(principal))) return;
      await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    leave();
  }
}

function* partsOf(refs: readonly BlockRef[]): Generator<readonly BlockRef[]> {
  for (let at = 0; at < refs.length; at += BLOCKS_PER_READ) yield refs.slice(at, at + BLOCKS_PER_READ);
}

function mayFollow(now: Principal | Ended): boolean {
  return typeof now !== 'string' && !now.suspended && scopesAllow(now.scopes, SEARCH, 'read');
}

/** Throws VALIDATION_FAILED. */
function readQuery(query: URLSearchParams): SentFilter {
  const sent: Record<string, string> = {};
  for (const [name, text] of query) {
    const isKnown = name.startsWith('attributes.') || (Object.hasOwn(filterFields, name) && name !== 'attributes');
    const isTime = name === 'from' || name === 'to';
    if (!isKnown || isTime)
      throw invalidField(
        name.slice(0, 200),
        'unknown',
        'The stream takes q, service, level, trace_id and attributes.NAME.',
      );
    if (text.length > TEXT_CHARACTERS_MAX || text.includes('\0'))
      throw invalidField(name.slice(0, 200), 'format', 'The value is too long, or holds NUL.');
    sent[name] = text;
  }
  if (sent.level !== undefined && !(levels as readonly string[]).includes(sent.level))
    throw invalidField('level', 'enum', `level must be one of ${levels.join(', ')}.`);
  if (sent.trace_id !== undefined && !/^[0-9a-f]{32}$/i.test(sent.trace_id))
    throw invalidField('trace_id', 'pattern', 'trace_id must be 32 hexadecimal digits.');
  return sent as SentFilter;
}
