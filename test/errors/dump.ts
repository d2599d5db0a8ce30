// All that the database holds, for tests that look for what must not be there.
import { expect } from 'vitest';
import type { Core } from '../../src/core/context.ts';
import { unpackLine } from '../../src/modules/errors/event-detail.ts';

/** Every row of every table of the schemas errors and core as text; the details of events unpacked. */
export async function dump({ db }: Core): Promise<string> {
  const { rows } = await db.query<{ name: string }>(
    {
      name: '',
      text: `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
              WHERE table_schema IN ('errors', 'core') AND table_type = 'BASE TABLE'`,
    },
    [],
  );
  expect(rows.length).toBeGreaterThan(10);
  const texts: string[] = [];
  for (const { name } of rows) {
    const table = await db.query<{ row: string }>({ name: '', text: `SELECT t::text AS row FROM ${name} t` }, []);
    texts.push(...table.rows.map(({ row }) => row));
  }
  const events = {
    name: '',
    text: 'SELECT d.lines, e.detail_line FROM errors.event e JOIN errors.event_detail d ON d.account_id = e.account_id AND d.seq = e.detail_seq',
  };
  const details = (await db.query<{ lines: Buffer; detail_line: number }>(events, [])).rows;
  return [...texts, ...details.map((event) => JSON.stringify(unpackLine(event.lines, event.detail_line)))].join('\n');
}
