// Lists are read alike: `items`, also where the specification has a name of its own for the entries.
import { beforeAll, expect, test } from 'vitest';
import { asJsonSchema } from '../../src/manifest/json-schema.ts';
import { byId, capabilities, createPlayer, playExample } from '../support/capabilities.ts';
import { client } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const lists = capabilities.filter(({ output }) => asJsonSchema(output).properties?.next_cursor !== undefined);
const namedOtherwise = new Map([
  ['errors.groups', 'groups'],
  ['vector.collection.list', 'collections'],
  ['vector.query', 'matches'],
]);

test('every list has items and says whether there is more', () => {
  const incomplete = lists.filter(({ output }) => {
    const { items, has_more } = asJsonSchema(output).properties ?? {};
    return items?.type !== 'array' || has_more?.type !== 'boolean';
  });
  expect(incomplete.map(({ id }) => id)).toEqual([]);
});

test.each(lists.map(({ id }) => id))('%s answers items', async (id) => {
  const call = client(service.url, (await createPlayer(service.core, byId(id))).secret);
  const [example] = byId(id).examples;
  const played = await playExample(call, byId(id), example as NonNullable<typeof example>);
  const { data } = played.at(-1)?.reply.body ?? {};
  // An export has a page for each kind of record at least.
  const end = id === 'account.export' ? expect.any(String) : null;
  expect(data).toMatchObject({ items: expect.any(Array), next_cursor: end, has_more: end !== null });
  const name = namedOtherwise.get(id);
  if (name !== undefined) {
    expect(data.items.length).toBeGreaterThan(0);
    expect(data[name]).toEqual(data.items);
  }
});
