// The archive of the request log: short calls in blocks, written some seconds after they ended.
import type { BlockRef } from '../../../blocks/block.ts';
import { sendBlocks } from '../../../blocks/send.ts';
import { BlockStore } from '../../../blocks/store.ts';
import { windowsOf } from '../../../blocks/windows.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { RequestRow } from '../../../core/requests/entry.ts';
import type { ArchivedPage, ArchiveFollower, CallArchive } from '../../../core/requests/short-calls.ts';
import type { RequestFilter, StoredRequest } from '../../../core/requests/store.ts';
import { textArray } from '../../../db/arrays.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import { TimeSlices } from '../../../lib/time-slices.ts';
import { problem } from '../../../problems/problem.ts';
import { type FindArgs, findCalls, marksOf, newestOf } from './find.ts';
import { CALL_COLUMNS, callsKind, draftsOf } from './kind.ts';

/** After so long a page is answered as it is, with a cursor to go on from. */
const SEARCH_MS_MAX = 5_000;
const PIECE_BLOCKS_MAX = 16;
const FOLLOWED_PER_READ = 1_000;
const LAST_SEQ = 2n ** 63n - 1n;

const anyCall: RequestFilter = {
  fromMs: null,
  toMs: null,
  outcome: 'all',
  status: null,
  code: null,
  capability: null,
  callerId: null,
  entryForm: null,
  traceId: null,
};

// Blocks of an account that is gone meanwhile would stay for days.
const selectAccounts = statement(
  'request_archive_accounts',
  'SELECT w.account_id FROM core.wallet w WHERE w.account_id = ANY($1::text[])',
);

export class CallBlocks implements CallArchive {
  readonly store: BlockStore;
  readonly #db: Services['db'];

  constructor(core: Services) {
    this.store = new BlockStore(core, callsKind);
    this.#db = core.db;
  }

