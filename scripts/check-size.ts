// Files stay under 300 lines and functions under 60 (aim for 120 and 25). Exceptions stand in the one list below, with a reason.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 60;

/** `path` for a file, `path#function` for a function: why it may be longer. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

export interface Oversize {
  readonly what: string;
  readonly line: number;
  readonly lines: number;
  readonly linesMax: number;
}

/** What in one source is too long. A callback of `describe` is a list of tests, not a function. */
export function findOversize(path: string, source: string): Oversize[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const total = lineOf(source.trimEnd().length);
  const found = total > FILE_LINES_MAX ? [{ what: path, line: 1, lines: total, linesMax: FILE_LINES_MAX }] : [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body && !isDescribe(node)) {
      const line = lineOf(node.getStart(file));
      const lines = lineOf(node.getEnd()) - line + 1;
      if (lines > FUNCTION_LINES_MAX)
        found.push({ what: `${path}#${nameOf(node, file)}`, line, lines, linesMax: FUNCTION_LINES_MAX });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isDescribe(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText());
}

function nameOf(node: ts.SignatureDeclaration, file: ts.SourceFile): string {
  const { parent } = node;
  if (node.name) return node.name.getText(file);
  const named = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return named ? parent.name.getText(file) : 'anonymous';
}

if (import.meta.main) {
  const paths = globSync('{src,test,bench,scripts,examples}/**/*.ts', { cwd: ROOT }).sort();
  const oversize = paths.flatMap((path) => findOversize(path, readFileSync(join(ROOT, path), 'utf8')));
  const unused = new Set(Object.keys(EXCEPTIONS));
  const problems = oversize
    .filter(({ what }) => !unused.delete(what) && !(what in EXCEPTIONS))
    .map(
      ({ what, line, lines, linesMax }) => `${what} (line ${line}) has ${lines} lines, at most ${linesMax} are allowed`,
    );
  for (const what of unused) problems.push(`${what} stands in the list of exceptions and needs none`);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
