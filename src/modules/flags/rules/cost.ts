// What a targeting rule costs at most, reckoned when it is written, so that its evaluation needs no bound: only flagd's operators, a bounded
// tree, and a product of loops and text lengths below a number of steps, whatever context it meets (limits.ts bounds those).
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { CONTEXT, RULE } from '../limits.ts';

/** Of a part of a rule: steps to evaluate it, characters of its result with all that is in it, of a single text there, and elements of a list. */
interface Cost {
  readonly steps: number;
  readonly chars: number;
  readonly text: number;
  readonly items: number;
}

/** What `var` may bring where the part stands. */
interface Scope {
  readonly varChars: number;
  readonly accumulatorChars: number;
  readonly isWithinLoop: boolean;
  readonly depth: number;
  readonly at: string;
}

const NUMBER_CHARS = 25;
const CHARS_PER_STEP = 64;
const short = { chars: NUMBER_CHARS, text: NUMBER_CHARS, items: 1 };

/** Their results are numbers or truth values. */
const arithmetic = ['+', '-', '*', '/', '%'];
const comparisons = ['==', '===', '!=', '!==', '>', '>=', '<', '<=', '!', '!!', 'in', 'starts_with', 'ends_with'];
/** Their results are among their arguments, which they do not read as text. */
const choices = ['if', '?:', 'and', 'or'];
const loops = ['map', 'filter', 'all', 'none', 'some', 'reduce'];
const others = ['var', 'missing', 'missing_some', 'max', 'min', 'merge', 'cat', 'substr', 'sem_ver', 'fractional'];
/** Versions are read by expressions; the targeting key, which may be the whole context, is hashed. */
const ownSteps: Readonly<Record<string, number>> = { sem_ver: 80, fractional: 20 + CONTEXT.textCharactersMax / 16 };
/** Others read 64 characters in a step. These hash, and look paths up. */
const charsPerStep: Readonly<Record<string, number>> = { fractional: 16, missing: 4, missing_some: 4 };
/** A search for a text within a text may compare each character of one with each of the other. */
const COMPARED_PER_STEP = 150;
export const operators: ReadonlySet<string> = new Set([...arithmetic, ...comparisons, ...choices, ...loops, ...others]);

/** The most steps that the rule takes. Throws VALIDATION_FAILED that names the part. */
export function ruleSteps(rule: unknown, param = 'targeting'): number {
  const counted = { nodes: 0 };
  const scope = { varChars: CONTEXT.bytesMax, accumulatorChars: 0, isWithinLoop: false, depth: 0, at: param };
  const steps = Math.ceil(costOf(rule, scope, counted).steps);
  if (steps <= RULE.stepsMax) return steps;
  const message = `The rule may take ${steps} steps, and ${RULE.stepsMax} are allowed: shorten its loops and lists.`;
  throw invalidField(param, 'too_complex', message);
}

function costOf(part: unknown, scope: Scope, counted: { nodes: number }): Cost {
  counted.nodes += 1;
  const { at, depth } = scope;
  if (counted.nodes > RULE.nodesMax) throw refusal(at, 'too_complex', `A rule has at most ${RULE.nodesMax} parts.`);
  if (depth > RULE.depthMax) throw refusal(at, 'depth', `A rule is nested at most ${RULE.depthMax} levels deep.`);
  if (typeof part === 'string') {
    if (part.length <= CONTEXT.textCharactersMax)
      return { steps: 0.1, chars: part.length, text: part.length, items: 1 };
    throw refusal(at, 'length', `A text of a rule has at most ${CONTEXT.textCharactersMax} characters.`);
  }
  if (part === null || typeof part !== 'object') return { ...short, steps: 0.1 };
  const inner = (value: unknown, name: string | number) =>
    costOf(value, { ...scope, depth: depth + 1, at: `${at}.${name}` }, counted);
  if (Array.isArray(part)) return { ...sum(part.map(inner)), items: part.length };
  return operatorCost(part, scope, inner, counted);
}

