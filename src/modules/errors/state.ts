// Per-process state of the errors module.

import { UnpaidKeys } from '../../core/wallet/unpaid-keys.ts';
import type { Services } from '../../kit/services.ts';
import { CaptureEffect } from './capture/capture-effect.ts';
import { CAPTURE } from './capture/capture-types.ts';
import { ErrorIds } from './capture/ids.ts';
import { UserHashes } from './intake/user-identity.ts';

export interface ErrorsState {
  readonly core: Services;
  readonly ids: ErrorIds;
  readonly capturing: CaptureEffect;
  readonly unpaid: UnpaidKeys;
  readonly userHashes: UserHashes;
}

export function createErrorsState(core: Services): ErrorsState {
  const ids = new ErrorIds(core.secrets);
  return {
    core,
    ids,
    capturing: new CaptureEffect(ids, core.baseUrl),
    unpaid: new UnpaidKeys(core, CAPTURE),
    userHashes: new UserHashes(core.secrets),
  };
}
