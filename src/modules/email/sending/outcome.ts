// Outcome of a mail, as it is reported and as it was written.
import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import type { MailStatus, MessageRow, RecipientRow } from '../messages/row.ts';

export interface Result {
  readonly number: number;
  readonly status: MailStatus;
  readonly code: string | null;
  readonly detail: string | null;
}

export interface Outcome {
  readonly emailId: string;
  readonly results: readonly Result[];
  /** Which recipients a result may change. */
  readonly from: 'pending' | 'ended';
  /** Of an attempt: only while no other has begun. */
  readonly attempt?: number;
  /** The relay that was asked; absent: none. */
  readonly vendor?: string;
  /** When what is still pending is tried again; absent: as it stands. */
  readonly retryMs?: number;
  /** Nothing was taken and the caller is told so: the idempotency key of the call is free again. */
  readonly freesKey?: IdempotencyKey | null;
  /** Of the call that causes it; absent: none does. */
  readonly requestId?: string;
}

export interface Written {
  readonly row: MessageRow;
  readonly recipients: readonly RecipientRow[];
  /** What was captured now, nano-USD; null: the hold is not settled by this. */
  readonly capturedNanos: bigint | null;
  readonly balanceNanos: bigint | null;
}
