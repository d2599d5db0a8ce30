// Every kind of event that webhooks may subscribe to: those that a module of this service emits, and planned ones that nothing emits yet.
import { moduleOf } from '../core/callers/scopes.ts';
import { type EventWords, eventKind, member } from '../kit/event-kind.ts';
import type { Module } from '../kit/module.ts';
import type { DescribedEvent, PlannedEvent, ToldEvent } from '../kit/offer.ts';
import { plannedEvents } from './planned/events.ts';
import { moduleTags } from './version.ts';

/** What the core tells of the service as a whole. */
function coreEvents(modules: readonly Module[]): readonly ToldEvent[] {
  const served = modules.flatMap(({ models }) => models?.capabilities ?? []);
  const vendorDown = eventKind('system.vendor.down', 'A vendor outside does not answer, so that work goes to others.', {
    vendor: member.text('The vendor.', 'first-vendor'),
    region: member.word('Region it works in.', 'western', 'china'),
    capabilities: member.texts('What it is not asked for until it answers again.', ...served.slice(0, 1)),
    reason: member.word(
      'Why it is not asked.',
      'VENDOR_DOWN',
      'VENDOR_TIMEOUT',
      'VENDOR_AUTH_ERROR',
      'RATE_LIMIT_VENDOR',
    ),
    since: member.instant('From when it did not answer.'),
    retry_at: member.instant('When it is tried again, the first time.', '2026-11-01T12:00:15.000Z'),
  });
  const words: EventWords = { one: (of) => `Vendor ${of.vendor} does not answer: ${of.reason}`, tone: 'warning' };
  const cause = 'A vendor has stopped to answer; at most every ten minutes for each.';
  return [{ ...vendorDown, words, withoutCall: cause, module: 'system', status: 'ga' }];
}

const planned = Object.entries(plannedEvents).map(
  ([type, summary]): PlannedEvent => ({ type, summary, module: moduleOf(type), status: 'planned' }),
);

/** In the order of the specification's modules. A kind that a module tells takes the place of the one that was planned. */
export function describedEvents(modules: readonly Module[]): DescribedEvent[] {
  const told = modules.flatMap(({ name, events = [] }) =>
    events.map((kind): ToldEvent => ({ ...kind, module: name, status: 'ga' })),
  );
  const types = new Set(told.map(({ type }) => type));
  const all = [...told, ...coreEvents(modules), ...planned.filter(({ type }) => !types.has(type))];
  return all.sort((left, right) => placeOf(left.module) - placeOf(right.module));
}

/** What is wrong with the kinds of events that modules tell, as clear sentences. */
export function eventFaults(modules: readonly Module[]): string[] {
  const owners = new Map([...coreEvents(modules), ...planned].map(({ type, module }) => [type, module]));
  const faults: string[] = [];
  for (const { name, events = [] } of modules) {
    for (const { type, words } of events) {
      const owner = owners.get(type) ?? name;
      if (owner !== name) faults.push(`${type}: the module ${name} tells an event of the module ${owner}`);
      if (!/^[a-z_]+(\.[a-z_]+)+$/.test(type)) faults.push(`${type}: its type is not lower-case words joined by dots`);
      if (words === undefined)
        faults.push(`${type}: it has no words: say in EventKind.words what a list of events shows`);
      owners.set(type, name);
    }
  }
  return faults;
}

/** Modules of our own stand behind those of the specification. */
function placeOf(module: string): number {
  const place = moduleTags.indexOf(module);
  return place === -1 ? moduleTags.length : place;
}
