// What analytics keeps in one process.
import { BlockStore } from '../../core/blocks/store.ts';
import type { Core } from '../../core/context.ts';
import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import { CaptureEffect } from './capture/capture-effect.ts';
import { analyticsKind } from './events/kind.ts';
import { CAPTURE } from './limits.ts';
import { Joins } from './people/joins.ts';

export interface AnalyticsState {
  readonly core: Core;
  readonly store: BlockStore;
  readonly capturing: CaptureEffect;
  readonly unpaid: UnpaidKeys;
  readonly joins: Joins;
}

export function createAnalyticsState(core: Core): AnalyticsState {
  return {
    core,
    store: new BlockStore(core, analyticsKind),
    capturing: new CaptureEffect(),
    unpaid: new UnpaidKeys(core, CAPTURE),
    joins: new Joins(),
  };
}
