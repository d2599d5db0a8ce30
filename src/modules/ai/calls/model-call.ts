// Context of a model call: of a request, or of a batch item, for which no client waits.

import type { Transaction } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';

export interface ModelCall
  extends Pick<
      CallContext,
      | 'core'
      | 'accountId'
      | 'tier'
      | 'principal'
      | 'capability'
      | 'scope'
      | 'requestId'
      | 'approval'
      | 'idempotency'
      | 'signal'
      | 'warnings'
    >,
    Partial<Pick<CallContext, 'chargedThoughFailed' | 'holdAnswer' | 'holdMade'>> {
  readonly item?: ItemTerms;
}

/** What is different for an item of a batch: it has a price and places of its own, and is over in the transaction that charges it. */
export interface ItemTerms {
  /** Whether the limit of an output that it does not set may shrink to what the credit pays for. */
  readonly mayShrink: boolean;
  /**
   * Writes what it came to, where nothing is locked yet. False: it is another process's by now, and nothing is to be charged.
   * `response`: JSON text, as it is kept.
   */
  end(tx: Transaction, response: string, costNanos: bigint): Promise<boolean>;
}
