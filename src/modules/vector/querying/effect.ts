// The charge of a query, with the answer that was found: nothing to read, nothing to write but the module's own count.

import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Queryable } from '../../../db/database.ts';

export class QueryEffect implements LaneEffect<string, null> {
  readonly name = 'vector.query';

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(_tx: Queryable, items: readonly LaneItem<string, null>[]): Promise<ReadVerdict<null>[]> {
    return items.map(() => ({ kind: 'go', context: null }));
  }

  write(tx: Queryable, admitted: readonly AdmittedItem<string, null>[]): string[] {
    const items = admitted.map(({ item }) => item);
    void countAccepted(tx, items);
    return items.map(({ input }) => input);
  }
}
