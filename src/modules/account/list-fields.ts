// Fields that the wallet, usage, ledger and event capabilities share.
import Type from 'typebox';
import type { UsageFilter } from '../../core/usage/read.ts';

/** A bound of a period. */
export const boundField = (description: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 40,
    description: `${description} A date and time with an offset, such as 2026-11-01T12:00:00Z.`,
  });

export const capabilityFilter = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Only this capability id, such as queue.publish.',
});
export const keyFilter = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Only this API key, by its id `key_…`.',
});

export const consoleCallsFilter = Type.Enum(['all', 'billed'], {
  default: 'all',
  description: '`billed`: leaves out free calls of the console.',
});

interface UsageFields {
  readonly capability?: string;
  readonly key_id?: string;
  readonly console_calls?: string;
}

export function usageFilterOf({ capability, key_id: keyId, console_calls: of }: UsageFields): UsageFilter {
  return { capability: capability ?? null, keyId: keyId ?? null, consoleCalls: of === 'billed' ? 'billed' : 'all' };
}

export const usdField = (description: string) =>
  Type.Number({ description: `${description} USD, exact to 0.000000001.` });
export const usdOrNull = (description: string) => Type.Unsafe<number | null>({ type: ['number', 'null'], description });
