// A change sets only what was sent: each field alone, as it was answered before, leaves all the others as they are. A PATCH is a change;
// a PUT too, unless it replaces the whole thing and says so.
import { beforeAll, expect, test } from 'vitest';
import { pathParameters } from '../../src/kit/capability.ts';
import { callCapability, capabilities, createPlayer, isOneModule, prepareExample } from '../support/capabilities.ts';
import { client } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

/** They tell that something was sent. */
const OF_EVERY_CHANGE = new Set(['updated_at', 'revision']);

function settled(data: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(data).filter(([field]) => !OF_EVERY_CHANGE.has(field)));
}

/** PUTs that replace, by contract, and the words that say so; null: all their fields are required. */
const replacing: Readonly<Record<string, string | null>> = {
  'account.approvals.rule.set': 'Replaces the whole rule',
  'account.autorecharge.configure': 'Replaces the configuration',
  'account.budget.set': 'Replaces the whole budget: a field that is absent or null is off',
  'account.requests.settings': null,
  'account.routing.set': 'Replaces the vendors',
  'analytics.settings.set': null,
  'dns.record.set': 'Takes the place of all values',
  'image.preset.set': null,
  'logs.settings.set': null,
  'metrics.settings.set': null,
  'risk.rules.set': null,
  'storage.bucket.settings': 'what is not sent is switched off',
};

const puts = capabilities.filter(({ method }) => method === 'PUT');
const changes = [
  ...capabilities.filter(({ method }) => method === 'PATCH'),
  ...puts.filter(({ id }) => !Object.hasOwn(replacing, id)),
];

test.skipIf(isOneModule)('a PUT that replaces says so, or asks for all its fields', () => {
  expect(Object.keys(replacing).filter((id) => !puts.some((put) => put.id === id))).toEqual([]);
  for (const { id, description, input } of puts) {
    const words = replacing[id];
    if (words === undefined) continue;
    if (words !== null) expect(description, id).toContain(words);
    else expect([...(input.required ?? [])].toSorted(), id).toEqual(Object.keys(input.properties).toSorted());
  }
});

test.each(changes.map((capability) => [capability.id, capability] as const))('%s', async (_id, capability) => {
  const { secret } = await createPlayer(service.core, capability);
  const call = client(service.url, secret);
  const input = await prepareExample(call, capability);
  const first = await callCapability(call, capability, input);
  expect(first.body).toMatchObject({ ok: true });
  const inPath = pathParameters(capability.path);
  const named = Object.fromEntries(inPath.map((field) => [field, input[field]]));
  const fields = Object.keys(capability.input.properties).filter(
    (field) => !inPath.includes(field) && !OF_EVERY_CHANGE.has(field) && Object.hasOwn(first.body.data, field),
  );
  expect(fields.length).toBeGreaterThan(0);
  for (const field of fields) {
    const { body } = await callCapability(call, capability, { ...named, [field]: first.body.data[field] });
    // What it answers may be more than what may be sent, and more than what every change answers.
    if (body.ok === false) expect(body.error.code, field).toBe('VALIDATION_FAILED');
    else expect(settled(first.body.data), field).toMatchObject(settled(body.data));
  }
});
