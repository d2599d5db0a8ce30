// How the first pass multiplies is chosen by what the processor has: here by one that lacks VNNI.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const urlOf = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** Prints what was chosen, and the bounds of some rows by int16 values and by digits. */
const program = `
  import { ArenaPool } from ${urlOf('../memory/arena.ts')};
  import { prepareQuery } from ${urlOf('../exact/quantize.ts')};
  import { Vectors } from ${urlOf('../collection/vectors.ts')};
  import { CANDIDATES_AT, QUERY_INT16_AT } from ${urlOf('./kernel.ts')};
  const [ROWS, DIMENSION] = [50, 300];
  const vectorOf = (seed) => Float32Array.from({ length: DIMENSION }, (_, i) => Math.sin(seed * 1000 + i * i));
  const vectors = new Vectors(new ArenaPool(2 ** 26), DIMENSION, true);
  for (let row = 0; row < ROWS; row += 1) vectors.write(vectors.add(ROWS - row), new Uint8Array(vectorOf(row).buffer));
  const { arena, small, capacity } = vectors.chunkOf(0);
  const { int16, scale, norm, slack } = prepareQuery(vectorOf(ROWS), true);
  arena.int16.set(int16, QUERY_INT16_AT / 2);
  const boundsBy = (digits) => {
    arena.kernel.digits.value = digits;
    const found = arena.kernel.scan(
      small, vectors.smallStride, 0, 0, ROWS, QUERY_INT16_AT, scale, norm, slack, 0, -Number.MAX_VALUE, CANDIDATES_AT,
    );
    const at = CANDIDATES_AT / 8;
    return Array.from({ length: found }, (_, i) => [...arena.float64.subarray(at + 3 * i + 1, at + 3 * i + 3)]);
  };
  console.log(JSON.stringify({ capacity, chosen: arena.kernel.digits.value, byInt16: boundsBy(0), byDigits: boundsBy(1) }));
`;

test.runIf(process.arch === 'x64')(
  'without VNNI it is by int16 values, and by digits it would come to the same',
  () => {
    const args = ['--no-enable-avx-vnni', '--input-type=module', '-e', program];
    const { capacity, chosen, byInt16, byDigits } = JSON.parse(
      execFileSync(process.execPath, args, { encoding: 'utf8' }),
    );
    expect(capacity).toBeGreaterThanOrEqual(50);
    expect(chosen).toBe(0);
    expect(byInt16).toHaveLength(50);
    expect(byDigits).toEqual(byInt16);
  },
);
