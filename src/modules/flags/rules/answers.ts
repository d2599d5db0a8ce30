// Static checks of targeting rules, made when a rule is written. They refuse unknown variants, shares that cannot be dealt out, a string as a
// condition, and arguments that a flagd operator does not take. flagd itself accepts such a rule, and then always answers the default.
import { invalidField, type Problem } from '../../../problems/problem.ts';

interface Place {
  readonly at: string;
  readonly variants: readonly string[];
}

/** What a part answers where that stands in the rule, and where. */
interface Answer {
  readonly value: unknown;
  readonly at: string;
}

const choices = ['if', '?:'];
const conditions = 'if ?: ! !! and or'.split(' ');
/** They answer true or false. */
const tests = '== != === !== > >= < <= ! !! in starts_with ends_with sem_ver all none some'.split(' ');
const VERSION_OPERATORS = '= != < <= > >= ^ ~'.split(' ');
/** flagd-core adds up no more. */
const WEIGHTS_MAX = 2 ** 31 - 1;
const TOLD_CHARACTERS = 60;

/** `rule`: of known operators, with bounded parts. Throws VALIDATION_FAILED that names the part. */
export function checkAnswers(rule: unknown, variants: readonly string[], param: string): void {
  const place = { at: param, variants };
  for (const { value, at } of answersOf(rule, param)) {
    if (variants.includes(String(value))) continue;
    const names = variants.slice(0, 10).map(quotedText).join(', ');
    const message = `The rule may answer ${quotedText(value)}, which is none of its variants (${names}).`;
    throw refusal(at, 'unknown_variant', message);
  }
  checkPart(rule, place);
}

/** Those that are not null, which stands for the default variant; what is only known from a context is left out. */
function answersOf(part: unknown, at: string): readonly Answer[] {
  if (part === null || part === undefined) return [];
  if (typeof part !== 'object' || Array.isArray(part)) return [{ value: part, at }];
  const { name, sent } = operatorOf(part);
  const each = sent.map((argument, i) => ({ argument, at: `${at}.${name}.${i}` }));
  if (choices.includes(name))
    return each.filter((_, i) => i % 2 === 1 || i === sent.length - 1).flatMap((it) => answersOf(it.argument, it.at));
  if (name === 'and' || name === 'or')
    return each.flatMap((it, i) => {
      const answers = answersOf(it.argument, it.at);
      return i === sent.length - 1 ? answers : answers.filter(({ value }) => Boolean(value) === (name === 'or'));
    });
  if (name === 'fractional')
    return each.flatMap((it) => (Array.isArray(it.argument) ? answersOf(it.argument[0], `${it.at}.0`) : []));
  return tests.includes(name) ? [true, false].map((value) => ({ value, at })) : [];
}

function checkPart(part: unknown, place: Place): void {
  if (part === null || typeof part !== 'object') return;
  if (Array.isArray(part)) {
    for (const [i, each] of part.entries()) checkPart(each, { ...place, at: `${place.at}.${i}` });
    return;
  }
  const { name, sent } = operatorOf(part);
  const at = `${place.at}.${name}`;
  if (name === 'fractional') checkShares(Object.values(part)[0], at);
  if (name === 'sem_ver') checkVersions(sent, at);
  if (name === 'starts_with' || name === 'ends_with') requireArguments(sent, 2, at);
  if (conditions.includes(name)) checkConditions(name, sent, at);
  for (const [i, each] of sent.entries()) checkPart(each, { ...place, at: `${at}.${i}` });
}

/** A text is always true, also one that reads like a comparison. */
function checkConditions(name: string, sent: readonly unknown[], at: string): void {
  for (const [i, each] of sent.entries()) {
    const isCondition = choices.includes(name) ? i % 2 === 0 && i < sent.length - 1 : name.startsWith('!');
    if (!isCondition || typeof each !== 'string') continue;
    const message = `${quotedText(each)} is a text, which is always true: a condition is an object, such as {"==": [{"var": "plan"}, "pro"]}.`;
    throw refusal(`${at}.${i}`, 'condition', message);
  }
}

function checkVersions(sent: readonly unknown[], at: string): void {
  requireArguments(sent, 3, at);
  const operator = sent[1];
  if (typeof operator === 'object' || VERSION_OPERATORS.includes(String(operator))) return;
  const message = `sem_ver compares by ${VERSION_OPERATORS.join(' ')}; ${quotedText(operator)} is none of them.`;
  throw refusal(`${at}.1`, 'operator', message);
}

function requireArguments(sent: readonly unknown[], count: number, at: string): void {
  if (sent.length === count) return;
  throw refusal(at, 'arguments', `This operator takes ${count} arguments, and has ${sent.length}.`);
}

/** Buckets are `["variant", weight]`; what comes before them says by what they are dealt out. */
function checkShares(sent: unknown, at: string): void {
  const form = 'fractional is a list of shares, such as [["on", 25], ["off", 75]].';
  if (!Array.isArray(sent)) throw refusal(at, 'shares', form);
  if (typeof sent[0] === 'string') {
    const message = `${quotedText(sent[0])} is the same for everybody, so that all get one variant: write {"var": ${quotedText(sent[0])}}.`;
    throw refusal(`${at}.0`, 'shares', message);
  }
  const first = Array.isArray(sent[0]) ? 0 : 1;
  const weights = sent.slice(first).map((bucket, i) => weightOf(bucket, `${at}.${first + i}`, form));
  const least = weights.reduce<number>((all, weight) => all + (weight ?? 0), 0);
  if (weights.length === 0) throw refusal(at, 'shares', form);
  if (least === 0 && !weights.includes(null))
    throw refusal(at, 'shares', 'The shares add up to 0, so that nobody gets a variant by them.');
  if (least > WEIGHTS_MAX) throw refusal(at, 'shares', `The shares add up to more than ${WEIGHTS_MAX}.`);
}

/** Null: only known from a context. */
function weightOf(bucket: unknown, at: string, form: string): number | null {
  if (!Array.isArray(bucket) || bucket.length === 0 || bucket.length > 2) throw refusal(at, 'shares', form);
  const [, weight = 1] = bucket;
  if (typeof weight === 'object' && weight !== null) return null;
  if (Number.isInteger(weight) && weight >= 0) return weight;
  throw refusal(`${at}.1`, 'shares', 'A share is a whole number from 0 on.');
}

function operatorOf(part: object) {
  const [[name, value] = ['', null]] = Object.entries(part);
  return { name, sent: (Array.isArray(value) ? value : [value]) as readonly unknown[] };
}

function quotedText(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, TOLD_CHARACTERS) : value).slice(
    0,
    2 * TOLD_CHARACTERS,
  );
}

function refusal(at: string, detail: string, message: string): Problem {
  return invalidField(at.slice(0, 200), detail, message);
}
