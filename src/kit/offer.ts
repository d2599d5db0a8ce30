// A deployment's catalogue beside its capabilities: prices, limits, events and errors of its modules, combined by compose.ts.
import type { CountedLimit } from '../core/callers/tiers.ts';
import type { PriceBook } from '../core/wallet/prices.ts';
import type { ProblemCatalogue, ProblemEntry } from '../problems/catalogue.ts';
import type { AlertSource } from './alert-source.ts';
import type { Deployment } from './deployment.ts';
import type { EventKind } from './event-kind.ts';
import type { Finder } from './finder.ts';

export interface ToldEvent extends EventKind {
  /** Whose work it tells of. */
  readonly module: string;
  readonly status: 'ga';
}

/** A name in the catalogue that nothing tells yet: it has no payload. */
export interface PlannedEvent extends Pick<EventKind, 'type' | 'summary'> {
  readonly module: string;
  readonly status: 'planned';
}

export type DescribedEvent = ToldEvent | PlannedEvent;

export interface Offer {
  readonly prices: PriceBook;
  /** By the name under which account.tier shows them. */
  readonly limits: Readonly<Record<string, CountedLimit>>;
  /** What webhooks may subscribe to. */
  readonly events: readonly DescribedEvent[];
  /** Every error code, by status. */
  readonly problems: ProblemCatalogue;
  /** How objects are found by name or id, in the order of the modules. */
  readonly finders: readonly Finder[];
  /** What alerts may watch, in the order of the modules. */
  readonly alertSources: readonly AlertSource[];
  readonly deployment: Deployment;
}

/** The kinds of events that something tells. */
export function releasedEvents({ events }: Pick<Offer, 'events'>): readonly ToldEvent[] {
  return events.filter((event) => event.status === 'ga');
}

/** What the code means. Throws for one that nothing brings: the check of the manifest excludes that. */
export function problemOf({ problems }: Pick<Offer, 'problems'>, code: string): ProblemEntry {
  const entry = problems[code];
  if (entry === undefined) throw new Error(`no module brings the error code ${code}`);
  return entry;
}
