import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { layoutOf } from './layout.ts';
import { takeServiceLock } from './lock.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Takes the lock as its holder would, and says how that went. */
const seize = `
  const { DatabaseSync } = require('node:sqlite');
  try {
    new DatabaseSync(process.argv[1]).exec('BEGIN EXCLUSIVE');
    process.stdout.write('seized');
  } catch (error) {
    process.stdout.write(error.message);
  }`;

describe.skipIf(process.platform === 'win32')('the lock of a data directory', () => {
  const root = mkdtempSync(join(tmpdir(), 'qm-lock-'));
  chmodSync(root, 0o755);
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let layout: ReturnType<typeof layoutOf>;
  let places = 0;

  beforeEach(() => {
    places += 1;
    layout = layoutOf(join(root, `place-${places}`));
    mkdirSync(layout.home, { recursive: true, mode: 0o755 });
  });

  const modeOf = (file: string) => statSync(file).mode & 0o777;
  const seizeAs = (uid: number | undefined) =>
    spawnSync(process.execPath, ['-e', seize, layout.lockFile], { uid, encoding: 'utf8', cwd: '/' }).stdout;

  it('can be read by its owner alone', () => {
    const lock = takeServiceLock(layout);
    expect(modeOf(layout.lockFile)).toBe(0o600);
    lock.release();
  });

  it('is closed to others when it was left open to them', () => {
    writeFileSync(layout.lockFile, '', { mode: 0o644 });
    takeServiceLock(layout).release();
    expect(modeOf(layout.lockFile)).toBe(0o600);
  });

  it('is not lost when the same process asks for it again', () => {
    const lock = takeServiceLock(layout);
    expect(() => takeServiceLock(layout)).toThrow('in use by another running service');
    expect(seizeAs(undefined)).toBe('database is locked');
    lock.release();
    expect(seizeAs(undefined)).toBe('seized');
  });

  it.runIf(isRoot)('cannot be held by another user of the machine', () => {
    takeServiceLock(layout).release();
    expect(seizeAs(NOBODY)).toBe('unable to open database file');
    takeServiceLock(layout).release();
  });
});
