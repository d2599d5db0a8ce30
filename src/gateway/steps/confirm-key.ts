// A body may take its time to arrive: a key looked up more than a moment ago is looked up again, so that a revocation
// that was answered meanwhile holds for this call too.
import { problem } from '../../problems/problem.ts';
import type { Step } from '../step.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';

const CONFIRM_AFTER_MS = 200;

export const confirmKey: Step = async (call, gateway) => {
  if (call.authenticationAgeMs < CONFIRM_AFTER_MS) return;
  const { accountId } = call;
  await authenticate(call, gateway);
  if (call.accountId !== accountId) throw problem('INVALID_API_KEY');
  await authorize(call, gateway);
};
