import { describe, expect, test } from 'vitest';
import { defaultPriceBook } from '../core/wallet/prices.ts';
import { checkManifest } from './check.ts';
import { type EventKind, eventKind, whole } from './event-kind.ts';
import type { Module } from './module.ts';

function moduleOf(name: string, events: readonly EventKind[]): Module {
  return { name, summary: 'For the test.', status: 'ga', capabilities: [], events, start: () => undefined };
}

describe('a kind of event', () => {
  const kind = (type: string, example?: object): EventKind => {
    const built = eventKind(type, { size: whole('How many.', 3) });
    return example === undefined ? built : { ...built, example: { object: example } };
  };
  const faults = (name: string, ...events: EventKind[]) => checkManifest([moduleOf(name, events)], defaultPriceBook);

  test('of the catalogue, told by its module, is sound', () => {
    expect(faults('queue', kind('queue.dlq'))).toEqual([]);
  });

  test('of no catalogue, or of another module, is refused', () => {
    expect(faults('queue', kind('queue.full'), kind('cron.failed'))).toEqual([
      'queue.full: the catalogue has no such event of the module queue',
      'cron.failed: the catalogue has no such event of the module queue',
    ]);
  });

  test('that is planned and told is refused', () => {
    expect(faults('email', kind('email.sent'))).toEqual(['email.sent: the module email tells what is planned']);
  });

  test('whose example breaks its schema is refused', () => {
    expect(faults('queue', kind('queue.dlq', { size: 'many' }))).toEqual([
      'queue.dlq: the example is not valid: data/object/size must be integer',
    ]);
  });
});
