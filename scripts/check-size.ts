// Files stay under 400 lines and functions under 80 (the median function of the service has at most 8), and four of
// five folders of the service hold at most 15 files. Exceptions stand in the one list below, with a reason.

import { dirname } from 'node:path';
import ts from 'typescript';
import { findingsByFile } from './remembered.ts';

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 80;
const MEDIAN_LINES_MAX = 8;
const FOLDER_FILES_MAX = 15;
const ROOMY_FOLDERS_MIN = 0.8;

/** `path` for a file, `path#function` for a function: why it may be longer. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

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

/** Whether functions are mostly short and folders mostly small; what is not, as sentences. */
export function findCrowds(lines: readonly number[], paths: readonly string[]): string[] {
  const sorted = [...lines].sort((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  const folders = [...Map.groupBy(paths, dirname)].map(([folder, files]) => [folder, files.length] as const);
  const full = folders.filter(([, files]) => files > FOLDER_FILES_MAX);
  const isCrowded = folders.length - full.length < ROOMY_FOLDERS_MIN * folders.length;
  const named = full.map(([folder, files]) => `${folder} (${files})`).join(', ');
  return [
    ...(median > MEDIAN_LINES_MAX
      ? [`the median function has ${median} lines, at most ${MEDIAN_LINES_MAX} are allowed`]
      : []),
    ...(isCrowded ? [`four of five folders may hold ${FOLDER_FILES_MAX} files; more are in ${named}`] : []),
  ];
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
  const oversize = [...sizes].flatMap(([path, each]) => findOversize(path, each));
  const service = [...sizes].filter(([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'));
  const lines = service.flatMap(([, { functions }]) => functions.map((each) => each.lines));
  const unused = new Set(Object.keys(EXCEPTIONS));
  const problems = oversize
    .filter(({ what }) => !unused.delete(what) && !(what in EXCEPTIONS))
    .map(
      ({ what, line, lines, linesMax }) => `${what} (line ${line}) has ${lines} lines, at most ${linesMax} are allowed`,
    );
  problems.push(
    ...findCrowds(
      lines,
      service.map(([path]) => path),
    ),
  );
  for (const what of unused) problems.push(`${what} stands in the list of exceptions and needs none`);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
