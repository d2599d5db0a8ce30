// Rules as they are sent and shown.
import type { Static } from 'typebox';
import Type from 'typebox';
import { isoOrNull } from '../../../lib/time.ts';
import { rulesFields } from '../schemas.ts';
import type { Rules } from './rule-set.ts';
import type { Settings } from './settings.ts';

export const rulesInput = Type.Object(rulesFields);

export function rulesRecord({ rules, isDefault, revision, updatedAtMs }: Settings) {
  return { ...rules, is_default: isDefault, revision: Number(revision), updated_at: isoOrNull(updatedAtMs) };
}

/** As they are kept. */
export function sentRules({ thresholds, rules }: Static<typeof rulesInput>): Rules {
  return {
    thresholds,
    rules: rules.map(({ id, points, description, when }) => ({ id, points, description: description || null, when })),
  };
}
