// The rules of docs/sql-rules.md that a statement's text can be held to. Each rule answers with what it found wrong.

import { isLockingRead, namesAccountFirst } from '../../src/db/shard-lock.ts';
import {
  type Block,
  blocksOf,
  flatten,
  type Group,
  isGroup,
  isName,
  isParameter,
  isWord,
  type Node,
  parseTokens,
} from './tokens.ts';

/** Tables whose rows belong to an account (account_id leads the primary key), as `schema.table`. */
export type AccountTables = ReadonlySet<string>;

export interface Violation {
  readonly rule: 2 | 3 | 4 | 6 | 9 | 20;
  readonly message: string;
}

const words = (text: string) => text.trim().split(/\s+/);
const FAN_OUT = /^\s*(?:\/\*\s*fan-out:\s*\S[^*]*\*\/)/;
const CLAUSES = words(`
  WHERE SET FROM JOIN LEFT RIGHT INNER FULL CROSS NATURAL ON USING GROUP ORDER LIMIT FOR RETURNING
  UNION SELECT VALUES DEFAULT HAVING WINDOW OFFSET TABLESAMPLE LATERAL
`);
/** Immutable, so they may stand over a column in UPDATE, ON CONFLICT DO UPDATE and RETURNING. */
const IMMUTABLE_FUNCTIONS = words(`
  COALESCE GREATEST LEAST NULLIF ANY ALL IN ARRAY_APPEND ARRAY_REMOVE ARRAY_CAT CARDINALITY LENGTH
  OCTET_LENGTH ABS MOD SUBSTR LEFT RIGHT LOWER UPPER AND OR NOT WHEN THEN ELSE CASE
`);
const VOLATILE_WORDS = words(`
  INTERVAL CURRENT_TIMESTAMP CURRENT_DATE LOCALTIMESTAMP
`);
const SYNTAX_WORDS = words(`
  CASE WHEN THEN ELSE END AND OR NOT NULL TRUE FALSE IS DISTINCT FROM IN INTERVAL
`);

/** @returns what is wrong with `sql`; nothing when no rule is broken. A leading `fan-out` comment lifts rules 2 and 3. */
export function checkStatement(sql: string, accountTables: AccountTables): Violation[] {
  const tree = parseTokens(sql);
  const blocks = blocksOf(tree);
  const routed = FAN_OUT.test(sql)
    ? []
    : blocks.flatMap((block) => [...findUnrouted(block, accountTables), ...findUnanchored(block, accountTables)]);
  return [
    ...routed,
    ...blocks.flatMap(misplacedInsert),
    ...blocks.flatMap(looseClaim),
    ...blocks.flatMap(unstableUpdate),
    ...blocks.flatMap((block) => unstableReturning(block, accountTables)),
    ...unheldShard(sql, accountTables),
  ];
}

/** The tables that `sql` names, as `schema.table`. */
export function tablesIn(sql: string): string[] {
  return flatten(parseTokens(sql).nodes).filter((token) => /^[a-z_]\w*\.[a-z_]\w*$/.test(token));
}

interface TableReference {
  readonly table: string;
  readonly alias: string;
  readonly isInsertTarget: boolean;
}

function references({ nodes }: Block, accountTables: AccountTables): TableReference[] {
  return nodes.flatMap((node, index) => {
    if (typeof node !== 'string' || !accountTables.has(node)) return [];
    const named = isWord(nodes[index + 1], 'AS') ? nodes[index + 2] : nodes[index + 1];
    const alias = isName(named) && !isWord(named, ...CLAUSES) ? named : node.slice(node.indexOf('.') + 1);
    return [{ table: node, alias, isInsertTarget: isWord(nodes[index - 1], 'INTO') }];
  });
}

/** Rule 2: `account_id = $n` or `= ANY($n)` on every alias, in the very block that names the table. */
function findUnrouted(block: Block, accountTables: AccountTables): Violation[] {
  const read = references(block, accountTables).filter(({ isInsertTarget }) => !isInsertTarget);
  return read
    .filter(({ alias, table }) => {
      const names = [`${alias}.account_id`, `${table}.account_id`, ...(read.length === 1 ? ['account_id'] : [])];
      return !block.nodes.some((node, index) => names.includes(String(node)) && isBound(block.nodes, index));
    })
    .map(({ alias, table }) => ({
      rule: 2,
      message: `${table}${table.endsWith(`.${alias}`) ? '' : ` ${alias}`} has no condition account_id = $n or = ANY($n) of its own`,
    }));
}

function isBound(nodes: readonly Node[], index: number): boolean {
  if (isWord(nodes[index - 1], '=') && isParameter(nodes[index - 2])) return true;
  if (!isWord(nodes[index + 1], '=')) return false;
  const value = nodes[index + 2];
  const list = nodes[index + 3];
  return isParameter(value) || (isWord(value, 'ANY') && isGroup(list) && isParameter(list.nodes[0]));
}

