// The service from its bundle, which npm ci makes: what it loads, and when it does not.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';

// JavaScript without types, for it runs before anything that could read them.
const { load } = await import(join(PROJECT, 'src/load.js'));
const run = promisify(execFile);

describe('a bundle is used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-bundle-'));
  const source = join(folder, 'source.ts');
  const place = pathToFileURL(`${folder}/`);
  const loaded = () => load('serve', async () => ({ from: 'sources' }), place);
  const record = (text: string) => writeFileSync(join(folder, 'current.json'), text);
  const recordStamp = () => {
    const { mtimeMs, size } = statSync(source);
    record(JSON.stringify({ folder: 'one', files: { [relative(PROJECT, source)]: [mtimeMs, size] } }));
  };

  beforeAll(() => {
    mkdirSync(join(folder, 'one'));
    writeFileSync(join(folder, 'one/serve.mjs'), `export const from = 'the bundle';`);
    writeFileSync(source, 'one');
    recordStamp();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('while its files are as they were', async () => {
    expect(await loaded()).toMatchObject({ from: 'the bundle' });
  });

  test.each([
    ['another size', () => writeFileSync(source, 'other')],
    ['another time', () => utimesSync(source, 1, 1)],
    ['gone', () => rmSync(source)],
    ['a torn record', () => record('{"folder":')],
    ['no record', () => rmSync(join(folder, 'current.json'))],
  ])('not when one of them has changed: %s', async (_what, change) => {
    change();
    expect(await loaded()).toEqual({ from: 'sources' });
    writeFileSync(source, 'one');
    recordStamp();
    expect(await loaded()).toMatchObject({ from: 'the bundle' });
  });
});

describe('the bundle as npm run build makes it', () => {
  let place: Place;
  beforeAll(async () => {
    await run(process.execPath, [join(PROJECT, 'scripts/bundle.ts')]);
    place = await createPlace();
  }, 120_000);
  afterAll(() => place?.remove());

  test('a stack trace names the sources', async () => {
    const program = `import('./src/load.js').then(({ load }) => load('serve')).then(({ serve }) => serve(null))`;
    const env = { ...place.env, WORKERS: '2' };
    const failing = run(process.execPath, ['-e', program], { cwd: PROJECT, env });
    await expect(failing).rejects.toThrow(/TypeError[\s\S]* at .*src\/workers\/primary\.ts:\d+:\d+/);
  });

  test('serves calls, bodies that go to a thread, and pages with their files', async () => {
    const service = await startProcess(place);
    const call = client(place.url, place.operatorKey());
    await call('POST', '/v1/queue/create', { name: 'jobs' });
    const payload = { text: 'x'.repeat(200_000) };
    expect((await call('POST', '/v1/queue/publish', { queue: 'jobs', payload })).status).toBe(200);
    const page = await (await fetch(`${place.url}/docs`, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('queue.publish');
    expect((await service.end('SIGTERM')).code).toBe(0);
    expect(service.stderr()).toBe('');
  }, 120_000);

  test('runs the command line', async () => {
    const { stdout } = await run(process.execPath, [join(PROJECT, 'src/qm.js'), 'gen', '--json']);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });
});
