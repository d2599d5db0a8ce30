// The npm package, packed and installed into an empty folder as a user would: it is small, starts there, and README's first calls work.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, PROJECT } from '../support/process.ts';

const PACKED_BYTES_MAX = 3_000_000;
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-npm-'));
let tarball = '';
// Vite has a BASE_URL of its own.
const { BASE_URL: _, ...inherited } = process.env;

beforeAll(() => {
  execFileSync('npm', ['pack', '--pack-destination', folder, ...QUIET], { cwd: PROJECT, stdio: 'pipe' });
  tarball = join(folder, globSync('quartermaster-*.tgz', { cwd: folder })[0] as string);
  execFileSync('npm', ['init', '-y'], { cwd: folder, stdio: 'pipe' });
  execFileSync('npm', ['install', '--prefer-offline', ...QUIET, tarball], { cwd: folder, stdio: 'pipe' });
}, 400_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a reader copies from README: one fenced block of a section. */
function blockOf(section: string): string {
  const readme = readFileSync(join(PROJECT, 'README.md'), 'utf8');
  return /```sh\n(.*?)```/s.exec(readme.split(`## ${section}\n`)[1] as string)?.[1] as string;
}

test('the package holds only what runs', () => {
  expect(statSync(tarball).size).toBeLessThan(PACKED_BYTES_MAX);
  const files = execFileSync('tar', ['tf', tarball], { encoding: 'utf8', maxBuffer: 10_000_000 }).trim().split('\n');
  expect(files.filter((file) => /\.test\.|\.ts$|\/(?:test|bench|examples)\//.test(file))).toEqual([]);
  expect(files).toContain('package/LICENSE');
});

type Qm = (...words: string[]) => string;

/** Starts the service as README says, and stops it after `work`. */
async function withService(work: (port: number, qm: Qm) => Promise<void> | void): Promise<void> {
  const port = await freePort();
  const env = { ...inherited, PORT: String(port), LOG_LEVEL: 'warn' };
  const service = spawn('npx', ['quartermaster'], { cwd: folder, env, stdio: 'pipe', detached: true });
  let said = '';
  service.stdout.on('data', (chunk) => (said += chunk));
  service.stderr.on('data', (chunk) => (said += chunk));
  try {
    await expect.poll(() => said, { timeout: 60_000 }).toContain('Make your first call');
    await work(port, (...words) =>
      execFileSync('npx', ['quartermaster', 'qm', ...words], { cwd: folder, env, encoding: 'utf8' }),
    );
  } finally {
    if (service.exitCode === null) {
      process.kill(-(service.pid as number), 'SIGTERM');
      await once(service, 'exit');
    }
  }
}

test("the service starts in an empty folder from its bundle, and README's first call works", async () => {
  await withService((port, qm) => {
    expect(
      globSync('node_modules/quartermaster/dist/node_modules/.cache/quartermaster/*/serve.mjs', { cwd: folder }),
    ).toHaveLength(1);

    const calls = blockOf('First call').replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`);
    const answers = execFileSync('sh', ['-ec', calls], { cwd: folder, encoding: 'utf8' });
    expect(answers.match(/"ok":true/g)).toHaveLength(1);
    expect(answers).toMatch(/hello/i);

    expect(qm('--help')).toContain('Usage: qm COMMAND');
    // Its exit code says whether it has found something.
    qm('doctor');
  });
}, 120_000);

test('a message that names a command says how it is called from the package', () => {
  const cluster = join(folder, 'old/postgres/data');
  mkdirSync(cluster, { recursive: true });
  writeFileSync(join(cluster, 'PG_VERSION'), '17\n');
  const env = { ...inherited, DATA_DIR: join(folder, 'old') };
  const { stderr } = spawnSync('npx', ['qm', 'accounts', 'list'], { cwd: folder, env, encoding: 'utf8' });
  expect(stderr).toContain('this service brings 18: run `npx quartermaster qm migrate --upgrade-database`');
});

test('without its optional packages the service starts, and a call that needs one names it', async () => {
  const call = async (port: number, path: string, prompt: string) => {
    const secret = readFileSync(join(folder, 'data/operator.key'), 'utf8').trim();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt }),
    });
    return [answer.status, ((await answer.json()) as { error?: object }).error];
  };
  const missing = (what: string, name: string) => [
    400,
    expect.objectContaining({
      code: 'VENDOR_NOT_AVAILABLE',
      code_detail: 'not_installed',
      message: `${what} needs the optional package ${name}, which is not installed here.`,
    }),
  ];
  await withService(async (port) => {
    expect(await call(port, 'video/generate', '红色的球')).toEqual([200, undefined]);
    expect(await call(port, 'image/generate', '红色的球')).toEqual([200, undefined]);
  });
  for (const name of ['@fontsource/noto-sans-sc', 'h264-mp4-encoder'])
    rmSync(join(folder, 'node_modules', name), { recursive: true });
  await withService(async (port) => {
    const encoder = missing('The video sandbox', 'h264-mp4-encoder');
    const font = missing('Chinese text in the sandbox', '@fontsource/noto-sans-sc');
    expect(await call(port, 'video/generate', 'a red ball')).toEqual(encoder);
    expect(await call(port, 'image/generate', '红色的球')).toEqual(font);
    expect(await call(port, 'image/generate', 'a red ball')).toEqual([200, undefined]);
  });
}, 120_000);
