// All that the database holds, for tests that look for what must not be there.
import { expect } from 'vitest';
import type { Services } from '../../src/kit/services.ts';
import { unpackBlock } from '../../src/modules/errors/intake/event-detail.ts';

/** Every row of every table of the schemas errors and core as text; the blocks of details unpacked. */
export async function dump({ db }: Services): Promise<string> {
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
  const blocks = await db.query<{ lines: Buffer }>({ name: '', text: 'SELECT lines FROM errors.event_detail' }, []);
  return [...texts, ...blocks.rows.map(({ lines }) => unpackBlock(lines).toString())].join('\n');
}
