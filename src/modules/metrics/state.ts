// State of the metrics module in one process.
import { BlockStore } from '../../blocks/store.ts';
import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import type { Services } from '../../kit/services.ts';
import { IngestEffect } from './ingest/effect.ts';
import { INGEST } from './limits.ts';
import { samplesKind } from './samples/kind.ts';

export interface MetricsState {
  readonly core: Services;
  readonly store: BlockStore;
  readonly ingesting: IngestEffect;
  readonly unpaid: UnpaidKeys;
}

export function createMetricsState(core: Services): MetricsState {
  return {
    core,
    store: new BlockStore(core, samplesKind),
    ingesting: new IngestEffect(),
    unpaid: new UnpaidKeys(core, INGEST),
  };
}
