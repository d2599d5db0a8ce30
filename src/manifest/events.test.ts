import { describe, expect, test } from 'vitest';
import { plainDeployment } from '../kit/deployment.ts';
import { type EventKind, eventKind, member } from '../kit/event-kind.ts';
import type { Module } from '../kit/module.ts';
import { releasedEvents } from '../kit/offer.ts';
import type { ModelFamily } from '../vendors/file/port.ts';
import { checkManifest } from './check.ts';
import { composeOffer } from './compose.ts';
import { describedEvents } from './events.ts';

function moduleOf(name: string, events: readonly EventKind[]): Module {
  return { name, summary: 'For the test.', status: 'ga', capabilities: [], events };
}

describe('a kind of event', () => {
  const words = { one: () => 'Parcels moved' };
  const kind = (type: string, example?: object): EventKind => {
    const built = { ...eventKind(type, 'Parcels moved.', { size: member.whole('How many.', 3) }), words };
    return example === undefined ? built : { ...built, example: { object: example } };
  };
  const faults = (...modules: Module[]) => checkManifest(modules, composeOffer(modules, plainDeployment));

  test('that a module brings is sound, and stands with it', () => {
    const modules = [moduleOf('parcel', [kind('parcel.lost')])];
    expect(faults(...modules)).toEqual([]);
    const found = describedEvents(modules).find(({ type }) => type === 'parcel.lost');
    expect(found).toMatchObject({ module: 'parcel', status: 'ga' });
  });

  test('of another module, or of none, is refused', () => {
    const modules = [
      moduleOf('parcel', [kind('parcel.lost'), kind('Lost')]),
      moduleOf('letter', [kind('parcel.lost')]),
    ];
    expect(faults(...modules, moduleOf('queue', [kind('system.maintenance.scheduled')]))).toEqual([
      'Lost: its type is not lower-case words joined by dots',
      'parcel.lost: the module letter tells an event of the module parcel',
      'system.maintenance.scheduled: the module queue tells an event of the module system',
    ]);
  });

  test('without words for people is refused', () => {
    const wordless = { ...kind('parcel.lost'), words: undefined };
    expect(faults(moduleOf('parcel', [wordless]))).toEqual([
      'parcel.lost: it has no words: say in EventKind.words what a list of events shows',
    ]);
  });

  test('that was planned is told by its module once that is built', () => {
    const modules = [moduleOf('system', [kind('system.maintenance.scheduled')])];
    expect(faults(...modules)).toEqual([]);
    const found = describedEvents(modules).filter(({ module }) => module === 'system');
    expect(found.filter(({ type }) => type === 'system.maintenance.scheduled')).toMatchObject([
      { status: 'ga', summary: 'Parcels moved.' },
    ]);
  });

  test('of a vendor that is down shows what vendors do for the modules there are', () => {
    const capabilities = ['parcel.carry', 'parcel.pack'];
    const models = { name: 'parcel', capabilities } as unknown as ModelFamily;
    const shown = (modules: Module[]) =>
      releasedEvents({ events: describedEvents(modules) }).find(({ type }) => type === 'system.vendor.down');
    expect(shown([{ ...moduleOf('parcel', []), models }])?.example.object).toMatchObject({
      capabilities: ['parcel.carry'],
    });
    expect(shown([])?.example.object).toMatchObject({ capabilities: [] });
  });

  test('whose example breaks its schema is refused', () => {
    expect(faults(moduleOf('parcel', [kind('parcel.lost', { size: 'many' })]))).toEqual([
      'parcel.lost: the example is not valid: data/object/size must be integer',
    ]);
  });
});
