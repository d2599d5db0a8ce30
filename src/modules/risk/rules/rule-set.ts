// An account's rules: their schemas, the schema of a verdict, and a checked set that is ready to run. A rule is JsonLogic over the signals, with
// an allow-list of operators. Nodes and texts are bounded, and nothing loops or grows, so run time is bounded by the number of nodes. The engine
// runs closures built from a rule; no text of a rule ever becomes code.
import { defaultMethods, LogicEngine } from 'json-logic-engine';
import Type, { type Static } from 'typebox';
import { plainTextOrNull } from '../../../kit/fields.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { invalidField } from '../../../problems/problem.ts';
import { actions, RULE_NODES_MAX, RULE_TEXT_CHARACTERS_MAX, RULES_MAX } from '../limits.ts';
import { type Signals, signalTypes } from '../signals/facts.ts';

const operators = 'var and or ! !! if < <= > >= == != === !== + - * / % min max in'.split(' ');
const methods = Object.fromEntries(
  operators.map((name) => [name, (defaultMethods as Readonly<Record<string, unknown>>)[name]]),
);

const threshold = (action: string) =>
  Type.Integer({ minimum: 1, maximum: 101, description: `From this score on: ${action}; 101: never.` });
const ruleSchema = Type.Object({
  name: alsoNamed(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      description: 'Name of the rule in reasons; no two share it.',
    }),
    'id',
  ),
  points: Type.Integer({
    minimum: -100,
    maximum: 100,
    description: 'Added to the score where the rule matches; negative ones lower it.',
  }),
  description: Type.Optional(plainTextOrNull(200, 'For people; it stands in reasons.')),
  when: Type.Unknown({
    description: `JsonLogic over the signals: {">": [{"var": "ip.users_1h"}, 5]}. Operators: ${operators.join(' ')}.`,
  }),
});
export const rulesSchema = Type.Object({
  thresholds: Type.Object(
    { review: threshold('review'), block: threshold('block') },
    { description: 'Which score leads to which action.' },
  ),
  rules: Type.Array(ruleSchema, {
    maxItems: RULES_MAX,
    description: `Up to ${RULES_MAX}, each looked at in every call.`,
  }),
});
export type Rules = Static<typeof rulesSchema>;

const reasonSchema = Type.Object({
  rule: Type.String({
    description: 'Name of a rule that matched; `list:allow` or `list:block` where an entry decided.',
  }),
  points: Type.Integer({ description: 'What it added.' }),
  detail: Type.String({ description: 'Its description, and the values of the signals that it looks at.' }),
});
export const verdictSchema = Type.Object({
  score: Type.Integer({ minimum: 0, maximum: 100, description: 'Sum of the points, from 0 to 100.' }),
  action: Type.Enum([...actions], { description: 'By the thresholds, or by a list entry alone.' }),
  reasons: Type.Array(reasonSchema, { description: 'Every rule that matched, in the order of the rules.' }),
});
export type Verdict = Static<typeof verdictSchema>;

/** A member of `context`. */
const CONTEXT = /^context\.([A-Za-z][A-Za-z0-9_]{0,63})$/;
/** A search for a text in a text takes as long as so many other operators. */
const SEARCH_NODES = 4;
/** Signals that a reason tells the values of. */
const TOLD_MAX = 4;

export class RuleSet {
  readonly #rules: Rules;
  /** Signals that each rule looks at: the first few. */
  readonly #told: readonly (readonly string[])[];
  readonly #engine = new LogicEngine(methods);

  /** Throws VALIDATION_FAILED naming the rule and its place. */
  constructor(rules: Rules) {
    const { review, block } = rules.thresholds;
    if (review > block) throw invalidField('thresholds.review', 'order', 'review must not be above block.');
    const names = new Set<string>();
    let nodes = 0;
    this.#rules = rules;
    this.#told = rules.rules.map(({ name, when }, i) => {
      if (names.has(name)) throw invalidField(`rules[${i}].name`, 'unique', `Two rules have the name ${name}.`);
      names.add(name);
      const rule: Looked = { name, paths: new Set(), nodes: 0 };
      look(rule, when, `rules[${i}].when`);
      nodes += rule.nodes;
      return [...rule.paths].slice(0, TOLD_MAX);
    });
    if (nodes <= RULE_NODES_MAX) return;
    throw invalidField(
      'rules',
      'too_large',
      `All rules together have more than ${RULE_NODES_MAX} values and operators.`,
    );
  }

  decide(signals: Signals): Verdict {
    const { rules, thresholds } = this.#rules;
    const reasons = rules.flatMap(({ name, points, description, when }, i) => {
      if (!this.#matches(when, signals)) return [];
      const values = (this.#told[i] ?? []).map((path) => `${path} ${valueAt(signals, path)}`).join(', ');
      const detail = [description, values].filter(Boolean).join(': ') || name;
      return [{ rule: name, points, detail }];
    });
    const sum = reasons.reduce((all, { points }) => all + points, 0);
    const score = Math.min(100, Math.max(0, sum));
    const action = score >= thresholds.block ? 'block' : score >= thresholds.review ? 'review' : 'allow';
    return { score, action, reasons };
  }

  /** What cannot be computed, such as a text compared with a number, does not match. */
  #matches(when: unknown, signals: Signals): boolean {
    try {
      return Boolean(this.#engine.truthy(this.#engine.run(when, signals)));
    } catch {
      return false;
    }
  }
}

function valueAt(signals: Signals, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Signals | null)?.[name], signals);
}

/** A rule as it is looked through. `paths`: its signals, but none of `context`, whose values stand in no reason. */
interface Looked {
  readonly name: string;
  readonly paths: Set<string>;
  nodes: number;
}

function look(rule: Looked, node: unknown, at: string): void {
  rule.nodes += 1;
  if (typeof node === 'string' && node.length > RULE_TEXT_CHARACTERS_MAX)
    refuse(rule, at, `has a text of more than ${RULE_TEXT_CHARACTERS_MAX} characters`);
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const [i, each] of node.entries()) look(rule, each, `${at}[${i}]`);
    return;
  }
  const [[operator, operands] = ['', null], ...others] = Object.entries(node);
  if (others.length > 0 || !operators.includes(operator))
    refuse(rule, at, `must be an object with one operator of ${operators.join(' ')}`);
  if (operator === 'var') lookAtSignal(rule, operands, `${at}.var`);
  else look(rule, operands, `${at}.${operator}`);
  if (operator === 'in') rule.nodes += SEARCH_NODES;
}

/** `{"var": path}` or `{"var": [path, default]}`. */
function lookAtSignal(rule: Looked, operands: unknown, at: string): void {
  const [path, fallback, ...others] = Array.isArray(operands) ? operands : [operands];
  const isPlain = fallback === undefined || fallback === null || typeof fallback !== 'object';
  if (typeof path !== 'string' || !isPlain || others.length > 0)
    refuse(rule, at, 'must be a signal, or a signal and a plain value for where there is none');
  const member = CONTEXT.exec(path)?.[1];
  // Members that every object has are nobody's.
  const isKnown = member === undefined ? signalTypes.has(path) : !(member in {});
  if (!isKnown) refuse(rule, at, `names ${JSON.stringify(path.slice(0, 80))}, which is no signal: see risk.score`);
  if (member === undefined && path.includes('.')) rule.paths.add(path);
}

function refuse({ name }: Looked, at: string, what: string): never {
  throw invalidField(at, 'rule', `Rule ${name} ${what}.`);
}
