// SQL texts in TypeScript sources: every string or template literal that starts like a statement and names a table.

import ts from 'typescript';
import { tablesIn } from './rules.ts';

export interface FoundStatement {
  readonly sql: string;
  readonly line: number;
  /** Built within a function; a statement is a constant of its module. */
  readonly inFunction: boolean;
  /** The first argument of `statement(name, text)`. */
  readonly name: string | undefined;
}

const STARTS_LIKE_SQL = /^\s*(?:(?:--[^\n]*\n|\/\*[\s\S]*?\*\/)\s*)*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s/;
/** Stands for a part that only run time knows, and counts as a parameter. */
const UNKNOWN_PART = '$0';

export function findStatements(fileName: string, source: string, tables: ReadonlySet<string>): FoundStatement[] {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const constants = new Map<string, ts.Expression>();
  const found: FoundStatement[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, node.initializer);
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const sql = textOf(node, constants);
      if (STARTS_LIKE_SQL.test(sql) && tablesIn(sql).some((table) => tables.has(table)))
        found.push(describe(file, node, sql));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function textOf(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>, depth = 0): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.templateSpans.reduce(
      (text, span) => text + textOf(span.expression, constants, depth + 1) + span.literal.text,
      node.head.text,
    );
  }
  const constant = ts.isIdentifier(node) && depth < 5 ? constants.get(node.text) : undefined;
  return constant === undefined ? UNKNOWN_PART : textOf(constant, constants, depth + 1);
}

function describe(file: ts.SourceFile, node: ts.Node, sql: string): FoundStatement {
  const call = node.parent;
  const isStatement = ts.isCallExpression(call) && call.expression.getText(file) === 'statement';
  const first = isStatement ? call.arguments[0] : undefined;
  return {
    sql,
    line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1,
    inFunction: ts.findAncestor(node, ts.isFunctionLike) !== undefined,
    name: first !== undefined && ts.isStringLiteralLike(first) ? first.text : undefined,
  };
}
