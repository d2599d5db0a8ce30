// Generates the committed documents that are derived from the manifest. `--check` fails when one on disk differs.
import { modules } from '../src/modules/index.ts';
import type { ProblemCatalogue } from '../src/problems/catalogue.ts';
import { composeManifest } from '../src/surfaces/documents/discovery.ts';
import { renderOpenapi } from '../src/surfaces/documents/openapi/openapi.ts';
import { generateMode, putGeneratedFile } from './generated-file.ts';

const baseUrl = 'http://127.0.0.1:8787';

/** Path below the project root to content. */
export function generateDocs(): Map<string, string> {
  const manifest = composeManifest(modules);
  const document = renderOpenapi(manifest, { baseUrl });
  return new Map([
    ['docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['docs/error-codes.md', errorTable(manifest.problems)],
  ]);
}

function errorTable(problems: ProblemCatalogue): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = Object.entries(problems).map(([code, { status, title, retryable, advice }]) => {
    return `| \`${code}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${cell(title)} | ${cell(advice)} |`;
  });
  return [
    '<!-- Generated from src/problems/catalogue.ts and the problems.ts of the modules. -->',
    '# Error codes',
    '',
    'A failed call answers `{ "ok": false, "error": { … }, "metadata": { … } }`. Branch on `error.code`; codes are never renamed.',
    'A running service explains each of them at `/docs/errors/CODE`, which is also `error.docs_url`.',
    '',
    '| Code | Status | Retry may succeed | Meaning | What to do |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (import.meta.main) {
  for (const [path, content] of generateDocs()) putGeneratedFile(path, content, generateMode(process.argv));
}
