// Generates the clients (clients/) from the manifest: what runs is written by hand in scripts/clients/, the calls and their types are added.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { streamsOf } from '../src/manifest/streams.ts';
import { modules } from '../src/modules/index.ts';
import { composeManifest } from '../src/surfaces/documents/discovery.ts';
import { pythonCalls, pythonTypes } from './clients/python.ts';
import { shapesOf } from './clients/shapes.ts';
import { javascriptTable, typescriptTypes } from './clients/typescript.ts';
import { generateMode, putGeneratedFile } from './generated-file.ts';

const readPart = (name: string) => readFileSync(join(import.meta.dirname, 'clients', name), 'utf8');

/** Path below the project root to content. */
export function generateClients(): Map<string, string> {
  const { capabilities } = composeManifest(modules);
  const shapes = shapesOf(
    capabilities.filter(({ status }) => status !== 'planned'),
    streamsOf(modules),
  );
  const license = readFileSync(join(import.meta.dirname, '../LICENSE'), 'utf8');
  return new Map([
    ['clients/typescript/LICENSE', license],
    ['clients/python/LICENSE', license],
    ['clients/typescript/quartermaster.js', `${readPart('runtime.js')}\n${javascriptTable(shapes)}`],
    ['clients/typescript/quartermaster.d.ts', readPart('runtime.d.ts') + typescriptTypes(shapes)],
    ['clients/python/quartermaster/types.py', pythonTypes(shapes)],
    ['clients/python/quartermaster/__init__.py', `${readPart('runtime.py')}\n\n${pythonCalls(shapes)}`],
  ]);
}

if (import.meta.main) {
  for (const [path, content] of generateClients()) putGeneratedFile(path, content, generateMode(process.argv));
}