/** Rule 3: rows for an account table come from VALUES, or from a SELECT anchored at a row of an account table. */
function findUnanchored(block: Block, accountTables: AccountTables): Violation[] {
  const all = references(block, accountTables);
  const target = all.find(({ isInsertTarget }) => isInsertTarget);
  if (target === undefined || !block.nodes.some((node) => isWord(node, 'SELECT')) || all.length > 1) return [];
  return [
    {
      rule: 3,
      message: `INSERT … SELECT into ${target.table} is not anchored: FROM core.wallet w, … WHERE w.account_id = $1`,
    },
  ];
}

/** Rule 4: INSERT is a statement of its own, without WITH or UNION. */
function misplacedInsert({ nodes, depth }: Block): Violation[] {
  const insert = nodes.findIndex((node) => isWord(node, 'INSERT'));
  if (insert === -1) return [];
  if (depth > 0) return [{ rule: 4, message: 'INSERT stands in a CTE; send it as a statement of its own' }];
  if (nodes.some((node) => isWord(node, 'WITH'))) return [{ rule: 4, message: 'INSERT … SELECT has a WITH' }];
  if (nodes.some((node) => isWord(node, 'UNION'))) return [{ rule: 4, message: 'INSERT … SELECT has a UNION' }];
  return [];
}

/** Rule 6: claims stand in `AS MATERIALIZED (…)`; other forms ignored LIMIT. */
function looseClaim({ nodes, materialized }: Block): Violation[] {
  const claims = nodes.some((node, index) => isWord(node, 'SKIP') && isWord(nodes[index + 1], 'LOCKED'));
  if (!claims || materialized) return [];
  return [{ rule: 6, message: 'FOR UPDATE SKIP LOCKED outside of AS MATERIALIZED (…)' }];
}

/** Rule 9: what is written is a finished value. */
function unstableUpdate({ nodes }: Block): Violation[] {
  const onConflict = nodes.some((node) => isWord(node, 'CONFLICT'));
  return assignments(nodes)
    .filter((assignment) => (onConflict ? isVolatile(assignment) : isVolatile(assignment) && usesColumn(assignment)))
    .map((assignment) => ({
      rule: 9,
      message: `${onConflict ? 'ON CONFLICT DO UPDATE' : 'UPDATE'} computes with what is not immutable: ${flatten(assignment).join(' ')}`,
    }));
}

/** Rule 9: what a write of an account's rows answers is columns, or immutable over them. */
function unstableReturning(block: Block, accountTables: AccountTables): Violation[] {
  const start = block.nodes.findIndex((node) => isWord(node, 'RETURNING'));
  if (start === -1 || references(block, accountTables).length === 0) return [];
  return listOf(block.nodes.slice(start + 1))
    .filter(isVolatile)
    .map((answer) => ({
      rule: 9,
      message: `RETURNING computes with what is not immutable: ${flatten(answer).join(' ')}`,
    }));
}

/** Rule 20: by its first parameter a read that locks is told to be of an account, whose shard is then locked too. */
function unheldShard(sql: string, accountTables: AccountTables): Violation[] {
  if (!isLockingRead(sql) || namesAccountFirst(sql) || !tablesIn(sql).some((table) => accountTables.has(table)))
    return [];
  return [{ rule: 20, message: 'a read that locks rows of an account names it by $1: account_id = $1 or = ANY($1)' }];
}

/** The expressions of the SET list, without `column =`. */
function assignments(nodes: readonly Node[]): Node[][] {
  const set = nodes.findIndex(
    (node, index) => isWord(node, 'SET') && nodes.slice(0, index).some((earlier) => isWord(earlier, 'UPDATE')),
  );
  if (set === -1) return [];
  const rest = nodes.slice(set + 1);
  const end = rest.findIndex(
    (node, index) =>
      isWord(node, 'WHERE', 'RETURNING') || (isWord(node, 'FROM') && !isWord(rest[index - 1], 'DISTINCT')),
  );
  return listOf(end === -1 ? rest : rest.slice(0, end)).map((assignment) =>
    assignment.slice(assignment.indexOf('=') + 1),
  );
}

/** The members between commas. */
function listOf(nodes: readonly Node[]): Node[][] {
  const list: Node[][] = [[]];
  for (const node of nodes) {
    if (node === ',') list.push([]);
    else list.at(-1)?.push(node);
  }
  return list;
}

function isVolatile(nodes: readonly Node[]): boolean {
  return nodes.some((node, index) => {
    if (isGroup(node)) return !isSubquery(node) && (isVolatile(node.nodes) || callsVolatile(nodes[index - 1]));
    return isWord(node, ...VOLATILE_WORDS);
  });
}

const isSubquery = (group: Group) => isWord(group.nodes[0], 'SELECT', 'WITH');
const callsVolatile = (name: Node | undefined) =>
  isName(name) && !isWord(name, ...IMMUTABLE_FUNCTIONS, ...SYNTAX_WORDS);

function usesColumn(nodes: readonly Node[]): boolean {
  return nodes.some((node, index) => {
    if (isGroup(node)) return !isSubquery(node) && usesColumn(node.nodes);
    if (!isName(node) || isWord(node, ...SYNTAX_WORDS, ...IMMUTABLE_FUNCTIONS)) return false;
    return !isGroup(nodes[index + 1]) && nodes[index - 1] !== '::';
  });
}
