// Modules written as WebAssembly text, assembled: of each src/**/name.wat the bytes, in name-binary.ts beside it, which is what runs.

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import wabt from 'wabt';
import { generateMode, putGeneratedFile } from './generated-file.ts';

const ROOT = join(import.meta.dirname, '..');
const LINE_CHARACTERS = 116;

/** Paths of the texts from the root of the project. */
export const wasmTexts = (): string[] => globSync('src/**/*.wat', { cwd: ROOT }).sort();

/** The binary module of a WebAssembly text. Throws what is wrong with it. */
export async function assemble(path: string): Promise<Uint8Array> {
  const features = { simd: true, relaxed_simd: true, threads: true };
  const module = (await wabt()).parseWat(path, readFileSync(join(ROOT, path), 'utf8'), features);
  try {
    module.resolveNames();
    (module.validate as (features: object) => void)(features);
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

async function generate(path: string): Promise<void> {
  const name = basename(path, '.wat');
  const base64 = Buffer.from(await assemble(path)).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? [];
  const source = [
    `// Generated from ${name}.wat by scripts/gen-wasm.ts (npm run gen).`,
    '',
    `/** ${name}.wat as a WebAssembly module, base64. */`,
    `export const ${name}Binary = [`,
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ];
  putGeneratedFile(path.replace(/\.wat$/, '-binary.ts'), source.join('\n'), generateMode(process.argv));
}

if (import.meta.main) for (const path of wasmTexts()) await generate(path);
