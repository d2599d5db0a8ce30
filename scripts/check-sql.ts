// Holds the SQL of src/ to docs/sql-rules.md: rules 2, 3, 4, 6, 9 and 20, statements as constants, unique statement names.
// A statement that must look at all accounts says so in its text, first thing: /* fan-out: reason */.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findingsByFile, ROOT } from './remembered.ts';
import { findStatements } from './sql/find-statements.ts';
import { checkStatement, tablesIn } from './sql/rules.ts';

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

interface Found {
  readonly violations: readonly string[];
  /** Names of statements, each with its `file:line`. */
  readonly names: readonly (readonly [name: string, place: string])[];
}

function checkSource(path: string, source: string, { tables, accountTables }: Schema): Found {
  const violations: string[] = [];
  const names: [string, string][] = [];
  for (const { sql, line, inFunction, name } of findStatements(path, source, tables)) {
    const place = `${path}:${line}`;
    violations.push(
      ...checkStatement(sql, accountTables).map(({ rule, message }) => `${place} rule ${rule}: ${message}`),
    );
    if (inFunction && tablesIn(sql).some((table) => accountTables.has(table)))
      violations.push(`${place} constant: a statement is a constant of its module, not built in a function`);
    if (name !== undefined) names.push([name, place]);
  }
  return { violations, names };
}

function usedTwice(names: Found['names']): string[] {
  const earlier = new Map<string, string>();
  return names.flatMap(([name, place]) => {
    const first = earlier.get(name);
    earlier.set(name, place);
    return first === undefined ? [] : [`${place} name: statement ${name} is also at ${first}`];
  });
}

const faultsIn = (found: readonly Found[]) => [
  ...found.flatMap(({ violations }) => violations),
  ...usedTwice(found.flatMap(({ names }) => names)),
];

/** One line per violation, `file:line rule: message`. */
export const checkSources = (sources: ReadonlyMap<string, string>, schema: Schema): string[] =>
  faultsIn([...sources].map(([path, source]) => checkSource(path, source, schema)));

if (import.meta.main) {
  const schema = readSchema(readFileSync(join(ROOT, 'migrations/schema.sql'), 'utf8'));
  const found = findingsByFile<Found>(
    'sql-rules',
    {
      of: /^src\/.*(?<![.]test)[.]ts$/,
      madeBy: /^(?:migrations\/schema[.]sql|scripts\/check-sql[.]ts|scripts\/sql\/.*[.]ts)$/,
    },
    (changed) => new Map([...changed].map(([path, source]) => [path, checkSource(path, source, schema)])),
  );
  const faults = faultsIn([...found.values()]);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
