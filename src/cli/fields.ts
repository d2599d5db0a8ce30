// Strict parsers of option values.
import { InvalidArgumentError } from 'commander';
import { NANOS_PER_USD } from '../lib/money.ts';

const USD_MAX = 1_000_000_000n;

/** `12.5` to nano-USD; above 0, at most nine decimals. */
export function usdAmount(text: string): bigint {
  const match = /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError('Expected an amount such as 10 or 0.25, with at most nine decimals.');
  const nanos = BigInt(match[1] as string) * NANOS_PER_USD + BigInt((match[2] ?? '').padEnd(9, '0'));
  if (nanos === 0n) throw new InvalidArgumentError('The amount must be above 0.');
  if (nanos > USD_MAX * NANOS_PER_USD) throw new InvalidArgumentError(`The amount must be at most ${USD_MAX}.`);
  return nanos;
}

/** The same, or the word none. */
export function usdAmountOrNone(text: string): bigint | 'none' {
  return text === 'none' ? 'none' : usdAmount(text);
}

export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${max}.`);
  };
}

/** `a,b` to its parts; nothing means all modules. */
export function scopeList(text: string): string[] {
  return text
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');
}

/** An e-mail address, as it is. */
export function emailAddress(value: string): string {
  if (value.length <= 254 && /^[^\p{Cc}\p{Cs}\s<>@]+@[^\p{Cc}\p{Cs}\s<>@]+$/u.test(value)) return value;
  throw new InvalidArgumentError('Use an address such as ada@example.com.');
}
