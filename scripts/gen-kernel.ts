// The vector kernel, assembled: engine/embedded/kernel/kernel-binary.ts from kernel.wat beside it. The module runs the committed bytes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import wabt from 'wabt';
import { generateMode, putGeneratedFile } from './generated-file.ts';

const ROOT = join(import.meta.dirname, '..');
const DIRECTORY = 'src/modules/vector/engine/embedded/kernel';
const LINE_CHARACTERS = 116;

/** The binary module of a WebAssembly text. */
export async function assemble(text: string): Promise<Uint8Array> {
  const features = { simd: true, relaxed_simd: true, threads: true };
  const module = (await wabt()).parseWat('kernel.wat', text, features);
  try {
    module.resolveNames();
    (module.validate as (features: object) => void)(features);
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

if (import.meta.main) {
  const binary = await assemble(readFileSync(join(ROOT, DIRECTORY, 'kernel.wat'), 'utf8'));
  const base64 = Buffer.from(binary).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? [];
  const source = [
    '// Generated from kernel.wat by scripts/gen-kernel.ts (npm run gen).',
    '',
    '/** The kernel as a WebAssembly module, base64. */',
    'export const kernelBinary = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ];
  putGeneratedFile(`${DIRECTORY}/kernel-binary.ts`, source.join('\n'), generateMode(process.argv));
}
