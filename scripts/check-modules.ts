// What a module brings beside its code, as the checklist of docs/writing-modules.md has it: a README, a tenant fixture, pages of the console, tests, a
// guide, a line of the README, its contract and an entry of the changelog.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './remembered.ts';

/** What is missing for a reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'account: tests in test/account': 'they stand by subject: keys, wallet, people, payments, webhooks',
  'operator: a line in README.md': 'no key of an account may call it',
};

/** Texts of the project, and pages about all modules: none of them is the guide of one. */
const NO_GUIDES =
  /(?:spec|contract|architecture|mechanisms|performance|tried|sql-rules|blocks|prices|addresses|limits|money|deleting-data|writing-modules)[.]md$/;

/** What each module below `root` lacks: `flags: a guide in docs`. */
export function missingIn(root: string): string[] {
  const readSource = (path: string) => readFileSync(join(root, path), 'utf8');
  const guides = globSync('docs/*.md', { cwd: root }).filter((path) => !NO_GUIDES.test(path));
  const texts = guides.map(readSource).join('\n');
  const readme = readSource('README.md');
  const modules = globSync('src/modules/*/index.ts', { cwd: root }).map((path) => path.split(/[\\/]/)[2] as string);
  return modules.sort().flatMap((name) => {
    const call = new RegExp(`(?:/v1/${name}/|\\b${name}[.][a-z_]+)`);
    const wanted: Readonly<Record<string, boolean>> = {
      [`src/modules/${name}/tenants.fixture.ts`]: existsSync(join(root, `src/modules/${name}/tenants.fixture.ts`)),
      [`src/modules/${name}/console/index.ts`]: existsSync(join(root, `src/modules/${name}/console/index.ts`)),
      [`tests in test/${name}`]: globSync(`test/${name}/**/*.test.ts`, { cwd: root }).length > 0,
      'a guide in docs that shows a call': call.test(texts),
      'a line in README.md': readme.includes(`\`${name}/`),
      'a README with its contract': hasContract(join(root, `src/modules/${name}/README.md`)),
      'an entry in CHANGELOG.md': new RegExp(`\`${name}\\b|\\b${name}[./]`).test(readSource('CHANGELOG.md')),
    };
    return Object.entries(wanted).flatMap(([what, isThere]) => (isThere ? [] : [`${name}: ${what}`]));
  });
}

function hasContract(path: string): boolean {
  return existsSync(path) && /^## Contract$/m.test(readFileSync(path, 'utf8'));
}

if (import.meta.main) {
  const faults = missingIn(ROOT).filter((fault) => EXCEPTIONS[fault] === undefined);
  for (const fault of faults) console.error(`${fault} is missing (docs/writing-modules.md, "Adding a module")`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
