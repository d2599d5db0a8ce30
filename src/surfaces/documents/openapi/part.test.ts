// A part of the OpenAPI document stands alone: it is valid, has what it refers to, and nothing of other modules.
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { manifest } from '../../../../test/support/capabilities.ts';
import { releasedEvents } from '../../../kit/offer.ts';
import { streamsOf } from '../../../manifest/streams.ts';
import { renderOpenapi } from './openapi.ts';
import { modulesAsked, openapiParts } from './part.ts';

type Members = Record<string, Record<string, { operationId?: string; tags: string[] }>>;
interface Document {
  readonly tags: { name: string }[];
  readonly paths: Members;
  readonly webhooks: Members;
  readonly components: { schemas: Record<string, object> };
}

const whole = renderOpenapi(manifest, { baseUrl: 'http://127.0.0.1:8787' }) as Document;
const textOf = openapiParts(whole);
const partOf = (...modules: string[]) => JSON.parse(textOf(modules)) as Document;
const names = manifest.modules.map(({ name }) => name);
const asked = (query: string) => modulesAsked(manifest, new URLSearchParams(query));

test.each([...names.map((name) => [name]), ['queue', 'vector']])(
  'the part of %s %s stands alone',
  async (...modules) => {
    const part = partOf(...modules);
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(textOf(modules)))).toEqual({ valid: true });
    expect(() => validator.resolveRefs()).not.toThrow();
    expect(part.tags.map(({ name }) => name)).toEqual(names.filter((name) => modules.includes(name)));
    const operations = Object.values(part.paths).flatMap((methods) => Object.values(methods));
    const all = [...manifest.capabilities, ...streamsOf(manifest.modules)];
    const own = all.filter(({ id }) => modules.includes(id.split('.')[0] as string));
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(own.map(({ id }) => id).sort());
    const told = manifest.events.filter(({ status }) => status === 'ga');
    const events = told.filter(({ module }) => modules.includes(module)).map(({ type }) => type);
    expect(Object.keys(part.webhooks).sort()).toEqual(events.sort());
  },
);

test('what stands in a part stands so in the whole, and no schema in vain', () => {
  const part = partOf('queue');
  expect(whole).toMatchObject({ paths: part.paths, webhooks: part.webhooks });
  const { schemas } = part.components;
  expect(whole.components.schemas).toMatchObject(schemas);
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Metadata', 'Error', 'Failure', 'Queue', 'Message']));
  const text = JSON.stringify(part);
  for (const name of Object.keys(schemas)) expect(text).toContain(`"#/components/schemas/${name}"`);
});

test('all modules together are the whole, but for events of no module', () => {
  const part = partOf(...names);
  const ofNone = releasedEvents(manifest).filter(({ module }) => !names.includes(module));
  expect(ofNone.map(({ type }) => type)).toEqual(['system.vendor.down']);
  for (const { type } of ofNone) expect(part.webhooks[type]).toBeUndefined();
  expect(part.paths).toEqual(whole.paths);
  expect(Object.keys(part.webhooks).length + ofNone.length).toBe(Object.keys(whole.webhooks).length);
});

test.each([
  ['', null],
  ['other=1', null],
  ['module=queue', ['queue']],
  ['module=vector,queue,queue', ['queue', 'vector']],
  ['module=vector&module=queue', ['queue', 'vector']],
])('the query %j asks for %j', (query, modules) => {
  expect(asked(query)).toEqual(modules);
});

test.each([
  'module=',
  'module=queues',
  'module=queue,',
  'module=auth',
  'module=__proto__',
  `module=${'x'.repeat(9_000)}`,
])('the query %.30s is refused by name', (query) => {
  expect(() => asked(query)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED', httpStatus: 400, param: 'module' }),
  );
});
