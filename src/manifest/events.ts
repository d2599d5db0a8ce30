// Every kind of event that webhooks may subscribe to: those that a module of this service tells, and those that nothing tells yet.
import { moduleOf } from '../core/keys/scopes.ts';
import type { EventKind } from './event-kind.ts';
import type { Module } from './module.ts';
import type { DescribedEvent } from './offer.ts';
import { plannedJobEvents } from './planned/jobs.ts';
import { plannedMessageEvents } from './planned/messages.ts';
import { plannedMoneyEvents } from './planned/money.ts';
import { moduleTags } from './version.ts';

const plannedEvents: readonly DescribedEvent[] = [
  ...plannedMoneyEvents.map((kind) => planned(kind, 'account')),
  ...[...plannedMessageEvents, ...plannedJobEvents].map((kind) => planned(kind, moduleOf(kind.type))),
];

/** In the order of the specification's modules. A kind that a module tells takes the place of the one that was planned. */
export function describedEvents(modules: readonly Module[]): DescribedEvent[] {
  const told = modules.flatMap(({ name, events = [] }) =>
    events.map((kind): DescribedEvent => ({ ...kind, module: name, status: 'ga' })),
  );
  const types = new Set(told.map(({ type }) => type));
  const all = [...told, ...plannedEvents.filter(({ type }) => !types.has(type))];
  return all.sort((left, right) => placeOf(left.module) - placeOf(right.module));
}

/** What is wrong with the kinds of events that modules tell, as clear sentences. */
export function eventFaults(modules: readonly Module[]): string[] {
  const owners = new Map(plannedEvents.map(({ type, module }) => [type, module]));
  const faults: string[] = [];
  for (const { name, events = [] } of modules) {
    for (const { type } of events) {
      const owner = owners.get(type) ?? name;
      if (owner !== name) faults.push(`${type}: the module ${name} tells an event of the module ${owner}`);
      if (!/^[a-z_]+(\.[a-z_]+)+$/.test(type)) faults.push(`${type}: its type is not lower-case words joined by dots`);
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

function planned(kind: EventKind, module: string): DescribedEvent {
  return { ...kind, module, status: 'planned' };
}
