// What answers as it happens is told where calls are: discovery, OpenAPI, the manifest and the documents for agents.
import { beforeAll, expect, test } from 'vitest';
import type { RawRoute } from '../../src/kit/raw-route.ts';
import { streamsOf } from '../../src/manifest/streams.ts';
import { capabilities, manifest } from '../support/capabilities.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const streams = streamsOf(manifest.modules);
const routes: readonly RawRoute[] = manifest.modules.flatMap(({ rawRoutes = [] }) => rawRoutes as readonly RawRoute[]);

let service: SharedService;
let call: Client;
let secret: string;
beforeAll(async () => {
  service = await sharedService();
  secret = (await createTestAccount(service.core)).secret;
  call = client(service.url, secret);
});

/** The head of its answer to a key; the stream is left at once. */
async function typeOf(path: string): Promise<string> {
  const left = new AbortController();
  const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' };
  const answer = await fetch(`${service.url}${path}`, { headers, signal: left.signal, redirect: 'manual' });
  left.abort();
  return answer.headers.get('content-type') ?? '';
}

test('every GET that answers with events is told', async () => {
  const asked = routes.filter(({ methods, path }) => methods.includes('GET') && !path.includes('{'));
  const found: string[] = [];
  for (const { name, path } of asked) {
    const isStream = (await typeOf(`${path}?channels=news`)).startsWith('text/event-stream');
    if (isStream || (await typeOf(path)).startsWith('text/event-stream')) found.push(name);
  }
  expect(found).toEqual(expect.arrayContaining(['logs.tail', 'account.requests.tail', 'realtime.stream']));
  expect(streams.map(({ id }) => id)).toEqual(expect.arrayContaining([...found, 'flags.stream']));
});

test.each(streams)('$id stands in discovery, OpenAPI, the manifest and the pages of its module', async (stream) => {
  expect((await call('GET', '/v1/discovery')).body.data.streams).toContainEqual(stream);
  expect((await call('GET', '/.well-known/quartermaster.json')).body.streams).toContainEqual(stream);
  const { paths } = (await call('GET', `/v1/openapi.json?module=${stream.module}`)).body;
  const operation = paths[stream.path.replace('/v1', '')].get;
  expect(Object.keys(operation.responses[200].content)).toEqual(['text/event-stream']);
  const fields = Object.keys(stream.query_schema.properties ?? {});
  expect(operation.parameters.map(({ name }: { name: string }) => name)).toEqual(fields);
  const { text } = await call('GET', `/llms/${stream.module}.txt`);
  expect(text).toContain(`GET ${stream.path} (${stream.scope})`);
});

test('where a query takes an object, the pages say how it is written', async () => {
  const asked = capabilities.filter(
    ({ method, input }) =>
      method === 'GET' && Object.values(input.properties).some((field) => 'type' in field && field.type === 'object'),
  );
  expect(asked.map(({ id }) => id)).toContain('errors.list');
  for (const { id } of asked) {
    expect((await call('GET', `/docs/capabilities/${id}.md`)).text, id).toMatch(/\w+\[NAME\]=value/);
    expect((await call('GET', `/llms/${id.split('.')[0]}.txt`)).text, id).toMatch(/\w+\[NAME\]=value/);
  }
});
