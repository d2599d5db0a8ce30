// Worst-case cost of a rule of JsonLogic, computed when it is written, so evaluation needs no bound. A rule has only flagd's operators and a
// bounded tree. Flags and the filters of webhook receivers use it. The product of its loops and text lengths stays below a number of steps, for every context that limits.ts allows.
import { invalidField, type Problem } from '../../problems/problem.ts';
import { CONTEXT, RULE } from './limits.ts';

/** What a rule is evaluated for. Of a flag: attributes of whom, with `targetingKey`. */
export type Context = Readonly<Record<string, unknown>>;

/** `characters`: of its JSON. Throws VALIDATION_FAILED. */
export function checkContext(context: Context, characters: number): void {
  const { bytesMax, nodesMax, textCharactersMax, depthMax } = CONTEXT;
  const refusal = (detail: string, most: string) => invalidField('context', detail, `A context has at most ${most}.`);
  if (characters > bytesMax) throw refusal('bytes', `${bytesMax} bytes of JSON`);
  let nodes = 0;
  const visit = (value: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > nodesMax) throw refusal('members', `${nodesMax} values`);
    if (typeof value === 'string' && value.length > textCharactersMax)
      throw refusal('length', `${textCharactersMax} characters in a text`);
    if (typeof value !== 'object' || value === null) return;
    if (depth >= depthMax) throw refusal('depth', `${depthMax} levels`);
    for (const each of Object.values(value)) visit(each, depth + 1);
  };
  visit(context, 0);
}

/** Of a part of a rule: steps to evaluate it, characters of its result with all that is in it, of a single text there, and elements of a list. */
interface Cost {
  readonly steps: number;
  readonly chars: number;
  readonly text: number;
  readonly items: number;
}

/** Where a part stands. */
interface Scope {
  readonly at: string;
  readonly depth: number;
  /** Parts of the whole rule so far. */
  readonly counted: { nodes: number };
  readonly operators: ReadonlySet<string>;
  /** Characters that `var` may bring. */
  readonly varChars: number;
  /** Of the result so far, within a loop; null: outside. */
  readonly accumulatorChars: number | null;
}

/** Their results are numbers or truth values. */
const scalars = new Set('+ - * / % == === != !== > >= < <= ! !! in starts_with ends_with'.split(' '));
/** Their results are among their arguments, which they do not read as text. */
const choices = ['if', '?:', 'and', 'or'];
const loops = ['map', 'filter', 'all', 'none', 'some', 'reduce'];
/** They make texts or lists, and would double what `reduce` has so far at each turn. */
const growing = ['missing', 'missing_some', 'merge', 'cat', 'substr', 'fractional', ...loops];
const bounded = new Set([...scalars, ...choices, 'var', 'max', 'min', 'sem_ver']);
const operators = new Set([...bounded, ...growing]);

const NUMBER_CHARS = 25;
const scalar = { chars: NUMBER_CHARS, text: NUMBER_CHARS, items: 1 };
/** Versions are read by expressions; the targeting key, which may be the whole context, is hashed. */
const ownSteps: Readonly<Record<string, number>> = { sem_ver: 80, fractional: 20 + CONTEXT.textCharactersMax / 16 };
/** Characters that are read in a step, where an operator hashes them or looks paths up. */
const charsPerStep: Readonly<Record<string, number>> = { var: 4, missing: 4, missing_some: 4, fractional: 16 };
const CHARS_PER_STEP = 64;
/** A search for a text within a text may compare each character of one with each of the other. */
const COMPARED_PER_STEP = 150;

/** The most steps that the rule takes. Throws VALIDATION_FAILED that names the part. */
export function ruleSteps(rule: unknown, param = 'targeting'): number {
  const scope = { at: param, depth: 0, counted: { nodes: 0 }, operators };
  const cost = costOf(rule, { ...scope, varChars: CONTEXT.bytesMax, accumulatorChars: null });
  const steps = Math.ceil(cost.steps);
  if (steps <= RULE.stepsMax) return steps;
  const message = `The rule may take ${steps} steps, and ${RULE.stepsMax} are allowed: shorten its loops and lists.`;
  throw invalidField(param, 'too_complex', message);
}

