// What a rule does in few words: how many conditions come first, and who of all others gets which variant.
import Type, { type Static } from 'typebox';
import { orNull, wholeOrNull } from '../../../kit/fields.ts';

const WHOLE = 100;

export const rolloutFields = {
  conditions: wholeOrNull('How many conditions the rule asks, one after the other; null: the rule is of another kind.'),
  rollout: orNull<Readonly<Record<string, number>>>(
    { type: 'object', additionalProperties: { type: 'number' } },
    'Per cent by variant of all for whom no condition holds; null: the rule is of another kind.',
  ),
};
const rolloutSchema = Type.Object(rolloutFields);
type Rollout = Static<typeof rolloutSchema>;

const unknown: Rollout = { conditions: null, rollout: null };

/** `usual`: the default variant; null: that of the code, which is no variant. */
export function rolloutOf(targeting: Readonly<Record<string, unknown>>, usual: string | null): Rollout {
  const [[operator, argument] = ['', null], ...others] = Object.entries(targeting);
  if (others.length > 0) return unknown;
  const sent = Array.isArray(argument) ? argument : [];
  const isChoice = operator === 'if' && sent.length > 1;
  const rest = isChoice ? (sent.length % 2 === 1 ? sent.at(-1) : null) : operator === '' ? null : targeting;
  const rollout = sharesOf(rest, usual);
  return rollout === null ? unknown : { conditions: isChoice ? Math.floor(sent.length / 2) : 0, rollout };
}

function sharesOf(rest: unknown, usual: string | null): Rollout['rollout'] {
  if (rest === null) return usual === null ? {} : { [usual]: WHOLE };
  if (typeof rest === 'string') return { [rest]: WHOLE };
  const [[operator, argument] = ['', null]] = Object.entries(Object(rest));
  if (operator !== 'fractional' || !Array.isArray(argument)) return null;
  // What people are dealt out by may stand before the shares.
  const parts = Array.isArray(argument[0]) ? argument : argument.slice(1);
  const weighed = parts.map((part: unknown) => (Array.isArray(part) ? [part[0], part[1] ?? 1] : []));
  if (!weighed.every(([name, weight]) => typeof name === 'string' && Number.isInteger(weight))) return null;
  const sum = weighed.reduce((all, [, weight]) => all + weight, 0);
  return sum > 0 ? Object.fromEntries(weighed.map(([name, weight]) => [name, (WHOLE * weight) / sum])) : null;
}
