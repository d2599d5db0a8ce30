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

export type ArithmeticOp = '+' | '-' | '*' | '/' | '%' | '^';
export type ComparisonOp = '==' | '!=' | '>' | '<' | '>=' | '<=';
export type SetOp = 'and' | 'or' | 'unless';

export interface Selector {
  readonly kind: 'selector';
  /** Which of the query's selectors it is. */
  readonly place: number;
  readonly offsetMs: number;
  /** Null: the latest sample at each step. */
  readonly rangeMs: number | null;
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
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'negated'; readonly of: Node }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] }
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
