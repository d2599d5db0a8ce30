// Checks for rules that would match always or never, run when rules are written or tried; stored rules are not checked again. Refused: a
// constant condition, a comparison of constants or with a value its signal never has, an operator without operands.
import { invalidField } from '../../../problems/problem.ts';
import { events } from '../limits.ts';
import { type SignalType, signalTypes } from '../signals/facts.ts';
import type { Rules } from './rule-set.ts';

const comparisons = '< <= > >= == != === !== in'.split(' ');
/** A condition as it should be. */
const EXAMPLE = '{">": [{"var": "ip.users_1h"}, 5]}';
const typeWords: Readonly<Record<SignalType, string>> = {
  number: 'a number',
  boolean: 'true or false',
  text: 'a text',
  key: 'null or an object',
};

interface Place {
  readonly rule: string;
  readonly at: string;
}

/** `rules`: taken by RuleSet. Throws VALIDATION_FAILED that names the rule and its place. */
export function requireSense({ rules }: Rules): void {
  for (const [i, { name, when }] of rules.entries()) checkCondition(when, { rule: name, at: `rules[${i}].when` });
}

/** True and false stand for always and never. */
function checkCondition(node: unknown, place: Place): void {
  if (typeof node === 'boolean') return;
  const [operator, operands] = operatorOf(node);
  if (operator === null)
    refuse(place, `has ${quotedText(node)} as a condition, which is the same of every call: a condition is ${EXAMPLE}`);
  if (operator === 'var') return;
  const at = `${place.at}.${operator}`;
  const each = operands.map((operand, i) => ({ operand, place: { ...place, at: `${at}[${i}]` } }));
  if (operator === 'if') {
    requireOperands(operands, 2, { ...place, at });
    for (const it of each) checkCondition(it.operand, it.place);
  } else if (['and', 'or', '!', '!!'].includes(operator)) {
    requireOperands(operands, 1, { ...place, at });
    for (const it of each) checkCondition(it.operand, it.place);
  } else checkValue(node, place);
}

/** A part whose result is compared or reckoned with. */
function checkValue(node: unknown, place: Place): void {
  const [operator, operands] = operatorOf(node);
  if (operator === null || operator === 'var') return;
  const at = `${place.at}.${operator}`;
  if (comparisons.includes(operator)) checkComparison(operator, operands, { ...place, at });
  else requireOperands(operands, 1, { ...place, at });
  for (const [i, operand] of operands.entries()) {
    const there = { ...place, at: `${at}[${i}]` };
    if (operator === 'if' && i % 2 === 0 && i < operands.length - 1) checkCondition(operand, there);
    else checkValue(operand, there);
  }
}

function checkComparison(operator: string, operands: readonly unknown[], place: Place): void {
  requireOperands(operands, 2, place);
  if (operands.every(isConstant))
    refuse(
      place,
      `compares ${operands.map(quotedText).join(' with ')}, which are both constants: a signal is {"var": "…"}`,
    );
  for (const [i, operand] of operands.entries()) {
    const path = signalOf(operand);
    // A text that is looked for in a text is a part of it.
    if (path === null || (operator === 'in' && i > 0)) continue;
    for (const [j, other] of operands.entries()) {
      if (i === j) continue;
      const values = operator === 'in' && Array.isArray(other) ? other : [other];
      for (const value of values) requireComparable(operator, path, value, { ...place, at: `${place.at}[${j}]` });
    }
  }
}

function requireComparable(operator: string, path: string, value: unknown, place: Place): void {
  const type = signalTypes.get(path);
  if (type === undefined || value === null || typeof value === 'object') return;
  const isStrict = operator === '===' || operator === '!==' || operator === 'in';
  const isNumber = typeof value === 'number' || (!isStrict && Number.isFinite(Number(value)));
  const isBoolean = typeof value === 'boolean' || (!isStrict && isNumber);
  const fits = {
    number: isNumber,
    boolean: isBoolean,
    text: typeof value === 'string',
    key: typeof value === 'boolean',
  };
  if (!fits[type]) refuse(place, `compares ${path}, which is ${typeWords[type]}, with ${quotedText(value)}`);
  requireEvent(path, value, place);
}

function requireEvent(path: string, value: unknown, place: Place): void {
  if (path !== 'event' || events.some((event) => event === value)) return;
  refuse(place, `compares event with ${quotedText(value)}; events are ${events.join(', ')}`);
}

function requireOperands(operands: readonly unknown[], least: number, place: Place): void {
  if (operands.length < least) refuse(place, `has ${operands.length} operands there, and needs ${least}`);
}

function isConstant(node: unknown): boolean {
  if (node === null || typeof node !== 'object') return true;
  if (Array.isArray(node)) return node.every(isConstant);
  return !('var' in node) && Object.values(node).every(isConstant);
}

function signalOf(node: unknown): string | null {
  const [operator, [path]] = operatorOf(node);
  return operator === 'var' && typeof path === 'string' ? path : null;
}

function operatorOf(node: unknown): readonly [name: string | null, operands: readonly unknown[]] {
  if (node === null || typeof node !== 'object' || Array.isArray(node)) return [null, []];
  const [[name, value] = [null, null]] = Object.entries(node);
  return [name, Array.isArray(value) ? value : [value]];
}

const quotedText = (value: unknown) => JSON.stringify(value).slice(0, 80);

function refuse({ rule, at }: Place, what: string): never {
  throw invalidField(at, 'rule', `Rule ${rule} ${what}.`);
}
