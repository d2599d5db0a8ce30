// A change sets only what was sent: each field alone, as it was answered before, leaves all the others as they are.
import { beforeAll, expect, test } from 'vitest';
import { pathParameters } from '../../src/kit/capability.ts';
import { callCapability, capabilities, createPlayer, prepareExample } from '../support/capabilities.ts';
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

const changes = capabilities.filter(({ method }) => method === 'PATCH');

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
