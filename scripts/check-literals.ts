// An object literal says its members itself: a literal that is spread into another (`...{ a, b }`) packs them into one line, where the formatter
// would give each its own.
import ts from 'typescript';
import { findingsByFile } from './remembered.ts';

/** The lines in which a literal is spread into a literal. */
export function findSpreads(path: string, source: string): number[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lines: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression))
      lines.push(file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lines;
}

if (import.meta.main) {
  const found = findingsByFile<number[]>(
    'literals',
    { of: /^(?:src|test|bench|scripts|examples)\/.*[.]ts$/, madeBy: /^scripts\/check-literals[.]ts$/ },
    (changed) => new Map([...changed].map(([path, source]) => [path, findSpreads(path, source)])),
  );
  const problems = [...found].flatMap(([path, lines]) =>
    lines.map((line) => `${path}:${line} spreads a literal into a literal: write its members`),
  );
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
