// What one process has of module account.
import type { Services } from '../../kit/services.ts';
import type { ReceivedLog } from './receivers/log.ts';
import type { ReceiverRing } from './receivers/ring.ts';
import type { CallBlocks } from './requests/archive.ts';

export interface AccountState {
  readonly core: Services;
  readonly archive: CallBlocks;
  readonly receivers: ReceiverRing;
  readonly received: ReceivedLog;
}
