// Signals of a call as rules see them: sent fields and facts about address and mailbox, looked up before the commit. The commit adds the counts
// of each key.
import type { Address } from '../../../lib/address.ts';
import { once } from '../../../lib/once.ts';
import { domainsOf, KINDS, type Kind, type Sent } from './keys.ts';
import type { MailExchangers } from './mail-exchangers.ts';
import type { Network, Networks } from './networks.ts';
import { SIGHTINGS, WINDOWS } from './series.ts';

/** All signals but the counts; null: that key was not sent. */
export interface Facts {
  readonly event: string;
  readonly amount_usd: number | null;
  readonly context: Readonly<Record<string, string | number | boolean | null>>;
  /** `kind` is `public`, or the range: `private`, `loopback`, `cgnat`, `documentation`, … */
  readonly ip: (Network & { readonly kind: string }) | null;
  /** `has_mx` null: not known. */
  readonly email: { readonly is_disposable: boolean; readonly has_mx: boolean | null } | null;
  readonly user: Readonly<Record<never, never>> | null;
  readonly device: Readonly<Record<never, never>> | null;
}

/** As answers show them, counts included. */
export type Signals = Readonly<Record<string, unknown>>;

interface Told {
  readonly event: string;
  readonly amount_usd?: number | null;
  readonly context?: Facts['context'] | null;
}

interface Sources {
  readonly mailExchangers: MailExchangers;
  readonly networks: Networks;
}

/** Windows that rules see; the longest is for a key's own page. */
const RULE_WINDOWS = WINDOWS.slice(0, 4);
/** Counts of a key of each kind, `count_1m` to `devices_7d`, with the line and window of its series. */
export const countsOfKind = new Map(
  KINDS.map(({ kind }) => {
    const partners = KINDS.flatMap((other, i) => (other.kind === kind ? [] : [{ what: other.many, line: i + 1 }]));
    const lines = [{ what: 'count', line: SIGHTINGS }, ...partners];
    return [
      kind as Kind,
      lines.flatMap(({ what, line }) =>
        RULE_WINDOWS.map(({ name }, window) => ({ name: `${what}_${name}`, line, window })),
      ),
    ];
  }),
);

/** Objects that are made as a copy of one are written twice as fast as those that grow member by member. */
const zerosOfKind = Object.fromEntries(
  [...countsOfKind].map(([kind, counts]) => [kind, Object.fromEntries(counts.map(({ name }) => [name, 0]))]),
);

/** What a signal is where it is not null; `key`: an object of signals. */
export type SignalType = 'number' | 'boolean' | 'text' | 'key';

/** Every path that a rule may name but those of `context`. */
export const signalTypes: ReadonlyMap<string, SignalType> = new Map<string, SignalType>([
  ...['event', 'ip.kind', 'ip.country', 'ip.network'].map((path) => [path, 'text'] as const),
  ...['email.is_disposable', 'email.has_mx'].map((path) => [path, 'boolean'] as const),
  ...['amount_usd', 'ip.asn'].map((path) => [path, 'number'] as const),
  ...[...countsOfKind].flatMap(([kind, counts]) => [
    [kind, 'key'] as const,
    ...counts.map(({ name }) => [`${kind}.${name}`, 'number'] as const),
  ]),
]);

/** `total` answers a count of the key of a kind. */
export function signalsOf(facts: Facts, total: (kind: Kind, line: number, window: number) => number): Signals {
  const signals: Record<string, unknown> = { event: facts.event, amount_usd: facts.amount_usd };
  for (const [kind, counts] of countsOfKind) {
    const known = facts[kind];
    const told: Record<string, unknown> | null = known && { ...known, ...zerosOfKind[kind] };
    signals[kind] = told;
    if (told === null) continue;
    for (const { name, line, window } of counts) told[name] = total(kind, line, window);
  }
  signals.context = facts.context;
  return signals;
}

export async function factsOf(sources: Sources, input: Told, sent: Sent): Promise<Facts> {
  const { ip, email, user, device } = sent;
  const [network, mail] = await Promise.all([
    ip && sources.networks.of(ip.toString()),
    email && mailFacts(sources.mailExchangers, email),
  ]);
  return {
    event: input.event,
    amount_usd: input.amount_usd ?? null,
    context: input.context ?? {},
    ip: ip && network && { kind: addressKind(ip), ...network },
    email: mail || null,
    user: user && {},
    device: device && {},
  };
}

/** Names of the library that read badly. */
const ranges: Readonly<Record<string, string>> = {
  unicast: 'public',
  uniqueLocal: 'private',
  carrierGradeNat: 'cgnat',
  linkLocal: 'link_local',
};
/** RFC 5737 and RFC 3849: to the library they are reserved. */
const DOCUMENTATION = /^(192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|2001:db8:)/;

export function addressKind(address: Address): string {
  const range = address.range();
  if (range === 'reserved' && DOCUMENTATION.test(address.toString())) return 'documentation';
  return ranges[range] ?? range.toLowerCase();
}

/** 50,000 names: loaded by the first call that needs them. */
const disposableDomains = once(async () => (await import('mailchecker')).default.blacklist());

async function mailFacts(exchangers: MailExchangers, mailbox: string): Promise<NonNullable<Facts['email']>> {
  const domains = domainsOf(mailbox);
  const disposable = await disposableDomains();
  const isDisposable = domains.some((name) => disposable.has(name));
  return { is_disposable: isDisposable, has_mx: isDisposable ? null : await exchangers.of(domains[0] as string) };
}
