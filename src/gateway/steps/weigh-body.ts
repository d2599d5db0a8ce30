// A long body takes more of the account's rate than a short one (contract §6).
import { tokenWorth } from '../../core/accounts/tiers.ts';
import type { Step } from '../step.ts';

export const weighBody: Step = (call) => {
  const bytes = call.body?.length ?? 0;
  if (bytes >= tokenWorth.bodyBytes) call.weigh(Math.floor(bytes / tokenWorth.bodyBytes));
};
