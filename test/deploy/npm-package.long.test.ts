// The npm package, packed and installed into an empty folder as a user would: it is small, starts there, and README's first calls work.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, PROJECT } from '../support/process.ts';

const PACKED_BYTES_MAX = 3_000_000;
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-npm-'));
let tarball = '';

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

test("the service starts in an empty folder from its bundle, and README's first calls work", async () => {
  const port = await freePort();
  // Vite has a BASE_URL of its own.
  const { BASE_URL: _, ...inherited } = process.env;
  const env = { ...inherited, PORT: String(port), LOG_LEVEL: 'warn' };
  const service = spawn('npx', ['quartermaster'], { cwd: folder, env, stdio: 'pipe', detached: true });
  let said = '';
  service.stdout.on('data', (chunk) => (said += chunk));
  service.stderr.on('data', (chunk) => (said += chunk));
  try {
    await expect.poll(() => said, { timeout: 60_000 }).toContain('Make your first call');
    expect(
      globSync('node_modules/quartermaster/dist/node_modules/.cache/quartermaster/*/serve.mjs', { cwd: folder }),
    ).toHaveLength(1);

    const calls = blockOf('First call').replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`);
    const answers = execFileSync('sh', ['-ec', calls], { cwd: folder, encoding: 'utf8' });
    expect(answers.match(/"ok":true/g)).toHaveLength(3);
    expect(answers).toContain('"payload":{"task":"resize","image":17}');

    const qm = (...words: string[]) =>
      execFileSync('npx', ['quartermaster', 'qm', ...words], { cwd: folder, env, encoding: 'utf8' });
    expect(qm('--help')).toContain('Usage: qm COMMAND');
    // Its exit code says whether it has found something.
    execFileSync('npx', ['qm', 'doctor'], { cwd: folder, env, stdio: 'pipe' });
  } finally {
    if (service.exitCode === null) {
      process.kill(-(service.pid as number), 'SIGTERM');
      await once(service, 'exit');
    }
  }
}, 120_000);
