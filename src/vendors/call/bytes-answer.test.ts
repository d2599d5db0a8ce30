// Files in an answer of JSON, however it is cut into chunks.

import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { askForBytes } from './bytes-answer.ts';
import { type VendorCall, vendorTimeouts } from './port.ts';

const folder = mkdtempSync(join(tmpdir(), 'qm-answer-'));
let files = 0;

async function asked(text: string, chunkBytes: number, filesMax = 3) {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) =>
    bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  );
  const send = async () => ({ kind: 'answered', status: 200, headers: {}, body: Readable.from(chunks) }) as never;
  const call: VendorCall = {
    baseUrl: 'http://vendor',
    key: null,
    assetHosts: [],
    timeouts: vendorTimeouts,
    outbound: { send },
    signal: new AbortController().signal,
  };
  return askForBytes(call, {
    url: 'http://vendor/v1',
    credentials: {},
    body: {},
    field: 'b64_json',
    filesMax,
    async workPath() {
      files += 1;
      return join(folder, String(files));
    },
  });
}

const first = Buffer.from('the first file, of some bytes ÿ');
const second = Buffer.alloc(1_001, 7);
const answer = JSON.stringify({
  created: 1,
  data: [{ b64_json: first.toString('base64') }, { b64_json: second.toString('base64').replaceAll('/', '\\/') }],
  note: 'schön',
}).replaceAll('\\\\/', '\\/');

test.each([1, 7, 64, 1_000, 100_000])('cut into pieces of %i bytes', async (chunkBytes) => {
  const { reply, paths } = await asked(answer, chunkBytes);
  expect(reply).toMatchObject({ kind: 'answered', body: { created: 1, data: [{ b64_json: '' }, {}], note: 'schön' } });
  expect(await Promise.all(paths.map((path) => readFile(path)))).toEqual([first, second]);
});

test('what breaks off within a file, or brings more than was asked for, leaves none', async () => {
  for (const [text, filesMax] of [[answer.slice(0, 60), 3] as const, [answer, 1] as const]) {
    const { reply, paths } = await asked(text, 16, filesMax);
    expect([reply, paths]).toMatchObject([{ kind: 'answered', body: undefined }, []]);
  }
});

test('an answer without files is read as any other', async () => {
  const { reply, paths } = await asked('{"error":{"message":"no"}}', 5);
  expect([reply, paths]).toMatchObject([{ body: { error: { message: 'no' } } }, []]);
});