function costOf(part: unknown, scope: Scope): Cost {
  const { counted, depth } = scope;
  counted.nodes += 1;
  if (counted.nodes > RULE.nodesMax) throw refusal(scope, 'too_complex', `A rule has at most ${RULE.nodesMax} parts.`);
  if (depth > RULE.depthMax) throw refusal(scope, 'depth', `A rule is nested at most ${RULE.depthMax} levels deep.`);
  if (typeof part === 'string') {
    const { length } = part;
    if (length <= CONTEXT.textCharactersMax) return { steps: 0.1, chars: length, text: length, items: 1 };
    throw refusal(scope, 'length', `A text of a rule has at most ${CONTEXT.textCharactersMax} characters.`);
  }
  if (part === null || typeof part !== 'object') return { ...scalar, steps: 0.1 };
  if (!Array.isArray(part)) return operatorCost(part, scope);
  return { ...sum(part.map((each, i) => costOf(each, within(scope, i)))), items: part.length };
}

function operatorCost(part: object, scope: Scope): Cost {
  const [[name, value] = ['', null], ...more] = Object.entries(part);
  if (more.length > 0 || !scope.operators.has(name)) {
    const message =
      'An object of a rule has one member: an operator of flagd, within reduce none that makes texts or lists.';
    throw refusal(scope, 'operator', message);
  }
  const sent: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (loops.includes(name)) return loopCost(name, sent, scope);
  const each = sent.map((argument, i) => costOf(argument, within(scope, `${name}.${i}`)));
  const all = sum(each);
  if (choices.includes(name)) return { ...all, steps: all.steps + 1 };
  const steps = 1 + all.steps + all.chars / (charsPerStep[name] ?? CHARS_PER_STEP) + (ownSteps[name] ?? 0);
  if (name === 'var') return { ...varSize(sent[0], all.chars, scope), steps };
  if (name === 'in') return { ...scalar, steps: steps + searchSteps(sent[1], each) };
  if (name === 'merge') return { ...all, steps: steps + all.items };
  if (name === 'cat' || name === 'substr') return { ...all, steps, text: all.chars };
  return scalars.has(name) ? { ...scalar, steps } : { ...all, steps };
}

/** In a list elements are compared whole. */
function searchSteps(container: unknown, [sought, found]: readonly Cost[]): number {
  if (Array.isArray(container) || sought === undefined || found === undefined) return 0;
  return (Math.min(sought.text, found.text / 2) * found.text) / COMPARED_PER_STEP;
}

/** Only plain paths: what `../` reaches lies outside of a loop, and is read at each of its turns. */
function varSize(path: unknown, pathChars: number, scope: Scope): Omit<Cost, 'steps'> {
  const { varChars, accumulatorChars } = scope;
  if (typeof path === 'object' && path !== null && accumulatorChars !== null)
    throw refusal(scope, 'var', 'Within a loop the path of var is a text, not an expression.');
  if (String(path).includes('..')) throw refusal(scope, 'var', 'The path of var names a field of what it stands in.');
  const isAccumulator = typeof path === 'string' && /^accumulator\b/.test(path);
  const chars = pathChars + (isAccumulator ? (accumulatorChars ?? varChars) : varChars);
  return { chars, text: Math.min(chars, CONTEXT.textCharactersMax), items: CONTEXT.nodesMax };
}

/** The body runs for each element; what the elements hold together, all turns read together. */
function loopCost(name: string, [over, body, ...more]: readonly unknown[], scope: Scope): Cost {
  const source = costOf(over, within(scope, `${name}.0`));
  const first = sum(more.map((each, i) => costOf(each, within(scope, `${name}.${i + 2}`))));
  const isScalar = name === 'reduce' && scalars.has(Object.keys(Object(body))[0] ?? '');
  const turn = costOf(body, {
    ...within(scope, `${name}.1`),
    operators: name === 'reduce' ? bounded : scope.operators,
    varChars: Math.ceil(source.chars / Math.max(1, source.items)) + NUMBER_CHARS,
    accumulatorChars: first.chars + NUMBER_CHARS + (isScalar ? 0 : source.chars),
  });
  const steps = source.steps + first.steps + 2 + source.items * (turn.steps + 1);
  if (name === 'filter') return { ...source, steps };
  if (name === 'reduce') return { ...sum([source, first, turn]), steps, items: source.items };
  if (name === 'map') return { steps, chars: source.items * turn.chars, text: turn.text, items: source.items };
  return { ...scalar, steps };
}

function within(scope: Scope, name: string | number): Scope {
  return { ...scope, at: `${scope.at}.${name}`, depth: scope.depth + 1 };
}

function sum(costs: readonly Cost[]): Cost {
  return {
    steps: costs.reduce((total, { steps }) => total + steps, 0),
    chars: costs.reduce((total, { chars }) => total + chars, 0),
    text: Math.max(0, ...costs.map(({ text }) => text)),
    items: costs.reduce((total, { items }) => total + items, 0),
  };
}

function refusal({ at }: Scope, detail: string, message: string): Problem {
  return invalidField(at.slice(0, 200), detail, message);
}
