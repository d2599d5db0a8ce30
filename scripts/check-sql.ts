// Holds the SQL of src/ to docs/sql-rules.md: rules 2, 3, 4, 6, 9 and 20, statements as constants, unique statement names.
// A statement that must look at all accounts says so in its text, first thing: /* fan-out: reason */.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findStatements } from './sql/find-statements.ts';
import { checkStatement, tablesIn } from './sql/rules.ts';

const ROOT = join(import.meta.dirname, '..');

interface Schema {
  readonly tables: Set<string>;
  readonly accountTables: Set<string>;
}

/** The tables of the committed schema dump. */
export function readSchema(dump: string): Schema {
  const tables = [...dump.matchAll(/^CREATE TABLE (\S+) \(\n([\s\S]*?)\n\)/gm)];
  const owned = tables.filter(([, , body]) => /PRIMARY KEY \(account_id[,)]/.test(body ?? ''));
  const names = (matches: RegExpMatchArray[]) => new Set(matches.map(([, name]) => name as string));
  return { tables: names(tables), accountTables: names(owned) };
}

/** One line per violation, `file:line rule: message`. */
export function checkSources(sources: ReadonlyMap<string, string>, { tables, accountTables }: Schema): string[] {
  const problems: string[] = [];
  const names = new Map<string, string>();
  for (const [path, source] of sources) {
    for (const { sql, line, inFunction, name } of findStatements(path, source, tables)) {
      const place = `${path}:${line}`;
      const violations = checkStatement(sql, accountTables).map(
        ({ rule, message }) => `${place} rule ${rule}: ${message}`,
      );
      const ofAccount = tablesIn(sql).some((table) => accountTables.has(table));
      if (inFunction && ofAccount)
        violations.push(`${place} constant: a statement is a constant of its module, not built in a function`);
      const earlier = name === undefined ? undefined : names.get(name);
      if (earlier !== undefined) violations.push(`${place} name: statement ${name} is also at ${earlier}`);
      if (name !== undefined) names.set(name, place);
      problems.push(...violations);
    }
  }
  return problems;
}

if (import.meta.main) {
  const paths = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .sort();
  const sources = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
  const problems = checkSources(sources, readSchema(readFileSync(join(ROOT, 'migrations/schema.sql'), 'utf8')));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
