// Documents are read only while there are few: their prose stays below a bound. What is said twice goes before the bound is raised.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './remembered.ts';

const WORDS_MAX = 60_000;

const DOCUMENTS = ['*.md', 'docs/**/*.md', 'src/**/*.md', 'clients/*/*.md', 'examples/*.md'];
/** Given, generated, and what nobody needs to read. */
const APART = ['docs/spec.md', 'docs/error-codes.md', 'docs/archive/**', '**/node_modules/**'];

/** Words of prose, tables included: code blocks and marks are none. */
export function proseWords(text: string): number {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return prose.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

if (import.meta.main) {
  const counted = globSync(DOCUMENTS, { cwd: ROOT, exclude: APART }).map(
    (path) => [path, proseWords(readFileSync(join(ROOT, path), 'utf8'))] as const,
  );
  const sum = counted.reduce((words, [, each]) => words + each, 0);
  if (sum > WORDS_MAX) {
    const longest = counted.toSorted(([, one], [, other]) => other - one).slice(0, 10);
    console.error(`The documents have ${sum} words of prose, ${WORDS_MAX} at most. The longest:`);
    for (const [path, words] of longest) console.error(`${String(words).padStart(6)} ${path}`);
    process.exitCode = 1;
  } else console.log(`${sum} words of prose, ${WORDS_MAX} at most`);
}
