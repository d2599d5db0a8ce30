// A command in a folder without a database says so: it makes none, whose empty books would add up and whose backup would hold nothing.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createQmHome, type QmHome } from '../support/qm.ts';

let qm: QmHome;

beforeAll(() => {
  qm = createQmHome();
  mkdirSync(join(qm.path, 'empty'));
});
afterAll(() => qm.remove());

const filesOf = (path: string) => readdirSync(path, { recursive: true }).map(String);

test.each([
  ['doctor'],
  ['backup', 'create', 'copy'],
  ['accounts', 'create'],
  ['keys', 'list', '--account', 'acct_x'],
  ['console'],
  ['migrate'],
  ['migrate', '--upgrade-database'],
])('qm %s in a folder without a database', async (command, ...rest) => {
  const words = [command, ...rest];
  const before = filesOf(qm.path);
  const { code, stdout, stderr } = await qm.run(words);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    `qm: there is no database in ${join(qm.path, 'data')}: run the command in the folder of the service`,
  );
  expect(filesOf(qm.path).filter((name) => !name.startsWith('copy'))).toEqual(before);
});

test('qm backup create with nothing in DATA_DIR, and another database', async () => {
  const { code, stdout, stderr } = await qm.run(['backup', 'create', 'other-copy'], {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    DATA_DIR: 'empty',
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('there is nothing to back up in');
});
