// Log ingest as a lane effect. Blocks are written as they are; the few records of short calls are packed together, one block for each account
// and span.

import { type SentBlock, sendBlocks } from '../../../blocks/send.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { LogBatch } from '../records/batch.ts';
import { logsKind, ordersOf } from '../records/kind.ts';
import { packRecords } from '../records/pack.ts';
import { lowOf } from '../records/stored-log.ts';
import { type ReadyLogs, takeFew } from './intake.ts';

type Admitted = AdmittedItem<ReadyLogs, null>;

export class IngestEffect implements LaneEffect<ReadyLogs, null> {
  readonly name = 'logs.ingest';

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(_tx: Queryable, items: readonly LaneItem<ReadyLogs, null>[]): Promise<readonly ReadVerdict<null>[]> {
    return items.map(() => ({ kind: 'go', context: null }));
  }

  write(tx: Transaction, items: readonly Admitted[]): readonly string[] {
    for (const item of items) sendBlocks(tx, logsKind, blocksOf(item));
    const few = items.filter(({ item }) => item.input.few.length > 0);
    for (const [accountId, calls] of Map.groupBy(few, ({ item }) => item.accountId)) {
      sendBlocks(tx, logsKind, blocksOfFew(accountId, calls));
    }
    void countAccepted(
      tx,
      items.map(({ item }) => item),
    );
    return items.map(({ item: { input } }) => answerText(input));
  }
}

export function answerText({ records, rejected }: Pick<ReadyLogs, 'records' | 'rejected'>): string {
  return JSON.stringify({ accepted: records, rejected });
}

function blocksOf({ item: { accountId, input }, firstSeq }: Admitted): SentBlock[] {
  let blockId = firstSeq;
  return input.drafts.map((draft) => {
    const block = { accountId, blockId, draft };
    blockId += BigInt(draft.records);
    return block;
  });
}

function blocksOfFew(accountId: string, calls: readonly Admitted[]): SentBlock[] {
  const batch = new LogBatch();
  const numbers: bigint[] = [];
  for (const { item, firstSeq } of calls) {
    takeFew(batch, item.input.few);
    for (const i of item.input.few.keys()) numbers.push(firstSeq + BigInt(i));
  }
  const parts = { ms: numbers.map(sequenceMs), low: numbers.map(lowOf) };
  return ordersOf(batch).map((order) => ({
    accountId,
    blockId: numbers[Math.min(...order)] as bigint,
    draft: packRecords(batch, order, parts),
  }));
}
