// Secrets of connections that are hard to write, targets that say them in random pieces and forms, and what a database holds as text.

import { gunzipSync, gzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { formsOf } from '../../src/modules/vault/answers/forms.ts';
import type { Target } from './harness.ts';

const secretOf = (kind: string) => `sécret-"of/${kind}"+<&>=x7Qz`.normalize('NFC');
const ascii = (kind: string) => `secret-"of/${kind}"+<&>=x7Qz`;
export const kinds: readonly (readonly [kind: string, fields: object, secrets: readonly string[]])[] = [
  ['bearer', { secret: ascii('bearer') }, [ascii('bearer')]],
  ['header', { field: 'x-key', secret: ascii('header') }, [ascii('header')]],
  ['query', { field: 'key', secret: secretOf('query') }, [secretOf('query')]],
  ['basic', { secret: { username: 'me', password: secretOf('basic') } }, [secretOf('basic')]],
  [
    'sigv4',
    { secret: { access_key_id: 'AKID', secret_access_key: ascii('sigv4'), region: 'r', service: 's' } },
    [ascii('sigv4')],
  ],
];
export const forms = formsOf(kinds.flatMap(([, , secrets]) => [...secrets])).map((form) => form.toString());

/** Small numbers that look random, the same at each run. */
function* numbers(): Generator<number> {
  for (let seed = 7; ; seed = (seed * 48_271) % 2_147_483_647) yield seed;
}

/** What the target says: every form of the secrets, in pieces of one to nine bytes, now and then compressed. */
export function echoInPieces(secrets: readonly string[]): Target['respond'] {
  const random = numbers();
  return (_, response) => {
    const text = formsOf(secrets)
      .map((form) => form.toString())
      .join(' | ');
    const isPacked = (random.next().value ?? 0) % 3 === 0;
    const bytes = isPacked ? gzipSync(text) : Buffer.from(text);
    response.writeHead(500, {
      ...(isPacked && { 'content-encoding': 'gzip' }),
      'x-said': encodeURIComponent(secrets[0] ?? ''),
    });
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + ((random.next().value ?? 0) % 9);
      response.write(bytes.subarray(at, at + length));
      at += length;
    }
    response.end();
  };
}

/** Those of all secrets that the text holds. */
export function formsIn(text: string): string[] {
  return forms.filter((form) => text.includes(form));
}

/** Every row of every table, and what its bytes unfold to. */
export async function textOfDatabase(db: Database): Promise<string> {
  const catalogue = `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
                      WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`;
  const { rows } = await db.query<{ name: string }>({ name: '', text: catalogue }, []);
  expect(rows.length).toBeGreaterThan(50);
  const texts: string[] = [];
  for (const { name } of rows) {
    const table = await db.query<{ row: string }>({ name: '', text: `SELECT t::text AS row FROM ${name} t` }, []);
    for (const { row } of table.rows)
      texts.push(row, ...row.matchAll(/\\x([0-9a-f]+)/g).flatMap(([, hex = '']) => unfolded(Buffer.from(hex, 'hex'))));
  }
  return texts.join('\n');
}

/** The bytes as they are, and unfolded from each place where something compressed may begin. */
function unfolded(bytes: Buffer): string[] {
  const texts = [bytes.toString('latin1')];
  for (const [start, unfold] of UNFOLD) {
    for (let at = bytes.indexOf(start); at !== -1; at = bytes.indexOf(start, at + 1)) {
      try {
        texts.push(unfold(bytes.subarray(at)).toString());
      } catch {
        // Bytes that only look so.
      }
    }
  }
  return texts;
}

const UNFOLD: readonly (readonly [start: Buffer, unfold: (bytes: Buffer) => Buffer])[] = [
  [Buffer.from('28b52ffd', 'hex'), zstdDecompressSync],
  [Buffer.from('1f8b08', 'hex'), gunzipSync],
  [Buffer.from('78', 'hex'), inflateSync],
];
