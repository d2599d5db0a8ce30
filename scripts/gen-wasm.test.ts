import { join } from 'node:path';
import { expect, it } from 'vitest';
import { assemble, wasmTexts } from './gen-wasm.ts';

it.each(wasmTexts())('the committed binary of %s is, byte for byte, what it assembles to', async (path) => {
  const built = Buffer.from(await assemble(path)).toString('base64');
  const committed = (await import(join(import.meta.dirname, '..', path.replace(/\.wat$/, '-binary.ts')))) as object;
  expect(Object.values(committed)).toEqual([built]);
});
