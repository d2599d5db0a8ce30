// Per-process state of analytics.
import { BlockStore } from '../../blocks/store.ts';
import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import type { Services } from '../../kit/services.ts';
import { CaptureEffect } from './capture/capture-effect.ts';
import { analyticsKind } from './events/kind.ts';
import { CAPTURE } from './limits.ts';
import { Joins } from './people/joins.ts';

export interface AnalyticsState {
  readonly core: Services;
  readonly store: BlockStore;
  readonly capturing: CaptureEffect;
  readonly unpaid: UnpaidKeys;
  readonly joins: Joins;
}

export function createAnalyticsState(core: Services): AnalyticsState {
  return {
    core,
    store: new BlockStore(core, analyticsKind),
    capturing: new CaptureEffect(),
    unpaid: new UnpaidKeys(core, CAPTURE),
    joins: new Joins(),
  };
}
