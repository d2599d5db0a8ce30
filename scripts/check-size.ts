// Four of five folders of the service hold at most 15 files. Files over 400 lines and functions over 80 are told, and refused for nothing:
// a file holds one thought, whatever its length. `node scripts/check-size.ts` shows them.

import { dirname } from 'node:path';
import ts from 'typescript';
import { findingsByFile } from './remembered.ts';

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 80;
const FOLDER_FILES_MAX = 15;
const ROOMY_FOLDERS_MIN = 0.8;

export interface Oversize {
  readonly what: string;
  readonly line: number;
  readonly lines: number;
  readonly linesMax: number;
}

interface Measured {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

interface Sizes {
  readonly lines: number;
  readonly functions: readonly Measured[];
}

/** What in one source is too long. */
export function findOversize(path: string, { lines, functions }: Sizes): Oversize[] {
  const long = functions.filter((each) => each.lines > FUNCTION_LINES_MAX);
  return [
    ...(lines > FILE_LINES_MAX ? [{ what: path, line: 1, lines, linesMax: FILE_LINES_MAX }] : []),
    ...long.map(({ name, ...rest }) => ({ what: `${path}#${name}`, ...rest, linesMax: FUNCTION_LINES_MAX })),
  ];
}

/** A source and its functions. A callback of `describe` is a list of tests, not a function. */
export function measure(path: string, source: string): Sizes {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const functions: Measured[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body && !isDescribe(node)) {
      const line = lineOf(node.getStart(file));
      functions.push({ name: nameOf(node, file), line, lines: lineOf(node.getEnd()) - line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { lines: lineOf(source.trimEnd().length), functions };
}

/** The folders that are too full, where more than one of five is; else nothing. */
export function findCrowds(paths: readonly string[]): string[] {
  const folders = [...Map.groupBy(paths, dirname)].map(([folder, files]) => [folder, files.length] as const);
  const full = folders.filter(([, files]) => files > FOLDER_FILES_MAX);
  if (folders.length - full.length >= ROOMY_FOLDERS_MIN * folders.length) return [];
  const named = full.map(([folder, files]) => `${folder} (${files})`).join(', ');
  return [`four of five folders may hold ${FOLDER_FILES_MAX} files; more are in ${named}`];
}

function isDescribe(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe/.test(node.parent.expression.getText());
}

function nameOf(node: ts.SignatureDeclaration, file: ts.SourceFile): string {
  const { parent } = node;
  if (node.name) return node.name.getText(file);
  const named = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return named ? parent.name.getText(file) : 'anonymous';
}

if (import.meta.main) {
  const sizes = findingsByFile<Sizes>(
    'size',
    { of: /^(?:src|test|bench|scripts|examples)\/.*[.]ts$/, madeBy: /^scripts\/check-size[.]ts$/ },
    (changed) => new Map([...changed].map(([path, source]) => [path, measure(path, source)])),
  );
  for (const [path, each] of sizes) {
    for (const { what, line, lines, linesMax } of findOversize(path, each))
      console.log(`note: ${what} (line ${line}) has ${lines} lines, over ${linesMax}`);
  }
  const service = [...sizes.keys()].filter((path) => path.startsWith('src/') && !path.endsWith('.test.ts'));
  const problems = findCrowds(service);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
