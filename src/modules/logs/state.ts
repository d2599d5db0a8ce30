// What the logs module keeps in one process.
import { BlockStore } from '../../core/blocks/store.ts';
import type { Core } from '../../core/context.ts';
import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import { IngestEffect } from './ingest/ingest-effect.ts';
import { INGEST } from './limits.ts';
import { logsKind } from './records/kind.ts';
import type { LogsSettings } from './settings.ts';

export interface LogsState {
  readonly core: Core;
  readonly store: BlockStore;
  readonly ingesting: IngestEffect;
  readonly unpaid: UnpaidKeys;
}

export function createLogsState(core: Core, { hotDays }: LogsSettings): LogsState {
  return {
    core,
    store: new BlockStore(core, { ...logsKind, hotDays }),
    ingesting: new IngestEffect(),
    unpaid: new UnpaidKeys(core, INGEST),
  };
}
