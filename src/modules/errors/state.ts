// What the errors module keeps in one process.
import type { Core } from '../../core/context.ts';
import { CaptureEffect } from './capture-effect.ts';
import { ErrorIds } from './ids.ts';
import { Partitions } from './partitions.ts';
import { Inflater } from './sentry/inflate.ts';

export interface ErrorsState {
  readonly core: Core;
  readonly ids: ErrorIds;
  readonly partitions: Partitions;
  readonly capturing: CaptureEffect;
  /** For bodies of SDKs. */
  readonly inflater: Inflater;
}

export function createErrorsState(core: Core): ErrorsState {
  const ids = new ErrorIds(core.secrets);
  const partitions = new Partitions(core.db);
  return {
    core,
    ids,
    partitions,
    capturing: new CaptureEffect(ids, partitions, core.baseUrl),
    inflater: new Inflater(),
  };
}
