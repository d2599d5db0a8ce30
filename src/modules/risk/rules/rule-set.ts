// An account's rules, checked and ready to run. A rule is JsonLogic over the signals, with an allow-list of operators; nodes, depth and
// texts are bounded, and nothing of it repeats or grows, so that the time of a set is bounded by its nodes. The engine runs closures that
// it makes of a rule; no text of a rule ever becomes code.
import { defaultMethods, LogicEngine } from 'json-logic-engine';
import { invalidField } from '../../../problems/problem.ts';
import { type Action, ALL_NODES_MAX, RULE_DEPTH_MAX, RULE_NODES_MAX, RULE_TEXT_CHARACTERS_MAX } from '../limits.ts';
import { type Signals, signalPaths } from '../signals/signals.ts';

export interface Thresholds {
  readonly review: number;
  readonly block: number;
}

export interface Rule {
  readonly id: string;
  readonly points: number;
  readonly description: string | null;
  readonly when: unknown;
}

export interface Rules {
  readonly thresholds: Thresholds;
  readonly rules: readonly Rule[];
}

export interface Reason {
  readonly rule: string;
  readonly points: number;
  readonly detail: string;
}

export interface Verdict {
  readonly score: number;
  readonly action: Action;
  readonly reasons: readonly Reason[];
}

const operators = 'var and or ! !! if < <= > >= == != === !== + - * / % min max in'.split(' ');
const methods = Object.fromEntries(operators.map((name) => [name, (defaultMethods as Methods)[name]]));
type Methods = Readonly<Record<string, unknown>>;

/** A member of `context`. */
const CONTEXT = /^context\.[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** Members that every object has. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));
/** A search for a text in a text takes as long as so many other operators. */
const SEARCH_NODES = 4;
/** Signals that a reason tells the values of. */
const TOLD_MAX = 4;

/** Throws VALIDATION_FAILED naming the rule and its place. */
export function ruleSet(rules: Rules): RuleSet {
  const { review, block } = rules.thresholds;
  if (review > block) throw invalidField('thresholds.review', 'order', 'review must not be above block.');
  const ids = new Set<string>();
  let nodes = 0;
  const paths = rules.rules.map(({ id, when }, i) => {
    if (ids.has(id)) throw invalidField(`rules[${i}].id`, 'unique', `Two rules have the id ${id}.`);
    ids.add(id);
    const check = new Check(`rules[${i}].when`, id);
    check.look(when, check.param, 1);
    nodes += check.nodes;
    if (nodes > ALL_NODES_MAX) {
      throw invalidField(
        'rules',
        'too_large',
        `All rules together have more than ${ALL_NODES_MAX} values and operators.`,
      );
    }
    return [...check.told];
  });
  return new RuleSet(rules, paths);
}

export class RuleSet {
  readonly #rules: Rules;
  /** Of each rule. */
  readonly #told: readonly (readonly string[])[];
  readonly #engine = new LogicEngine(methods);

  constructor(rules: Rules, told: readonly (readonly string[])[]) {
    this.#rules = rules;
    this.#told = told;
  }

  decide(signals: Signals): Verdict {
    const reasons: Reason[] = [];
    this.#rules.rules.forEach((rule, i) => {
      if (!this.#matches(rule.when, signals)) return;
      const values = (this.#told[i] ?? []).map((path) => `${path} ${String(valueAt(signals, path))}`).join(', ');
      const detail = [rule.description ?? '', values].filter((part) => part !== '').join(': ') || rule.id;
      reasons.push({ rule: rule.id, points: rule.points, detail });
    });
    const sum = reasons.reduce((total, { points }) => total + points, 0);
    const score = Math.min(Math.max(sum, 0), 100);
    return { score, action: this.#actionOf(score), reasons };
  }

  /** What cannot be computed, such as a text compared with a number, does not match. */
  #matches(when: unknown, signals: Signals): boolean {
    try {
      return Boolean(this.#engine.truthy(this.#engine.run(when, signals)));
    } catch {
      return false;
    }
  }

  #actionOf(score: number): Action {
    const { review, block } = this.#rules.thresholds;
    if (score >= block) return 'block';
    return score >= review ? 'review' : 'allow';
  }
}

function valueAt(signals: Signals, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], signals);
}

/** One rule as it is looked through. */
class Check {
  readonly param: string;
  readonly #id: string;
  nodes = 0;
  /** Counts and flags among its signals: no value of `context` stands in a reason. */
  readonly told = new Set<string>();

  constructor(param: string, id: string) {
    this.param = param;
    this.#id = id;
  }

  look(node: unknown, at: string, depth: number): void {
    this.nodes += 1;
    if (this.nodes > RULE_NODES_MAX) this.#refuse(this.param, `has more than ${RULE_NODES_MAX} values and operators`);
    if (depth > RULE_DEPTH_MAX) this.#refuse(at, `is nested deeper than ${RULE_DEPTH_MAX}`);
    if (typeof node === 'string' && node.length > RULE_TEXT_CHARACTERS_MAX) {
      this.#refuse(at, `has a text of more than ${RULE_TEXT_CHARACTERS_MAX} characters`);
    }
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      node.forEach((each, i) => {
        this.look(each, `${at}[${i}]`, depth + 1);
      });
      return;
    }
    const [[operator, operands] = ['', null], ...others] = Object.entries(node);
    if (others.length > 0 || !operators.includes(operator)) {
      this.#refuse(at, `must be an object with one operator of ${operators.join(' ')}`);
    }
    if (operator === 'var') this.#variable(operands, `${at}.var`);
    else this.look(operands, `${at}.${operator}`, depth + 1);
    if (operator === 'in') this.nodes += SEARCH_NODES;
  }

  /** `{"var": path}` or `{"var": [path, default]}`. */
  #variable(operands: unknown, at: string): void {
    const [path, fallback, ...others] = Array.isArray(operands) ? operands : [operands];
    const isPlain = fallback === undefined || fallback === null || typeof fallback !== 'object';
    if (typeof path !== 'string' || !isPlain || others.length > 0) {
      this.#refuse(at, 'must be a signal, or a signal and a plain value for where there is none');
    }
    if (!signalPaths.has(path) && (!CONTEXT.test(path) || INHERITED.has(path.slice('context.'.length)))) {
      this.#refuse(
        at,
        `names ${JSON.stringify(path.slice(0, 80))}, which is no signal: see risk.score for their names`,
      );
    }
    if (path.includes('.') && !path.startsWith('context.') && this.told.size < TOLD_MAX) this.told.add(path);
  }

  #refuse(at: string, what: string): never {
    throw invalidField(at, 'rule', `Rule ${this.#id} ${what}.`);
  }
}
