// The unit of systemd: clean, and with an exposure of at most 3.0 (a unit without any hardening has 9.6).
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';

const EXPOSURE_TENTHS_MAX = 30;
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-unit-'));
const unit = join(folder, 'quartermaster.service');
// Where this checkout is: what it runs must be there.
writeFileSync(
  unit,
  readFileSync(join(PROJECT, 'deploy/systemd/quartermaster.service'), 'utf8').replaceAll('/opt/quartermaster', PROJECT),
);
afterAll(() => rmSync(folder, { recursive: true }));

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)("systemd-analyze finds nothing wrong with it (Debian's package systemd)", () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.skipIf(!hasSystemd)('its exposure is at most 3.0', () => {
  const args = ['security', '--offline=true', `--threshold=${EXPOSURE_TENTHS_MAX}`, unit];
  expect(execFileSync('systemd-analyze', args, { encoding: 'utf8' })).toMatch(/Overall exposure level .*: [0-2]\.\d/);
});
