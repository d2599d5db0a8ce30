// Type checks of a query: the type of each part, and the types that operators and functions may combine.
import type { Problem } from '../../../problems/problem.ts';
import { scalarFunctions } from './functions.ts';
import { comparisons, type Matching, type Node, type NodeType, setOps } from './query.ts';

export function typeOf(node: Node): NodeType {
  switch (node.kind) {
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'selector':
      return node.rangeMs === null ? 'vector' : 'range';
    case 'subquery':
      return 'range';
    case 'negated':
      return typeOf(node.of);
    case 'binary':
      return typeOf(node.left) === 'scalar' && typeOf(node.right) === 'scalar' ? 'scalar' : 'vector';
    case 'call':
      return scalarFunctions.has(node.name) ? 'scalar' : 'vector';
    case 'aggregation':
      return 'vector';
  }
}

type Wrong = (text: string) => Problem;

/** Throws what `wrong` makes of operands that do not fit the operator. */
export function requireSame(op: string, left: Node, right: Node, isBool: boolean, wrong: Wrong): void {
  const types = [typeOf(left), typeOf(right)];
  if (types.some((type) => type !== 'scalar' && type !== 'vector')) {
    throw wrong(`has ${op} between what are not numbers or instant vectors`);
  }
  if (setOps.has(op) && types.includes('scalar')) throw wrong(`has ${op} beside a number`);
  if (isBool && !comparisons.has(op)) throw wrong(`has bool behind ${op}, which compares nothing`);
  if (!isBool && comparisons.has(op) && !types.includes('vector')) throw wrong('compares numbers without bool');
}

export function requireMatching(op: string, left: Node, right: Node, matching: Matching, wrong: Wrong): void {
  if (typeOf(left) !== 'vector' || typeOf(right) !== 'vector')
    throw wrong('matches labels of what is no instant vector');
  if (matching.group === null) return;
  if (setOps.has(op)) throw wrong(`groups with ${op}`);
  const twice = matching.isOn ? matching.included.find((label) => matching.labels.includes(label)) : undefined;
  if (twice !== undefined) throw wrong(`has the label ${twice} in on and in the group`);
}
