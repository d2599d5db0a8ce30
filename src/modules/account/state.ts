// What one process has of module account.
import type { ReceivedLog } from './receivers/log.ts';
import type { ReceiverRing } from './receivers/ring.ts';
import type { CallBlocks } from './requests/archive.ts';

export interface AccountState {
  readonly archive: CallBlocks;
  readonly receivers: ReceiverRing;
  readonly received: ReceivedLog;
}
