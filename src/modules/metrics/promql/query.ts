// The tree of a parsed PromQL query: only what the evaluator supports. It survives structured cloning.

/** How a series is chosen. The name of a metric is the label `__name__`. */
export interface Matcher {
  readonly label: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
  /** Of an expression, before `matches`: counts what the values will cost. Throws VALIDATION_FAILED (`too_complex`). */
  reckon?(values: Iterable<string>): void;
  matches(value: string): boolean;
}

export type ArithmeticOp = '+' | '-' | '*' | '/' | '%' | '^' | 'atan2';
export type ComparisonOp = '==' | '!=' | '>' | '<' | '>=' | '<=';
export type SetOp = 'and' | 'or' | 'unless';

/** Of the modifiers behind a selector or a subquery. */
export interface Modified {
  readonly offsetMs: number;
  /** The one time that it is evaluated at, whatever the step: of `@`, epoch milliseconds or an end of the query's range. Null: that of the step. */
  readonly at: number | 'start' | 'end' | null;
}

export interface Selector extends Modified {
  readonly kind: 'selector';
  /** Which of the query's selectors it is. */
  readonly place: number;
  /** Null: the latest sample at each step. */
  readonly rangeMs: number | null;
}

/** An expression at steps of its own, which are a range of the step outside. */
export interface Subquery extends Modified {
  readonly kind: 'subquery';
  readonly of: Node;
  readonly rangeMs: number;
  readonly stepMs: number;
}

export interface Matching {
  /** True: on these labels; false: on all but these. */
  readonly isOn: boolean;
  readonly labels: readonly string[];
  readonly group: 'left' | 'right' | null;
  /** Labels taken from the side of which there is one. */
  readonly included: readonly string[];
}

export type Node =
  | Selector
  | Subquery
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'negated'; readonly of: Node }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Node[];
      /** Labels of what absent answers, by the selector that it is asked of. */
      readonly absentLabels?: readonly (readonly [name: string, value: string])[];
    }
  | {
      readonly kind: 'aggregation';
      readonly op: string;
      readonly param: Node | null;
      readonly of: Node;
      readonly isBy: boolean;
      readonly labels: readonly string[];
    }
  | {
      readonly kind: 'binary';
      readonly op: ArithmeticOp | ComparisonOp | SetOp;
      readonly left: Node;
      readonly right: Node;
      /** Answers 0 or 1 in place of keeping or dropping. */
      readonly isBool: boolean;
      readonly matching: Matching;
    };

/** What a part of a query answers. */
export type NodeType = 'scalar' | 'string' | 'vector' | 'range';

export interface Expression {
  readonly root: Node;
  readonly type: NodeType;
}

export interface Query extends Expression {
  /** In the order of their places. */
  readonly selectors: readonly (Selector & { readonly matchers: readonly Matcher[] })[];
  /** It has regular expressions. */
  readonly hasExpressions: boolean;
}

export const comparisons: ReadonlySet<string> = new Set(['==', '!=', '>', '<', '>=', '<=']);
export const setOps: ReadonlySet<string> = new Set(['and', 'or', 'unless']);

/** Parts of a part. */
export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'selector':
    case 'number':
    case 'string':
      return [];
    case 'negated':
    case 'subquery':
      return [node.of];
    case 'call':
      return node.args;
    case 'aggregation':
      return node.param === null ? [node.of] : [node.param, node.of];
    case 'binary':
      return [node.left, node.right];
  }
}
