// SQL text as tokens, nested by parentheses: as much of the grammar as the SQL rules need.

export type Token = string;
export interface Group {
  readonly nodes: readonly Node[];
}
export type Node = Token | Group;

// Comments and white space; string; quoted name; parameter; dotted name; number; operator or punctuation.
const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^']|'')*'|"[^"]*"|\$+\d+|[A-Za-z_][\w$]*(?:\.(?:[A-Za-z_][\w$]*|\*))*|\d[\d.]*|::|<>|[<>!]=|\|\||[^\s])/g;

export function parseTokens(sql: string): Group {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const [, token] of sql.matchAll(TOKEN)) {
    if (token === undefined) continue;
    if (token === '(') {
      const nodes: Node[] = [];
      open.at(-1)?.push({ nodes });
      open.push(nodes);
    } else if (token === ')') {
      if (open.length > 1) open.pop();
    } else {
      open.at(-1)?.push(token);
    }
  }
  return { nodes: root };
}

export const isGroup = (node: Node | undefined): node is Group => typeof node === 'object';
export const isParameter = (node: Node | undefined): boolean => typeof node === 'string' && /^\$+\d+$/.test(node);
export const isWord = (node: Node | undefined, ...words: string[]): boolean =>
  typeof node === 'string' && words.includes(node.toUpperCase());
export const isName = (node: Node | undefined): node is string => typeof node === 'string' && /^[A-Za-z_"]/.test(node);

/** One SELECT, INSERT, UPDATE or DELETE with the tokens of its own level, and what stands before its parenthesis. */
export interface Block {
  readonly nodes: readonly Node[];
  readonly depth: number;
  /** The tokens just before the parenthesis it stands in: `['c', 'AS', 'MATERIALIZED']` for a CTE. */
  readonly before: readonly Node[];
  /** Whether it stands in `AS MATERIALIZED (…)`, however deep. */
  readonly materialized: boolean;
}

const STATEMENT_WORDS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH'];

/** All statements in `group`, the outer ones first. */
export function blocksOf(group: Group, depth = 0, before: readonly Node[] = [], outer = false): Block[] {
  const materialized = outer || (isWord(before.at(-1), 'MATERIALIZED') && isWord(before.at(-2), 'AS'));
  const own = isWord(group.nodes[0], ...STATEMENT_WORDS) ? [{ nodes: group.nodes, depth, before, materialized }] : [];
  const inner = group.nodes.flatMap((node, index) =>
    isGroup(node) ? blocksOf(node, depth + 1, group.nodes.slice(Math.max(0, index - 3), index), materialized) : [],
  );
  return [...own, ...inner];
}

/** Every token of `nodes`, those in parentheses too. */
export function flatten(nodes: readonly Node[]): Token[] {
  return nodes.flatMap((node) => (isGroup(node) ? ['(', ...flatten(node.nodes), ')'] : [node]));
}
