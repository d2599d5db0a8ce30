import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { baseUrl, fixtureManifest } from '../../../../test/contract/fixture.ts';
import { renderOpenapi } from './openapi.ts';

type Json = Record<string, unknown>;
interface Operation extends Json {
  readonly parameters: readonly Json[];
  readonly requestBody?: {
    required: boolean;
    content: { 'application/json': { schema: Json; examples?: Record<string, { value: unknown }> } };
  };
  readonly responses: Record<string, Json>;
}
interface Document extends Json {
  readonly info: Json;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, Json> };
}

const document = renderOpenapi(fixtureManifest, { baseUrl }) as Document;
const send = document.paths['/parcel/send/{parcel}']?.post as Operation;
const list = document.paths['/parcel/list']?.get as Operation;
const drop = document.paths['/parcel/drop/{parcel}']?.delete as Operation;
const named = (operation: Operation, name: string) => operation.parameters.find((parameter) => parameter.name === name);

test('the document is valid OpenAPI 3.1 and every reference resolves', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  expect(() => validator.resolveRefs()).not.toThrow();
});

test('the head is the one of the specification', () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Quartermaster: Unified Infrastructure REST API', version: '0.1.0' },
    servers: [{ url: `${baseUrl}/v1` }],
    security: [{ bearerAuth: [] }],
    components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
  });
});

test('every operation carries the vendor fields and every declared response', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(operations).toHaveLength(fixtureManifest.capabilities.length);
  for (const operation of operations) {
    expect(operation['x-svc-regions']).toEqual(['western', 'china']);
    expect(typeof operation['x-svc-idempotent']).toBe('boolean');
    expect(fixtureManifest.byId.has(operation['x-svc-capability'] as string)).toBe(true);
    expect(Object.keys(operation.responses)).toEqual([
      '200',
      '400',
      '401',
      '402',
      '403',
      '404',
      '409',
      '429',
      '500',
      '502',
      '503',
      '504',
      'default',
    ]);
  }
});

describe('a write with a body', () => {
  test('takes path parameters from the path, the rest from the body, which may repeat the path', () => {
    expect(named(send, 'parcel')).toMatchObject({ in: 'path', required: true, example: 'books' });
    const body = send.requestBody?.content['application/json'];
    expect(send.requestBody?.required).toBe(true);
    expect(Object.keys(body?.schema.properties as Json)).toEqual([
      'parcel',
      'weight',
      'kind',
      'items',
      'idempotency_key',
    ]);
    expect(body?.schema.required).toEqual(['kind', 'items']);
    expect(body?.examples?.example_1?.value).toEqual({ kind: 'box', items: [{ label: "Bob's <books>" }] });
  });

  test('takes the idempotency key in the header too', () => {
    expect(send.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKeyHeader' });
  });
});

test('a free-form body takes anything; names of the path mean nothing in it', () => {
  const weigh = document.paths['/parcel/weigh/{parcel}']?.post as Operation;
  const body = weigh.requestBody?.content['application/json'];
  expect(body?.schema).toMatchObject({ type: 'object', additionalProperties: true });
  expect(Object.keys(body?.schema.properties as Json)).toEqual(['idempotency_key']);
  expect(body?.examples?.example_1?.value).toEqual({ anything: [1] });
});

describe('a read', () => {
  test('has query parameters, no body and no idempotency key', () => {
    expect(list.parameters.map((parameter) => [parameter.name, parameter.in, parameter.required])).toEqual([
      ['cursor', 'query', false],
      ['kinds', 'query', false],
      ['filter', 'query', false],
    ]);
    expect(named(list, 'filter')).toMatchObject({ style: 'deepObject' });
    expect(list.requestBody).toBeUndefined();
    expect(list['x-svc-idempotent']).toBe(false);
  });
});

describe('a DELETE', () => {
  test('takes its fields and the key from the query, or from an optional body', () => {
    expect(named(drop, 'why')).toMatchObject({ in: 'query', required: true });
    expect(drop.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKeyQuery' });
    expect(drop.requestBody?.required).toBe(false);
    expect(drop.requestBody?.content['application/json'].schema.required).toBeUndefined();
    expect(drop.deprecated).toBe(true);
  });
});

test('a titled schema stands once among the components', () => {
  const parcel = { $ref: '#/components/schemas/Parcel' };
  expect(JSON.stringify(send.responses[200])).toContain(JSON.stringify({ data: parcel }).slice(1, -1));
  expect(JSON.stringify(list.responses[200])).toContain(JSON.stringify({ items: parcel }).slice(1, -1));
  expect(document.components.schemas.Parcel).toMatchObject({ type: 'object', title: 'Parcel' });
});
