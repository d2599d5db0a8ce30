// Parser of PromQL into a query tree, with Prometheus' own grammar. Invalid PromQL is VALIDATION_FAILED with its position; PromQL that is not
// supported is UNSUPPORTED_QUERY with its name. No answer is a guess.
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import { DEPTH_MAX, NODES_MAX, requireParsable, tooLong, unknownFunction } from './before-parsing.ts';
import { Expressions, NeedsThread } from './expressions.ts';
import { aggregations, functions } from './functions.ts';
import { NAME } from './labels.ts';
import { durationMs, numberOf, stringOf } from './literals.ts';
import { replacingExpression } from './mapping.ts';
import { matcherOf } from './matchers.ts';
import { type Offset, type Prepared, prepareText } from './offsets.ts';
import {
  type ArithmeticOp,
  comparisons,
  type Matcher,
  type Matching,
  type Node,
  type NodeType,
  type Query,
  type Selector,
  setOps,
} from './query.ts';
import { requireMatching, requireSame, typeOf } from './types.ts';

/** `expressions`: compiles those of the query; what it throws is thrown. */
export function parseQuery(text: string, expressions = new Expressions()): Query {
  requireParsable(text);
  return new Reading(prepareText(text), expressions).query();
}

class Reading {
  readonly #text: string;
  /** Those that no selector has taken yet. */
  readonly #offsets: Map<number, Offset>;
  readonly #twice: Offset | null;
  readonly #expressions: Expressions;
  readonly #selectors: Query['selectors'][number][] = [];
  #nodes = 0;
  #depth = 0;

  constructor({ text, offsets, twice }: Prepared, expressions: Expressions) {
    this.#text = text;
    this.#offsets = new Map(offsets);
    this.#twice = twice;
    this.#expressions = expressions;
  }

