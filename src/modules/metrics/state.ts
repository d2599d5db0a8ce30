// What the metrics module keeps in one process.
import { BlockStore } from '../../core/blocks/store.ts';
import type { Core } from '../../core/context.ts';
import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import { IngestEffect } from './ingest/effect.ts';
import { INGEST } from './limits.ts';
import { samplesKind } from './samples/kind.ts';

export interface MetricsState {
  readonly core: Core;
  readonly store: BlockStore;
  readonly ingesting: IngestEffect;
  readonly unpaid: UnpaidKeys;
}

export function createMetricsState(core: Core): MetricsState {
  return {
    core,
    store: new BlockStore(core, samplesKind),
    ingesting: new IngestEffect(),
    unpaid: new UnpaidKeys(core, INGEST),
  };
}