function operatorCost(
  part: object,
  scope: Scope,
  inner: (value: unknown, name: string | number) => Cost,
  counted: { nodes: number },
): Cost {
  const [name, ...more] = Object.keys(part);
  if (name === undefined || more.length > 0)
    throw refusal(scope.at, 'operator', 'An object of a rule has one member: an operator.');
  if (!operators.has(name))
    throw refusal(scope.at, 'operator', `${JSON.stringify(name.slice(0, 50))} is no operator of flagd.`);
  const value = (part as Readonly<Record<string, unknown>>)[name];
  const sent = Array.isArray(value) ? value : [value];
  if (loops.includes(name)) return loopCost(name, sent, scope, inner, counted);
  const each = sent.map((argument, i) => inner(argument, `${name}.${i}`));
  const costs = sum(each);
  if (name === 'var') return varCost(sent, costs, scope);
  if (choices.includes(name)) return { ...costs, steps: costs.steps + 1 };
  const copied = name === 'merge' ? costs.items : 0;
  const steps = costs.steps + 1 + copied + costs.chars / (charsPerStep[name] ?? CHARS_PER_STEP) + (ownSteps[name] ?? 0);
  if (name === 'in') return { ...short, steps: steps + searchSteps(sent[1], each) };
  if (name === 'cat' || name === 'substr') return { ...costs, steps, text: costs.chars };
  return arithmetic.includes(name) || comparisons.includes(name) ? { ...short, steps } : { ...costs, steps };
}

/** In a list elements are compared whole. */
function searchSteps(within: unknown, [sought, found]: readonly Cost[]): number {
  if (Array.isArray(within) || sought === undefined || found === undefined) return 0;
  return (Math.min(sought.text, found.text / 2) * found.text) / COMPARED_PER_STEP;
}

/** Only plain paths: what `../` reaches lies outside of a loop, and is read at each of its turns. */
function varCost(sent: readonly unknown[], costs: Cost, { varChars, accumulatorChars, isWithinLoop, at }: Scope): Cost {
  const [path] = sent;
  const isPlain = path === undefined || path === null || typeof path === 'number' || typeof path === 'string';
  if (!isPlain && isWithinLoop) throw refusal(at, 'var', 'Within a loop the path of var is a text, not an expression.');
  if (String(path).includes('..')) throw refusal(at, 'var', 'The path of var names a field of what it stands in.');
  const isAccumulator = typeof path === 'string' && /^accumulator\b/.test(path);
  const chars = (isAccumulator && isWithinLoop ? accumulatorChars : varChars) + costs.chars;
  return {
    steps: 1 + costs.steps + costs.chars / 4,
    chars,
    text: Math.min(chars, CONTEXT.textCharactersMax),
    items: CONTEXT.nodesMax,
  };
}

/** The body runs for each element; what the elements hold together, all turns read together. */
function loopCost(
  name: string,
  [over, body, ...more]: readonly unknown[],
  scope: Scope,
  inner: (value: unknown, name: string | number) => Cost,
  counted: { nodes: number },
): Cost {
  const source = inner(over, `${name}.0`);
  const first = sum(more.map((each, i) => inner(each, `${name}.${i + 2}`)));
  const isShort = name === 'reduce' && [...arithmetic, ...comparisons].includes(operatorOf(body));
  const turn = costOf(
    body,
    {
      varChars: Math.ceil(source.chars / Math.max(1, source.items)) + NUMBER_CHARS,
      accumulatorChars: first.chars + NUMBER_CHARS + (isShort ? 0 : source.chars),
      isWithinLoop: true,
      depth: scope.depth + 1,
      at: `${scope.at}.${name}.1`,
    },
    counted,
  );
  if (name === 'reduce') refuseGrowth(body, `${scope.at}.${name}.1`);
  const steps = source.steps + first.steps + 2 + source.items * (turn.steps + 1);
  if (name === 'filter') return { ...source, steps };
  if (name === 'reduce') return { ...sum([source, first, turn]), steps, items: source.items };
  if (name !== 'map') return { ...short, steps };
  return { steps, chars: source.items * turn.chars, text: turn.text, items: source.items };
}

/** What makes texts or lists would double the accumulator at each turn. */
function refuseGrowth(body: unknown, at: string): void {
  if (body === null || typeof body !== 'object') return;
  if (Array.isArray(body)) {
    for (const each of body) refuseGrowth(each, at);
    return;
  }
  const name = operatorOf(body);
  const isFixed = [...arithmetic, ...comparisons, ...choices, 'var', 'max', 'min', 'sem_ver'].includes(name);
  if (!isFixed) throw refusal(at, 'operator', `Within reduce there is no ${name}: it would grow at each turn.`);
  refuseGrowth((body as Readonly<Record<string, unknown>>)[name], at);
}

function operatorOf(part: unknown): string {
  return part === null || typeof part !== 'object' ? '' : (Object.keys(part)[0] ?? '');
}

function sum(costs: readonly Cost[]): Cost {
  return costs.reduce(
    (all, { steps, chars, text, items }) => ({
      steps: all.steps + steps,
      chars: all.chars + chars,
      text: Math.max(all.text, text),
      items: all.items + items,
    }),
    { steps: 0, chars: 0, text: 0, items: 0 },
  );
}

function refusal(at: string, detail: string, message: string): Problem {
  return invalidField(at.slice(0, 200), detail, message);
}
