// Rules as lines, the part of targeting that most flags need: conditions on one attribute each, of which the first that holds decides, and at the
// end a share of users for each variant. What is written by hand may be more than that; then the page says so.
//
//   email ends with @example.org: on
//   25% on, 75% off
import { invalidField } from '../../../problems/problem.ts';

type Rule = Readonly<Record<string, unknown>>;

const numeric = (value: string) => (Number.isFinite(Number(value)) ? Number(value) : value);
const listed = (value: string) => value.split(',').map((each) => each.trim());

/** What a condition makes of an attribute and a value. One that begins as another does comes first. */
export const conditions: Readonly<Record<string, (it: Rule, value: string) => Rule>> = {
  'is not': (it, value) => ({ '!=': [it, value] }),
  'is one of': (it, value) => ({ in: [it, listed(value)] }),
  'is version at least': (it, value) => ({ sem_ver: [it, '>=', value] }),
  'is version below': (it, value) => ({ sem_ver: [it, '<', value] }),
  'is major version': (it, value) => ({ sem_ver: [it, '^', value] }),
  is: (it, value) => ({ '==': [it, value] }),
  contains: (it, value) => ({ in: [value, it] }),
  'starts with': (it, value) => ({ starts_with: [it, value] }),
  'ends with': (it, value) => ({ ends_with: [it, value] }),
  '>=': (it, value) => ({ '>=': [it, numeric(value)] }),
  '<=': (it, value) => ({ '<=': [it, numeric(value)] }),
  '>': (it, value) => ({ '>': [it, numeric(value)] }),
  '<': (it, value) => ({ '<': [it, numeric(value)] }),
};
const names = Object.keys(conditions);
const CONDITION = new RegExp(`^(\\S+) (${names.join('|')}) (.*): (.+)$`);
const SHARE = /^(\d{1,7})% (.+)$/;

/** The rule that the lines tell. Throws VALIDATION_FAILED for one that tells none. */
export function ruleOf(text: string): Rule {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const shares = sharesOf(lines.at(-1) ?? '');
  const pairs = (shares === null ? lines : lines.slice(0, -1)).flatMap((line) => {
    const [, attribute, condition = '', value = '', variant] = CONDITION.exec(line) ?? [];
    if (variant !== undefined) return [conditions[condition]?.({ var: attribute }, value), variant];
    throw invalidField('rules', 'line', `This is no condition with its variant: ${line.slice(0, 100)}`);
  });
  const rest = shares && { fractional: shares };
  return pairs.length === 0 ? (rest ?? {}) : { if: [...pairs, rest] };
}

/** Null: the line is none of shares. */
function sharesOf(line: string) {
  const parts = line.split(', ').map((part) => SHARE.exec(part));
  return parts.every((part) => part !== null) ? parts.map(([, share, variant]) => [variant, Number(share)]) : null;
}

/** Null: the rule is more than lines tell, which would make another one. */
export function linesOf(targeting: Rule): string | null {
  const sent: readonly unknown[] = Array.isArray(targeting.if) ? targeting.if : [targeting];
  const lines: string[] = [];
  for (let at = 0; at + 1 < sent.length; at += 2) lines.push(lineOf(sent[at], sent[at + 1]));
  const rest = sent.length % 2 === 1 ? sent.at(-1) : null;
  const shares: unknown = Object(rest).fractional;
  if (Array.isArray(shares)) lines.push(shares.map((part) => `${Object(part)[1]}% ${Object(part)[0]}`).join(', '));
  const isRead = lines.every(
    (line, at) => CONDITION.test(line) || (at === lines.length - 1 && sharesOf(line) !== null),
  );
  const whole = sent.length % 2 === 1 ? targeting : { if: [...sent, null] };
  return isRead && isSame(ruleOf(lines.join('\n')), whole) ? lines.join('\n') : null;
}

function lineOf(part: unknown, variant: unknown): string {
  const operands: readonly unknown[] = Object.values(Object(part)).flat();
  const attribute = operands.map((each) => Object(each).var).find((each) => typeof each === 'string');
  const value = [operands.findLast((each) => typeof each !== 'object' || Array.isArray(each))].flat().join(', ');
  const name = names.find((each) => isSame(conditions[each]?.({ var: attribute }, value), part));
  return `${attribute} ${name} ${value}: ${variant}`;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