  query(): Query {
    const tree = parser.parse(this.#text);
    tree.iterate({
      enter: ({ type, from }) => {
        if (type.isError) throw unknownFunction(this.#text) ?? this.#wrong(from, 'is no PromQL');
      },
    });
    const top = tree.topNode.firstChild;
    if (top === null) throw this.#wrong(0, 'is no PromQL');
    const root = this.#node(top);
    if (this.#twice !== null) throw this.#wrong(this.#twice.at, 'has a second offset');
    const [left] = this.#offsets.values();
    if (left !== undefined) throw this.#wrong(left.at, 'has an offset behind what is no selector');
    const hasExpressions = this.#expressions.compiled > 0;
    return { root, type: typeOf(root), selectors: this.#selectors, hasExpressions };
  }

  #node(node: SyntaxNode): Node {
    this.#nodes += 1;
    this.#depth += 1;
    if (this.#nodes > NODES_MAX || this.#depth > DEPTH_MAX) {
      throw tooLong();
    }
    const read = this.#read(node);
    this.#depth -= 1;
    return read;
  }

  #read(node: SyntaxNode): Node {
    switch (node.name) {
      case 'ParenExpr':
        return this.#node(childrenOf(node)[0] as SyntaxNode);
      case 'NumberDurationLiteral':
        return { kind: 'number', value: this.#number(node) };
      case 'StringLiteral':
        return { kind: 'string', value: this.#string(node) };
      case 'UnaryExpr':
        return this.#unary(node);
      case 'VectorSelector':
      case 'MatrixSelector':
        return this.#selector(node);
      case 'OffsetExpr':
        throw this.#unsupportedQuery(node, 'this form of offset');
      case 'FunctionCall':
        return this.#call(node);
      case 'AggregateExpr':
        return this.#aggregation(node);
      case 'BinaryExpr':
        return this.#binary(node);
      default:
        throw this.#unsupportedQuery(node, unsupportedNames[node.name] ?? node.name);
    }
  }

  #unary(node: SyntaxNode): Node {
    const [op, operand] = childrenOf(node) as [SyntaxNode, SyntaxNode];
    const of = this.#node(operand);
    const type = typeOf(of);
    if (type !== 'scalar' && type !== 'vector')
      throw this.#wrong(node.from, `takes no ${typeNames[type]} behind a sign`);
    if (this.#of(op) === '+') return of;
    return of.kind === 'number' ? { kind: 'number', value: -of.value } : { kind: 'negated', of };
  }

  #selector(node: SyntaxNode): Node {
    const offsetMs = this.#offsets.get(node.to)?.ms ?? 0;
    this.#offsets.delete(node.to);
    if (node.name === 'VectorSelector') return this.#readSelector(node, offsetMs, null);
    const [of, duration] = childrenOf(node) as [SyntaxNode, SyntaxNode];
    if (of.name !== 'VectorSelector') throw this.#wrong(node.from, 'has a range behind what is no selector');
    const rangeMs = durationMs(this.#of(duration));
    if (rangeMs === null) throw this.#unsupportedQuery(duration, `the range ${this.#of(duration)}`);
    if (rangeMs === 0) throw this.#wrong(duration.from, 'has an empty range');
    return this.#readSelector(of, offsetMs, rangeMs);
  }

  #readSelector(node: SyntaxNode, offsetMs: number, rangeMs: number | null): Selector {
    const matchers: Matcher[] = [];
    for (const child of childrenOf(node)) {
      if (child.name === 'Identifier') matchers.push(matcherOf(NAME, '=', this.#of(child)));
      else for (const each of childrenOf(child)) matchers.push(this.#matcher(each));
    }
    const names = matchers.filter(({ label }) => label === NAME);
    if (node.firstChild?.name === 'Identifier' && names.length > 1)
      throw this.#wrong(node.from, 'names the metric twice');
    if (!matchers.some(({ matches }) => !matches(''))) {
      throw this.#wrong(
        node.from,
        'has a selector that chooses every series: one matcher must not match the empty text',
      );
    }
    const selector: Selector = { kind: 'selector', place: this.#selectors.length, offsetMs, rangeMs };
    this.#selectors.push({ ...selector, matchers });
    return selector;
  }

  #matcher(node: SyntaxNode): Matcher {
    const [label, op, value] = childrenOf(node);
    if (node.name !== 'UnquotedLabelMatcher' || label === undefined || op === undefined || value === undefined) {
      throw this.#unsupportedQuery(node, `the quoted name ${this.#of(node)}`);
    }
    try {
      return matcherOf(this.#of(label), this.#of(op) as Matcher['op'], this.#string(value), this.#expressions);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof NeedsThread || error instanceof Problem) throw error;
      throw this.#wrong(value.from, `has an expression that cannot be used (${error.message})`);
    }
  }

  #call(node: SyntaxNode): Node {
    const [identifier, body] = childrenOf(node) as [SyntaxNode, SyntaxNode];
    const name = this.#of(identifier);
    const taken = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (taken === undefined) throw this.#unsupportedQuery(node, `the function ${name}`);
    const sent = childrenOf(body);
    const { takes, optional = 0 } = taken;
    if (sent.length > takes.length || sent.length < takes.length - optional) {
      throw this.#wrong(node.from, `gives ${name} ${sent.length} arguments; it takes ${takes.length}`);
    }
    const args = sent.map((each, i) => this.#nodeOfType(each, takes[i] as NodeType, name));
    if (name === 'label_replace') {
      const [target, , , expression] = args.slice(1).map((arg) => (arg.kind === 'string' ? arg.value : ''));
      replacingExpression(this.#expressions, target as string, expression as string);
    }
    return { kind: 'call', name, args };
  }

  #nodeOfType(node: SyntaxNode, wanted: NodeType, by: string): Node {
    const read = this.#node(node);
    const type = typeOf(read);
    if (type !== wanted) throw this.#wrong(node.from, `gives ${by} ${typeNames[type]}; it takes ${typeNames[wanted]}`);
    return read;
  }

  #aggregation(node: SyntaxNode): Node {
    const children = childrenOf(node);
    const op = this.#of(children[0] as SyntaxNode).toLowerCase();
    const hasParam = Object.hasOwn(aggregations, op) ? aggregations[op] : undefined;
    if (hasParam === undefined) throw this.#unsupportedQuery(node, `the aggregation ${op}`);
    const modifier = children.find(({ name }) => name === 'AggregateModifier');
    const body = children.find(({ name }) => name === 'FunctionCallBody');
    const sent = body === undefined ? [] : childrenOf(body);
    if (sent.length !== (hasParam ? 2 : 1)) {
      throw this.#wrong(node.from, `gives ${op} ${sent.length} arguments; it takes ${hasParam ? 2 : 1}`);
    }
    const param = hasParam ? this.#nodeOfType(sent[0] as SyntaxNode, 'scalar', op) : null;
    const of = this.#nodeOfType(sent.at(-1) as SyntaxNode, 'vector', op);
    const isBy = modifier === undefined || modifier.firstChild?.name === 'By';
    return { kind: 'aggregation', op, param, of, isBy, labels: modifier === undefined ? [] : this.#labels(modifier) };
  }

  /** Names in the first list of labels behind a keyword. */
  #labels(node: SyntaxNode): string[] {
    const list = childrenOf(node).find(({ name }) => name === 'GroupingLabels');
    return list === undefined ? [] : this.#names(list);
  }

  #names(list: SyntaxNode): string[] {
    return childrenOf(list).map((label) => {
      if (label.name !== 'LabelName') throw this.#unsupportedQuery(label, `the quoted name ${this.#of(label)}`);
      return this.#of(label);
    });
  }

  #binary(node: SyntaxNode): Node {
    const children = childrenOf(node);
    const [left, right] = [this.#node(children[0] as SyntaxNode), this.#node(children.at(-1) as SyntaxNode)];
    const op = this.#of(children[1] as SyntaxNode).toLowerCase();
    if (!(comparisons.has(op) || setOps.has(op) || arithmetic.has(op)))
      throw this.#unsupportedQuery(node, `the operator ${op}`);
    const fill = children.find(({ name }) => name === 'FillModifier');
    if (fill !== undefined) throw this.#unsupportedQuery(fill, `the modifier ${/^\w*/.exec(this.#of(fill))?.[0]}`);
    const isBool = children.some(({ name }) => name === 'BoolModifier');
    const clause = children.find(({ name }) => name === 'MatchingModifierClause') ?? null;
    const matching = clause === null ? anyMatching : this.#matching(clause);
    const wrong = (text: string) => this.#wrong((children[1] as SyntaxNode).from, text);
    requireSame(op, left, right, isBool, wrong);
    if (clause !== null) requireMatching(op, left, right, matching, wrong);
    // The grammar takes the sign of a number for a part of it. A power binds closer: -1 ^ 2 is -(1 ^ 2).
    const isNegated = op === '^' && left.kind === 'number' && this.#of(children[0] as SyntaxNode).startsWith('-');
    if (isNegated) {
      const of: Node = {
        kind: 'binary',
        op: '^',
        left: { kind: 'number', value: -left.value },
        right,
        isBool,
        matching,
      };
      return { kind: 'negated', of };
    }
    return { kind: 'binary', op: op as ArithmeticOp, left, right, isBool, matching };
  }

  #matching(clause: SyntaxNode): Matching {
    const children = childrenOf(clause);
    const groupAt = children.findIndex(({ name }) => name === 'GroupLeft' || name === 'GroupRight');
    const lists = (from: number, to: number) =>
      children.slice(from, to).filter(({ name }) => name === 'GroupingLabels');
    const [own] = lists(0, groupAt === -1 ? children.length : groupAt);
    const [included] = groupAt === -1 ? [] : lists(groupAt, children.length);
    const group = groupAt === -1 ? null : children[groupAt]?.name === 'GroupLeft' ? 'left' : 'right';
    return {
      isOn: children[0]?.name === 'On',
      labels: own === undefined ? [] : this.#names(own),
      group,
      included: included === undefined ? [] : this.#names(included),
    };
  }

  #number(node: SyntaxNode): number {
    const value = numberOf(this.#of(node));
    if (value === null) throw this.#unsupportedQuery(node, `the number ${this.#of(node)}`);
    return value;
  }

  #string(node: SyntaxNode): string {
    const value = stringOf(this.#of(node));
    if (value === null) throw this.#wrong(node.from, 'has a text with an escape that is none');
    return value;
  }

  #of({ from, to }: SyntaxNode): string {
    return this.#text.slice(from, to);
  }

  #wrong(at: number, what: string) {
    return invalidField('query', 'pattern', `At character ${at + 1} the query ${what}.`);
  }

  #unsupportedQuery({ from }: SyntaxNode, what: string) {
    return problem('UNSUPPORTED_QUERY', {
      param: 'query',
      message: `At character ${from + 1}: ${what.slice(0, 100)} is not supported.`,
    });
  }
}

const arithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^']);
const anyMatching: Matching = { isOn: false, labels: [], group: null, included: [] };
const typeNames: Readonly<Record<NodeType, string>> = {
  scalar: 'a number',
  string: 'a text',
  vector: 'an instant vector',
  range: 'a range vector',
};
const unsupportedNames: Readonly<Record<string, string>> = {
  SubqueryExpr: 'a subquery',
  StepInvariantExpr: 'the modifier @',
  AnchoredExpr: 'the modifier anchored',
  SmoothedExpr: 'the modifier smoothed',
};

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
