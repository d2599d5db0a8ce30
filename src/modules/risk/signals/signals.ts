// What rules see: what was sent, what is known of address and mailbox, and counts of each key. Counts are kept as one list of numbers,
// in the order of `countNames`, and shown as a tree.
import { KINDS, type Kind } from './keys.ts';
import { lineOf, type Series, SIGHTINGS, WINDOWS } from './series.ts';

export interface AddressFacts {
  /** `public`, or the range: `private`, `loopback`, `cgnat`, `documentation`, … */
  readonly kind: string;
  readonly country: string | null;
  readonly asn: number | null;
  readonly network: string | null;
}

export interface MailFacts {
  readonly is_disposable: boolean;
  /** Null: not known. */
  readonly has_mx: boolean | null;
}

/** All signals but the counts. Null: that key was not sent. */
export interface Facts {
  readonly event: string;
  readonly amount_usd: number | null;
  readonly context: Readonly<Record<string, string | number | boolean | null>>;
  readonly ip: AddressFacts | null;
  readonly email: MailFacts | null;
  readonly user: Readonly<Record<never, never>> | null;
  readonly device: Readonly<Record<never, never>> | null;
}

export type Counts = Readonly<Record<string, number>>;
export type Signals = Omit<Facts, Kind> & { readonly [kind in Kind]: (NonNullable<Facts[kind]> & Counts) | null };

/** Windows that rules see; the longest is for a key's own page. */
export const RULE_WINDOWS = WINDOWS.slice(0, 4);

/** Lines of a key of each kind, by their names. */
const lines = KINDS.map(({ kind }) => [
  { name: 'count', line: SIGHTINGS },
  ...KINDS.flatMap((other, place) => (other.kind === kind ? [] : [{ name: other.many, line: lineOf(place) }])),
]);

/** `count_1m`, …, `users_7d`: names of the counts of a kind of key, in their order. */
export const countNames: readonly (readonly string[])[] = lines.map((of) =>
  of.flatMap(({ name }) => RULE_WINDOWS.map((window) => `${name}_${window.name}`)),
);

/** Of a key whose kind has this place. */
export function countsOf(place: number, series: Series, nowMs: number): number[] {
  return (lines[place] ?? []).flatMap(({ line }) => RULE_WINDOWS.map((_, window) => series.total(line, window, nowMs)));
}

/** `next` answers the counts of the keys that were sent, one after the other. */
export function signalsOf(facts: Facts, next: () => number): Signals {
  const keyed = KINDS.map(({ kind }, place) => {
    const known = facts[kind];
    if (known === null) return [kind, null];
    const counts = (countNames[place] ?? []).map((name) => [name, next()]);
    return [kind, { ...known, ...Object.fromEntries(counts) }];
  });
  const { event, amount_usd, context } = facts;
  return { event, amount_usd, ...Object.fromEntries(keyed), context } as Signals;
}

/** Every path that a rule may name but those of `context`. */
export const signalPaths: ReadonlySet<string> = new Set([
  ...['event', 'amount_usd', 'ip.kind', 'ip.country', 'ip.asn', 'ip.network', 'email.is_disposable', 'email.has_mx'],
  ...KINDS.flatMap(({ kind }, place) => [kind, ...(countNames[place] ?? []).map((name) => `${kind}.${name}`)]),
]);
