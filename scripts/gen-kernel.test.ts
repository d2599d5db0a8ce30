import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kernelBinary } from '../src/modules/vector/engine/embedded/kernel/kernel-binary.ts';
import { assemble } from './gen-kernel.ts';

it('the committed kernel is, byte for byte, what its source assembles to', async () => {
  const source = join(import.meta.dirname, '../src/modules/vector/engine/embedded/kernel/kernel.wat');
  const built = await assemble(readFileSync(source, 'utf8'));
  expect(Buffer.from(built).equals(Buffer.from(kernelBinary, 'base64'))).toBe(true);
});
