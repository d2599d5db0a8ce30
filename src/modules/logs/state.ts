// State of the logs module in one process.
import { BlockStore } from '../../blocks/store.ts';
import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import type { Services } from '../../kit/services.ts';
import { IngestEffect } from './ingest/ingest-effect.ts';
import { INGEST } from './limits.ts';
import { logsKind } from './records/kind.ts';
import type { LogsSettings } from './settings.ts';

export interface LogsState {
  readonly core: Services;
  readonly store: BlockStore;
  readonly ingesting: IngestEffect;
  readonly unpaid: UnpaidKeys;
}

export function createLogsState(core: Services, { hotDays }: LogsSettings): LogsState {
  return {
    core,
    store: new BlockStore(core, { ...logsKind, hotDays }),
    ingesting: new IngestEffect(),
    unpaid: new UnpaidKeys(core, INGEST),
  };
}
