// A function is named for what it does (`readMail`, `refuseUnknown`) or for what it gives (`requestId`, `messageText`), never by a bare
// participle (`told`, `listed`), which says neither. Data may be named so: `found`, `sent`.

import ts from 'typescript';
import { findingsByFile } from './remembered.ts';

/** `path#name`: why a function may keep such a name. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

/** Participles and past tenses that do not end in -ed. */
const IRREGULAR = new Set(
  `begun bent born borne bought bound broke broken brought built came caught chosen cut dealt did done drawn drew driven dug eaten fallen fed
  felt fled flown forgiven forgot forgotten fought found frozen gave given gone got grew grown heard held hidden hung kept knew known laid led
  left lent lit lost made meant met misspelt mistaken overwritten paid put ran read rebuilt redone rewritten ridden risen rung said sat saw
  seen sent sewn shaken shot shown shrunk slept slid sold sought spelt spent spoke spoken sprung stolen stood struck stuck sung sunk swept
  sworn taken taught thought threw thrown told took torn unbound undone understood unread unseen unsent unwritten went woke woken won worn
  wound written wrote`.split(/\s+/),
);
/** These are also the act itself. As a method they say it of their object (`reader.read()`); alone they say nothing. */
const ALSO_ACTS = new Set(['read', 'put']);
/** Verbs and nouns that only end like a participle. */
const NOT_PARTICIPLES = new Set([
  'embed',
  'exceed',
  'feed',
  'need',
  'proceed',
  'seed',
  'shed',
  'speed',
  'spread',
  'succeed',
]);

export interface NamedFunction {
  readonly name: string;
  readonly line: number;
}

/** The functions of a source whose whole name is a participle. */
export function findParticiples(path: string, source: string): NamedFunction[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found: NamedFunction[] = [];
  const visit = (node: ts.Node): void => {
    const name = functionName(node);
    const text = name?.getText(file).replace('#', '') ?? '';
    if (name && isParticiple(text) && !(ALSO_ACTS.has(text) && ts.isClassElement(node)))
      found.push({ name: text, line: file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isParticiple(name: string): boolean {
  return IRREGULAR.has(name) || (/^[a-z]{2,}ed$/.test(name) && !NOT_PARTICIPLES.has(name));
}

/** The name of a function declaration, of a method, and of a constant or member of a class whose value is a function. */
function functionName(node: ts.Node): ts.Node | undefined {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return node.name;
  const mayHold = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
  const value = mayHold ? node.initializer : undefined;
  if (!mayHold || !value) return undefined;
  return ts.isArrowFunction(value) || ts.isFunctionExpression(value) ? node.name : undefined;
}

if (import.meta.main) {
  const found = findingsByFile<NamedFunction[]>(
    'names',
    { of: /^(?:src|test\/support|scripts)\/(?!.*\.test\.ts$).*\.ts$/, madeBy: /^scripts\/check-names[.]ts$/ },
    (changed) => new Map([...changed].map(([path, source]) => [path, findParticiples(path, source)])),
  );
  const unused = new Set(Object.keys(EXCEPTIONS));
  const problems = [...found].flatMap(([path, functions]) =>
    functions
      .filter(({ name }) => !unused.delete(`${path}#${name}`) && !(`${path}#${name}` in EXCEPTIONS))
      .map(({ name, line }) => `${path}:${line} ${name}() is a bare participle: name the act, or what it gives`),
  );
  for (const what of unused) problems.push(`${what} stands in the list of exceptions and needs none`);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
