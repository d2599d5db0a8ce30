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
import { replacingExpression, requireLabelNames } from './mapping.ts';
import { matcherOf } from './matchers.ts';
import { type Modifiers, type Prepared, prepareText } from './modifiers.ts';
import {
  type ArithmeticOp,
  comparisons,
  type Matcher,
  type Matching,
  type Modified,
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
  /** Those that nothing has taken yet. */
  readonly #modifiers: Map<number, Modifiers>;
  readonly #twiceAt: number | null;
  readonly #renamed: Prepared['renamed'];
  readonly #expressions: Expressions;
  readonly #selectors: Query['selectors'][number][] = [];
  #nodes = 0;
  #depth = 0;

  constructor({ text, modifiers, twiceAt, renamed }: Prepared, expressions: Expressions) {
    this.#text = text;
    this.#modifiers = new Map(modifiers);
    this.#twiceAt = twiceAt;
    this.#renamed = renamed;
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
    if (this.#twiceAt !== null) throw this.#wrong(this.#twiceAt, 'has a second modifier of a kind');
    const [left] = this.#modifiers.values();
    if (left !== undefined)
      throw this.#wrong(left.keywordAt, 'has offset or @ behind what is neither a selector nor a subquery');
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
      case 'SubqueryExpr':
        return this.#subquery(node);
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
    const modified = this.#modifiersOf(node);
    if (node.name === 'VectorSelector') return this.#readSelector(node, modified, null);
    const [of, duration] = childrenOf(node) as [SyntaxNode, SyntaxNode];
    if (of.name !== 'VectorSelector') throw this.#wrong(node.from, 'has a range behind what is no selector');
    return this.#readSelector(of, modified, this.#duration(duration));
  }

  #subquery(node: SyntaxNode): Node {
    const modified = this.#modifiersOf(node);
    const [of, range, step] = childrenOf(node) as [SyntaxNode, SyntaxNode, SyntaxNode | undefined];
    // The grammar gives a subquery the whole expression before it.
    if (of.name === 'BinaryExpr' || of.name === 'UnaryExpr')
      throw this.#wrong(range.from, 'has a subquery that needs parentheses');
    const inner = this.#nodeOfType(of, 'vector', 'a subquery');
    const stepMs = step === undefined ? SUBQUERY_STEP_MS : this.#duration(step);
    return { kind: 'subquery', of: inner, rangeMs: this.#duration(range), stepMs, ...modified };
  }

  #modifiersOf(node: SyntaxNode): Modified {
    const { offsetMs, at } = this.#modifiers.get(node.to) ?? { offsetMs: 0, at: null };
    this.#modifiers.delete(node.to);
    return { offsetMs, at };
  }

  #duration(node: SyntaxNode): number {
    const ms = durationMs(this.#of(node));
    if (ms === null) throw this.#unsupportedQuery(node, `the duration ${this.#of(node)}`);
    if (ms === 0) throw this.#wrong(node.from, 'has an empty duration');
    return ms;
  }

  #readSelector(node: SyntaxNode, modified: Modified, rangeMs: number | null): Selector {
    const matchers: Matcher[] = [];
    for (const child of childrenOf(node)) {
      if (child.name === 'Identifier') matchers.push(matcherOf(NAME, '=', this.#of(child)));
      else for (const each of childrenOf(child)) matchers.push(this.#matcher(each));
    }
    const names = matchers.filter(({ label }) => label === NAME);
    const isNamed = node.firstChild?.name === 'Identifier' || this.#hasQuotedName(node);
    if (isNamed && names.length > 1) throw this.#wrong(node.from, 'names the metric twice');
    if (!matchers.some(({ matches }) => !matches(''))) {
      throw this.#wrong(
        node.from,
        'has a selector that chooses every series: one matcher must not match the empty text',
      );
    }
    const selector: Selector = { kind: 'selector', place: this.#selectors.length, ...modified, rangeMs };
    this.#selectors.push({ ...selector, matchers });
    return selector;
  }

  #hasQuotedName(node: SyntaxNode): boolean {
    return childrenOf(node).some((child) => childrenOf(child).some(({ name }) => name === 'QuotedLabelName'));
  }

  #matcher(node: SyntaxNode): Matcher {
    if (node.name === 'QuotedLabelName') return matcherOf(NAME, '=', this.#name(node));
    const [label, op, value] = childrenOf(node) as [SyntaxNode, SyntaxNode, SyntaxNode];
    try {
      return matcherOf(this.#name(label), this.#of(op) as Matcher['op'], this.#string(value), this.#expressions);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof NeedsThread || error instanceof Problem) throw error;
      throw this.#wrong(value.from, `has an expression that cannot be used (${error.message})`);
    }
  }

  #call(node: SyntaxNode): Node {
    const [identifier, body] = childrenOf(node) as [SyntaxNode, SyntaxNode];
    const name = this.#renamed.get(identifier.from) ?? this.#of(identifier);
    const taken = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (taken === undefined) throw this.#unsupportedQuery(node, `the function ${name}`);
    const sent = childrenOf(body);
    const { takes, optional = 0, rest } = taken;
    if ((rest === undefined && sent.length > takes.length) || sent.length < takes.length - optional) {
      throw this.#wrong(node.from, `gives ${name} ${sent.length} arguments; it takes ${takes.length}`);
    }
    const args = sent.map((each, i) => this.#nodeOfType(each, (takes[i] ?? rest) as NodeType, name));
    if (name === 'label_replace') {
      const [target, , , expression] = args.slice(1).map((arg) => (arg.kind === 'string' ? arg.value : ''));
      replacingExpression(this.#expressions, target as string, expression as string);
    }
    if (name === 'label_join') requireLabelNames([args[1], ...args.slice(3)]);
    const of = args[0];
    if (!(name === 'absent' || name === 'absent_over_time') || of?.kind !== 'selector')
      return { kind: 'call', name, args };
    // In parentheses it is no selector.
    const matchers = sent[0]?.name === 'ParenExpr' ? [] : (this.#selectors[of.place]?.matchers ?? []);
    return { kind: 'call', name, args, absentLabels: absentLabels(matchers) };
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
    const takes = Object.hasOwn(aggregations, op) ? aggregations[op] : undefined;
    if (takes === undefined) throw this.#unsupportedQuery(node, `the aggregation ${op}`);
    const modifier = children.find(({ name }) => name === 'AggregateModifier');
    const body = children.find(({ name }) => name === 'FunctionCallBody');
    const sent = body === undefined ? [] : childrenOf(body);
    const count = takes === null ? 1 : 2;
    if (sent.length !== count) throw this.#wrong(node.from, `gives ${op} ${sent.length} arguments; it takes ${count}`);
    const param = takes === null ? null : this.#nodeOfType(sent[0] as SyntaxNode, takes, op);
    if (takes === 'string') requireLabelNames([param ?? undefined]);
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
    return childrenOf(list).map((label) => this.#name(label));
  }

  /** Of a label or a metric, quoted or not. */
  #name(node: SyntaxNode): string {
    return node.name === 'QuotedLabelName' ? this.#string(node) : this.#of(node);
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

const arithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^', 'atan2']);
/** As evaluation intervals are where nobody sets them. */
const SUBQUERY_STEP_MS = 60_000;

/** As Prometheus makes them: a label that is compared otherwise, or twice, is left out. */
function absentLabels(matchers: readonly Matcher[]): readonly (readonly [string, string])[] {
  const labels = new Map<string, string>();
  const seen = new Set<string>();
  for (const { label, op, value } of matchers) {
    if (label === NAME) continue;
    if (op === '=' && !seen.has(label)) labels.set(label, value);
    else labels.delete(label);
    if (op === '=') seen.add(label);
  }
  return [...labels];
}

const anyMatching: Matching = { isOn: false, labels: [], group: null, included: [] };
const typeNames: Readonly<Record<NodeType, string>> = {
  scalar: 'a number',
  string: 'a text',
  vector: 'an instant vector',
  range: 'a range vector',
};
const unsupportedNames: Readonly<Record<string, string>> = {
  StepInvariantExpr: 'the modifier @',
  AnchoredExpr: 'the modifier anchored',
  SmoothedExpr: 'the modifier smoothed',
};

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
