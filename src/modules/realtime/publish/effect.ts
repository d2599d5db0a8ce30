// Publishing as a lane effect: messages are rows of the commit that charges for them. They never become a large effect: sequence numbers are
// handed out under the lock that the commit holds. So numbers grow in commit order, which readers rely on.

import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { readHistorySeconds } from '../app/store.ts';
import { NEAR_HISTORY_MS } from '../limits.ts';
import { messageId, type NewEvent } from './message.ts';
import { type MessageRow, sendMessages } from './store.ts';

export interface PublishContext {
  /** The account's history is longer than realtime.message holds. */
  readonly isKept: boolean;
}

type Item = LaneItem<readonly NewEvent[], PublishContext>;
type Admitted = AdmittedItem<readonly NewEvent[], PublishContext>;

export class PublishEffect implements LaneEffect<readonly NewEvent[], PublishContext> {
  readonly name = 'realtime.publish';
  readonly #published: (accountId: string) => void;

  /** `published`: told of each account that has new messages, after their commit. */
  constructor(published: (accountId: string) => void) {
    this.#published = published;
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<PublishContext>[]> {
    const accounts = textArray([...new Set(items.map(({ accountId }) => accountId))].sort());
    const seconds = await readHistorySeconds(tx, accounts);
    return items.map(({ accountId }) => {
      const isKept = (seconds.get(accountId) ?? 0) * 1_000 > NEAR_HISTORY_MS;
      return { kind: 'go', context: { isKept } };
    });
  }

  write(tx: Queryable, items: readonly Admitted[]): string[] {
    const rows: MessageRow[] = [];
    const kept: MessageRow[] = [];
    const texts = items.map(({ item, context, firstSeq }) => {
      const own = rowsOf(item.accountId, item.input, firstSeq);
      rows.push(...own);
      if (context.isKept) kept.push(...own);
      const shown = own.map(({ channel, seq }) => `{"channel":"${channel}","message_id":"${messageId(seq)}"}`);
      return `{"items":[${shown.join()}]}`;
    });
    sendMessages(tx, rows, false);
    sendMessages(tx, kept, true);
    void countAccepted(
      tx,
      items.map(({ item: { accountId, capability, units } }) => ({ accountId, capability, units })),
    );
    return texts;
  }

  afterCommit(items: readonly Admitted[]): void {
    for (const accountId of new Set(items.map(({ item }) => item.accountId))) this.#published(accountId);
  }
}

/** A row for each channel of each event; the data of an event stands in the first of its rows. */
function rowsOf(accountId: string, events: readonly NewEvent[], firstSeq: bigint): MessageRow[] {
  const rows: MessageRow[] = [];
  for (const { channels, event, data, socketId, userId } of events) {
    const dataSeq = firstSeq + BigInt(rows.length);
    for (const [i, channel] of channels.entries()) {
      const seq = dataSeq + BigInt(i);
      const own = i === 0 ? { data, dataSeq: null } : { data: null, dataSeq };
      rows.push({ accountId, seq, channel, event, ...own, socketId, userId });
    }
  }
  return rows;
}
