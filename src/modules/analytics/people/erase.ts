// Erases the events of deleted people: each block that has such an event is replaced by one without. Replacing a block that a merge has replaced
// meanwhile is refused, and retried in the next run. A merge that had read what is replaced here is refused in turn. A number whose blocks were
// all replaced in one run is gone: since its deletion no commit could write it.

import type { BlockDraft, BlockRef, ScanTask } from '../../../blocks/block.ts';
import { unpackIntegers } from '../../../blocks/columns.ts';
import { replaceBlocks } from '../../../blocks/replace.ts';
import { mendEach } from '../../../core/background/sweeper/sweep.ts';
import { int4Array } from '../../../db/arrays.ts';
import { statement } from '../../../db/statement.ts';
import { analyticsKind, mergeEvents } from '../events/kind.ts';
import { personMark } from '../events/pack.ts';
import type { AnalyticsState } from '../state.ts';

const ACCOUNTS_PER_RUN = 100;
const NUMBERS_PER_RUN = 5_000;
/** More are not looked for one by one. */
const MARKED_MAX = 4;
const ALL_TIME = { fromMs: 0, toMs: Date.UTC(9999, 0) };

const findAccounts = statement(
  'analytics_find_deleted',
  `/* fan-out: accounts with deleted people */
   SELECT d.account_id FROM analytics.deleted d GROUP BY d.account_id LIMIT ${ACCOUNTS_PER_RUN}`,
);
const selectNumbers = statement(
  'analytics_select_deleted',
  `SELECT d.number FROM analytics.deleted d WHERE d.account_id = $1 ORDER BY d.number LIMIT ${NUMBERS_PER_RUN}`,
);
const removeNumbers = statement(
  'analytics_remove_deleted',
  'DELETE FROM analytics.deleted d WHERE d.account_id = $1 AND d.number = ANY($2::integer[])',
);

/** One run of the sweep; true when there is more to do at once. */
export async function eraseDeleted(state: AnalyticsState, signal: AbortSignal): Promise<boolean> {
  const { rows } = await state.core.db.query<{ account_id: string }>(findAccounts, []);
  const finished = await mendEach(rows, signal, ({ account_id }) => eraseOf(state, account_id, signal));
  return finished && rows.length === ACCOUNTS_PER_RUN;
}

async function eraseOf({ core, store }: AnalyticsState, accountId: string, signal: AbortSignal): Promise<void> {
  const { rows } = await core.db.query<{ number: number }>(selectNumbers, [accountId]);
  const numbers = rows.map(({ number }) => number);
  let isDone = true;
  for (const ref of await blocksOf(store, accountId, numbers)) {
    if (signal.aborted) return;
    const [holds] = await store.work<boolean[]>(
      accountId,
      [ref],
      { ...workOf(findNumbers), columns: ['person'], args: numbers },
      signal,
    );
    if (holds !== true) continue;
    const drafts = await store.work<BlockDraft[]>(
      accountId,
      [ref],
      { ...workOf(leaveOut), columns: null, args: numbers },
      signal,
    );
    isDone = (await replaceBlocks(core.db, analyticsKind, accountId, [ref], drafts)) && isDone;
  }
  if (isDone) await core.db.query(removeNumbers, [accountId, int4Array(numbers)]);
}

async function blocksOf(
  store: AnalyticsState['store'],
  accountId: string,
  numbers: readonly number[],
): Promise<BlockRef[]> {
  if (numbers.length > MARKED_MAX) return store.list(accountId, ALL_TIME);
  const lists = await Promise.all(
    numbers.map((each) => store.list(accountId, { ...ALL_TIME, marks: [personMark(each)] })),
  );
  return [...new Map(lists.flat().map((ref) => [`${ref.blockId} ${ref.level}`, ref])).values()];
}

const workOf = ({ source, id }: { readonly source: string; readonly id: string }) => ({ source, exportName: id });

/** Whether each block has an event of one of the numbers. */
export const findNumbers: ScanTask<readonly number[], boolean[]> = {
  source: import.meta.url,
  id: 'findNumbers',
  run(blocks, numbers) {
    const wanted = new Set(numbers);
    return blocks.map(({ columns }) =>
      unpackIntegers(columns.get('person') as Uint8Array).some((each) => wanted.has(each)),
    );
  },
};

export const leaveOut: ScanTask<readonly number[], BlockDraft[]> = {
  source: import.meta.url,
  id: 'leaveOut',
  run(blocks, numbers) {
    const gone = new Set(numbers);
    return mergeEvents(blocks, (number) => !gone.has(number));
  },
};
