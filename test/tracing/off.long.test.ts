// Traces are on only where an endpoint is named: else nothing of them is loaded, by a service that is a process of its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { Collector } from '../support/collector.ts';
import { createTestDatabase } from '../support/database.ts';
import { createPlace, startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';

/** Writes down the address of each module of the process, which runs the sources. */
const WATCH = `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
process.argv.push('--sources');
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED_FILE, url + '\\n'); return next(url, context); } });`;

async function loadedBy(env: Record<string, string>): Promise<string[]> {
  const database = await createTestDatabase();
  const place = await createPlace({ DATABASE_URL: database.url, ...env });
  const [hook, file] = [join(place.dataDir, 'watch.mjs'), join(place.dataDir, 'loaded')];
  writeFileSync(hook, WATCH);
  const options = { NODE_OPTIONS: `--import ${pathToFileURL(hook)}`, LOADED_FILE: file };
  try {
    const service = await startProcess(place, options);
    expect((await client(service.url, place.operatorKey())('GET', '/v1/queue/list')).status).toBe(200);
    await service.end('SIGTERM');
    return readFileSync(file, 'utf8').split('\n');
  } finally {
    await place.remove();
    await database.drop();
  }
}

const parts = ['tracer.ts', 'exporter.ts', 'otlp.ts', 'traced-outbound.ts'].map((name) => `/src/core/tracing/${name}`);
const partsOf = (loaded: string[]) => parts.filter((part) => loaded.some((url) => url.endsWith(part)));

test.each([{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_EXPORTER: 'none' }])(
  'nothing that makes spans is loaded with %j',
  async (env) => {
    const loaded = await loadedBy(env as Record<string, string>);
    expect(loaded.length).toBeGreaterThan(500);
    expect(partsOf(loaded)).toEqual([]);
  },
);

test('with an endpoint it is, and a process that is stopped sends what waits', async () => {
  const collector = await Collector.start();
  const loaded = await loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  expect(partsOf(loaded)).toEqual(parts);
  expect(collector.one('GET /v1/queue/list').attributes['http.response.status_code']).toBe(200);
  await collector.stop();
});

test('a collector that is not there fails no call, and no start or stop', async () => {
  const loaded = await loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', LOG_LEVEL: 'silent' });
  expect(partsOf(loaded)).toEqual(parts);
});
