// Lists are read alike: `items`, also where the specification has a name of its own for the entries.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asJsonSchema } from '../../src/manifest/json-schema.ts';
import { byId, capabilities, createPlayer, playExample } from '../support/capabilities.ts';
import { client, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const lists = capabilities.filter(({ output }) => asJsonSchema(output).properties?.next_cursor !== undefined);
const namedOtherwise = new Map([
  ['errors.groups', 'groups'],
  ['vector.collection.list', 'collections'],
  ['vector.query', 'matches'],
]);

test.each(lists.map(({ id }) => id))('%s answers items', async (id) => {
  const call = client(service.url, (await createPlayer(service.core, byId(id))).secret);
  const [example] = byId(id).examples;
  const played = await playExample(call, byId(id), example as NonNullable<typeof example>);
  const { data } = played.at(-1)?.reply.body ?? {};
  // An export has a page for each kind of record at least.
  const end = id === 'account.export' ? expect.any(String) : null;
  expect(data).toMatchObject({ items: expect.any(Array), next_cursor: end });
  const name = namedOtherwise.get(id);
  if (name !== undefined) {
    expect(data.items.length).toBeGreaterThan(0);
    expect(data[name]).toEqual(data.items);
  }
});
