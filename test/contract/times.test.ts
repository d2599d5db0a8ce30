// Times as input: a text that does not say its offset from UTC names no moment, wherever it stands.
import { beforeAll, describe, expect, test } from 'vitest';
import { asJsonSchema, type JsonSchema } from '../../src/manifest/json-schema.ts';
import {
  byId,
  callCapability,
  capabilities,
  type Input,
  isOneModule,
  prepareExample,
} from '../support/capabilities.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

/** Where a time stands: names of members, and `[]` for the only entry of an array. */
type Path = readonly string[];

function timesIn(schema: JsonSchema, path: Path = []): Path[] {
  const own: Path[] = schema.format === 'date-time' ? [path] : [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => timesIn(member, [...path, name]));
  const entries = schema.items === undefined ? [] : timesIn(schema.items, [...path, '[]']);
  return [...own, ...members, ...entries, ...(schema.anyOf ?? []).flatMap((branch) => timesIn(branch, path))];
}

function withTime(value: unknown, [step, ...rest]: Path, text: string): unknown {
  if (step === undefined) return text;
  if (step === '[]') return [withTime((value as unknown[])[0] ?? {}, rest, text)];
  return { ...(value as object), [step]: withTime((value as Record<string, unknown>)[step] ?? {}, rest, text) };
}

const times = capabilities.flatMap(({ id, input }) =>
  timesIn(asJsonSchema(input)).map((path) => [id, path.join('.').replaceAll('.[]', '[0]'), path] as const),
);
const withoutOffset = [
  '2027-04-01',
  '2027-04-01T00:00:00',
  '2027-04-01 00:00:00',
  '2027-04',
  '1806537600',
  '20270401T000000Z',
];

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const prepared = new Map<string, Promise<[Client, Input]>>();
function prepare(id: string): Promise<[Client, Input]> {
  const known = prepared.get(id) ?? prepareNow(id);
  prepared.set(id, known);
  return known;
}

async function prepareNow(id: string): Promise<[Client, Input]> {
  const { secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  return [call, await prepareExample(call, byId(id))];
}

test.skipIf(isOneModule)('every kind of time that a caller sends is found by its schema', () => {
  const found = times.map(([id, name]) => `${id} ${name}`);
  for (const field of [
    'account.usage from',
    'account.usage.timeseries to',
    'account.ledger.list from',
    'account.keys.create expires_at',
    'cron.create run_at',
    'cron.update run_at',
    'errors.list filter.from',
    'errors.search filter.to',
  ])
    expect(found).toContain(field);
});

test('what is named like a time is declared as one', () => {
  // Of messages they are people, other messages, or a queue.
  const people =
    /^(email|sms)\..* (from|to)$|^account\.webhooks\.receive\.\w+ to$|^(email.inbox.messages|realtime.history) after$/;
  const named = /^(at|from|to|since|until|before|after|timestamp)$|_(at|since|until)$/;
  const undeclared = capabilities.flatMap(({ id, input }) => {
    const { properties = {} } = asJsonSchema(input);
    return Object.entries(properties)
      .filter(([name, schema]) => named.test(name) && schema.format !== 'date-time')
      .map(([name]) => `${id} ${name}`)
      .filter((field) => !people.test(field));
  });
  expect(undeclared).toEqual([]);
});

describe.each(times)('%s: %s', (id, name, path) => {
  test('a text without an offset is 400, and the field is named', async () => {
    const [call, valid] = await prepare(id);
    for (const text of withoutOffset) {
      const { status, body } = await callCapability(call, byId(id), withTime(valid, path, text) as Input);
      expect([text, status, body.error?.code, body.error?.param]).toEqual([text, 400, 'VALIDATION_FAILED', name]);
      expect(body.error.message).toContain('with an offset');
    }
  });

  test('with one it is read', async () => {
    const [call, valid] = await prepare(id);
    for (const text of ['2027-04-01T00:00:00Z', '2027-04-01T02:00:00.5+02:00']) {
      const { body } = await callCapability(call, byId(id), withTime(valid, path, text) as Input);
      const faults = (body.error?.errors ?? []).filter(
        ({ param, rule }: { param: string; rule: string }) => param === name && rule === 'format',
      );
      expect(faults, JSON.stringify(body)).toEqual([]);
    }
  });
});
