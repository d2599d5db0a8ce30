import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsOf } from './migrate.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

it.each([
  ['', []],
  [' ;\n; ', []],
  ['SELECT 1', ['SELECT 1']],
  ['CREATE TABLE a ();\n\nALTER TABLE a\n  ADD b int;\n', ['CREATE TABLE a ()', 'ALTER TABLE a\n  ADD b int']],
  ['SELECT 1; -- one; more\nSELECT 2', ['SELECT 1', '-- one; more\nSELECT 2']],
  [`-- it's one\nSELECT 1; SELECT 2 /* ' ; */;`, [`-- it's one\nSELECT 1`, `SELECT 2 /* ' ; */`]],
  [`SELECT ';''--;', 1 - 2 / 3; SELECT ";"`, [`SELECT ';''--;', 1 - 2 / 3`, 'SELECT ";"']],
  [`DO $$ BEGIN a; '$b$'; END $$; SELECT 2`, [`DO $$ BEGIN a; '$b$'; END $$`, 'SELECT 2']],
  ['DO $a$ DO $$;$$; $a$; SELECT $1;', ['DO $a$ DO $$;$$; $a$', 'SELECT $1']],
])('reads the commands of %j', (text, commands) => expect(commandsOf(text)).toEqual(commands));

it('loses no character of the migrations but the semicolons and blanks between commands', () => {
  const files = globSync('[0-9]*.sql', { cwd: MIGRATIONS });
  expect(files.length).toBeGreaterThan(16);
  for (const file of files) {
    const text = readFileSync(join(MIGRATIONS, file), 'utf8');
    const bare = (sql: string) => sql.replaceAll(/[\s;]/g, '');
    expect(bare(commandsOf(text).join('')), file).toBe(bare(text));
    const starts = commandsOf(text).map((command) => command.replaceAll(/^--.*$/gm, '').trim());
    for (const start of starts)
      expect(start, file).toMatch(/^(?:ALTER|COMMENT|CREATE|DELETE|DO|DROP|INSERT|SELECT|UPDATE)\b/);
  }
});
