// `npm ci --omit=dev` of the project, and what it takes: its end (scripts/postinstall.js) removes what no program loads.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { isSoak } from '../support/soak.ts';

const INSTALLED_MB_MAX = 300;
const NEEDED = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'src', 'scripts'];
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-install-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.skipIf(!isSoak)(
  'an installation takes at most 300 MB, with its bundle and without the bundler',
  () => {
    for (const name of NEEDED)
      cpSync(join(PROJECT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['ci', '--omit=dev', ...quiet], { cwd: folder, stdio: 'pipe' });

    const told = execFileSync('du', ['-sm', '--apparent-size', 'node_modules'], { cwd: folder, encoding: 'utf8' });
    expect(Number.parseInt(told, 10)).toBeLessThanOrEqual(INSTALLED_MB_MAX);
    expect(existsSync(join(folder, 'node_modules/.cache/quartermaster/current.json'))).toBe(true);
    expect(existsSync(join(folder, 'node_modules/rolldown'))).toBe(false);
  },
  300_000,
);
