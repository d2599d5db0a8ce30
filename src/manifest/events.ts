// Every type of the catalogue with its payload: those that a module of this service tells, and those that nothing tells yet.
import { type EventType, eventCatalogue } from '../core/events/catalogue.ts';
import type { EventKind } from './event-kind.ts';
import type { Module } from './module.ts';
import { plannedJobEvents } from './planned-events/jobs.ts';
import { plannedMessageEvents } from './planned-events/messages.ts';
import { plannedMoneyEvents } from './planned-events/money.ts';

export interface DescribedEvent extends EventType, EventKind {
  readonly status: 'ga' | 'planned';
}

const plannedEvents: readonly EventKind[] = [...plannedMoneyEvents, ...plannedMessageEvents, ...plannedJobEvents];

/** In the order of the catalogue, without the types of modules that are left out here. */
export function describedEvents(modules: readonly Module[]): DescribedEvent[] {
  const told = new Map(modules.flatMap(({ events = [] }) => events.map((kind) => [kind.type, kind] as const)));
  const planned = new Map(plannedEvents.map((kind) => [kind.type, kind]));
  return eventCatalogue.flatMap((entry): DescribedEvent[] => {
    const own = told.get(entry.type);
    if (own !== undefined) return [{ ...entry, ...own, status: 'ga' }];
    const kind = planned.get(entry.type);
    return kind === undefined ? [] : [{ ...entry, ...kind, status: 'planned' }];
  });
}

/** What is wrong with the kinds of events that modules tell, as clear sentences. */
export function eventFaults(modules: readonly Module[]): string[] {
  const catalogued = new Map(eventCatalogue.map(({ type, module }) => [type, module]));
  const planned = new Set(plannedEvents.map(({ type }) => type));
  return modules.flatMap(({ name, events = [] }) =>
    events.flatMap(({ type }) => [
      ...(catalogued.get(type) === name ? [] : [`${type}: the catalogue has no such event of the module ${name}`]),
      ...(planned.has(type) ? [`${type}: the module ${name} tells what is planned`] : []),
    ]),
  );
}
