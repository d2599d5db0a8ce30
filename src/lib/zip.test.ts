import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { zipOf } from './zip.ts';

const program = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    sys.stdout.reconfigure(encoding='utf-8')
    assert archive.testzip() is None
    for entry in archive.infolist(): print(entry.filename, archive.read(entry).decode())`;

test.skipIf(spawnFails())('another program reads the archive, and finds its sums right', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qm-zip-'));
  const file = join(folder, 'a.zip');
  const entries = [
    { name: 'a.txt', bytes: Buffer.from('first') },
    { name: 'é.txt', bytes: Buffer.from('') },
    { name: 'c.txt', bytes: Buffer.from('third') },
  ];
  writeFileSync(file, await zipOf(entries));
  expect(execFileSync('python3', ['-c', program, file], { encoding: 'utf8' })).toBe(
    'a.txt first\né.txt \nc.txt third\n',
  );
  rmSync(folder, { recursive: true });
});

function spawnFails(): boolean {
  try {
    execFileSync('python3', ['--version']);
    return false;
  } catch {
    return true;
  }
}