  async write(rows: readonly RequestRow[]): Promise<void> {
    await this.store.makeDays(rows.map(({ seq }) => sequenceMs(seq)));
    const slices = new TimeSlices();
    const blocks = [];
    for (const [accountId, of] of Map.groupBy(rows, (row) => row.accountId)) {
      if (slices.isOver) await slices.next();
      const blockId = (of.at(-1) as RequestRow).seq;
      blocks.push(...draftsOf(of.map(storedOf)).map((draft) => ({ accountId, blockId, draft })));
    }
    for (const together of this.#db.byTransaction(blocks))
      await this.#db.transaction(async (tx) => {
        const accountIds = textArray([...new Set(together.map(({ accountId }) => accountId))]);
        const { rows: there } = await tx.query<{ account_id: string }>(selectAccounts, [accountIds]);
        const accounts = new Set(there.map(({ account_id }) => account_id));
        sendBlocks(
          tx,
          callsKind,
          together.filter(({ accountId }) => accounts.has(accountId)),
        );
      });
  }

  async before(
    accountId: string,
    before: bigint | null,
    { filter, limit }: { readonly filter: RequestFilter; readonly limit: number },
    signal: AbortSignal,
  ): Promise<ArchivedPage> {
    // None of them failed or was slow.
    if (filter.outcome !== 'all' || filter.code !== null) return { rows: [], leftBefore: null };
    const [nowMs, keptMs] = await Promise.all([clockNow(this.#db), this.store.firstKeptMs(accountId)]);
    const untilSeq = sequenceAt(filter.toMs ?? nowMs + 1);
    return this.#search(accountId, signal, {
      filter,
      requestId: null,
      fromSeq: sequenceAt(Math.max(filter.fromMs ?? 0, keptMs)),
      untilSeq: before !== null && before < untilSeq ? before : untilSeq,
      limit,
    });
  }

  async find(accountId: string, requestId: string, signal: AbortSignal): Promise<StoredRequest | null> {
    const [nowMs, keptMs] = await Promise.all([clockNow(this.#db), this.store.firstKeptMs(accountId)]);
    const { rows } = await this.#search(accountId, signal, {
      filter: anyCall,
      requestId,
      fromSeq: sequenceAt(keptMs),
      untilSeq: sequenceAt(nowMs + 1),
      limit: 1,
    });
    return rows[0] ?? null;
  }

  follow(accountId: string, filter: RequestFilter, signal: AbortSignal): ArchiveFollower {
    const args = { filter, requestId: null, fromSeq: 0n, untilSeq: LAST_SEQ, limit: FOLLOWED_PER_READ };
    let seen: ReadonlySet<bigint> = new Set();
    // Processes write at their own times: what is new is what was not seen.
    const fresh = async () => {
      const refs = await this.store.tail(accountId, 0n);
      const before = seen;
      seen = new Set(refs.map(({ blockId }) => blockId));
      return refs.filter(({ blockId }) => !before.has(blockId));
    };
    const scan = (refs: readonly BlockRef[]) => this.#scan(accountId, refs, args, signal);
    return {
      async begin() {
        await fresh();
      },
      async *read() {
        const refs = await fresh();
        for (let at = 0; at < refs.length; at += PIECE_BLOCKS_MAX) {
          yield* (await scan(refs.slice(at, at + PIECE_BLOCKS_MAX))).reverse();
        }
      },
    };
  }

  async #search(accountId: string, signal: AbortSignal, args: FindArgs): Promise<ArchivedPage> {
    const giveUpAt = performance.now() + SEARCH_MS_MAX;
    const [fromMs, toMs] = [sequenceMs(args.fromSeq), sequenceMs(args.untilSeq) + 1];
    let found: StoredRequest[] = [];
    let pieces = 0;
    for (const [start, end] of windowsOf({ fromMs, toMs, spanMs: HOUR_MS, isNewestFirst: true })) {
      const refs = await this.store.list(accountId, { fromMs: start, toMs: end, marks: marksOf(args) });
      refs.sort((a, b) => b.toMs - a.toMs);
      for (let at = 0, size = 1; at < refs.length; size = Math.min(size * 2, PIECE_BLOCKS_MAX)) {
        const ref = refs[at] as BlockRef;
        const last = found[args.limit - 1];
        if (last !== undefined && ref.toMs < sequenceMs(last.seq)) break;
        if (pieces > 0 && performance.now() > giveUpAt) {
          const leftBefore = sequenceAt(ref.toMs + 1);
          return { rows: found.filter(({ seq }) => seq >= leftBefore), leftBefore };
        }
        found = newestOf(
          [...found, ...(await this.#scan(accountId, refs.slice(at, at + size), args, signal))],
          args.limit,
        );
        at += size;
        pieces += 1;
      }
      if (found.length === args.limit) break;
    }
    return { rows: found, leftBefore: null };
  }

  #scan(accountId: string, refs: readonly BlockRef[], args: FindArgs, signal: AbortSignal): Promise<StoredRequest[]> {
    const work = { source: findCalls.source, exportName: findCalls.id, columns: CALL_COLUMNS, args, tooLate };
    return this.store.work<StoredRequest[]>(accountId, refs, work, signal);
  }
}

function tooLate(): Error {
  return problem('OVERLOADED', { message: 'The search took too long. Ask for a shorter period.' });
}

function storedOf(row: RequestRow): StoredRequest {
  return {
    seq: row.seq,
    request_id: row.requestId,
    trace_id: row.traceId,
    capability: row.capability,
    method: row.method,
    path: row.path,
    entry_form: row.entryForm,
    caller_id: row.callerId,
    status: row.status,
    code: null,
    message: null,
    param: null,
    latency_ms: row.latencyMs,
    cost_nanos: row.costNanos,
    bytes_in: row.bytesIn === null ? null : BigInt(row.bytesIn),
    bytes_out: row.bytesOut === null ? null : BigInt(row.bytesOut),
    replay: row.replay,
    vendor: row.vendor,
    input: null,
    address: row.address,
  };
}
