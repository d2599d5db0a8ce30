// A flag definition of flagd (https://flagd.dev/schema/v0/flags.json), as import reads it and export writes it.
import { invalidField } from '../../../problems/problem.ts';
import { EVALUATORS_MAX, RULE } from '../limits.ts';
import {
  checkedFlag,
  checkMetadata,
  definitionOf,
  type FlagRow,
  keyForm,
  type Members,
  type NewFlag,
  typeOf,
} from './flag.ts';

export interface FlagdFile {
  readonly flags: Members;
  readonly $evaluators?: Members;
  readonly metadata?: Members;
  readonly replace?: boolean;
}

const KEY = new RegExp(keyForm.pattern);
const DESCRIPTION = /^[^\p{Cc}\p{Cs}]{1,500}$/u;

export function flagdFlag(row: FlagRow) {
  const { variants, targeting, metadata } = definitionOf(row);
  const description = row.description === null ? {} : { description: row.description };
  return {
    ...{ state: row.enabled ? 'ENABLED' : 'DISABLED', variants, defaultVariant: row.default_variant, targeting },
    metadata: { ...metadata, ...description },
  };
}

/** Throws VALIDATION_FAILED that names the flag and the field. */
export function readFlagd({ flags, $evaluators = {}, metadata, replace = false }: FlagdFile) {
  if (Object.keys($evaluators).length > EVALUATORS_MAX)
    throw invalidField('$evaluators', 'count', `There are at most ${EVALUATORS_MAX} evaluators.`);
  if (metadata !== undefined) checkMetadata(metadata, 'metadata');
  const read = Object.entries(flags).map(([key, flag]) => readFlag(key, flag, $evaluators));
  return { flags: read, metadata: metadata ?? null, replace };
}

function readFlag(key: string, sent: unknown, evaluators: Members): NewFlag {
  const at = `flags.${key.slice(0, 128)}`;
  if (!KEY.test(key)) throw invalidField(at, 'pattern', keyForm.description);
  const { state, variants, defaultVariant, targeting, metadata = {} } = membersOf(sent, at);
  if (state !== 'ENABLED' && state !== 'DISABLED')
    throw invalidField(`${at}.state`, 'enum', 'The state of a flag is ENABLED or DISABLED.');
  if (typeof (defaultVariant ?? '') !== 'string')
    throw invalidField(`${at}.defaultVariant`, 'type', 'defaultVariant is the name of a variant.');
  const values = membersOf(variants, `${at}.variants`);
  const type = typeOf(Object.values(values)[0]);
  if (type === null)
    throw invalidField(`${at}.variants`, 'type', 'A flag has variants of one type: boolean, string, number or object.');
  const { description, ...others } = membersOf(metadata, `${at}.metadata`);
  const isText = typeof description === 'string' && DESCRIPTION.test(description);
  const rule = withEvaluators(targeting ?? {}, evaluators, `${at}.targeting`);
  return checkedFlag(
    {
      ...{ key, type, enabled: state === 'ENABLED', default_variant: (defaultVariant as string | null) || null },
      ...{ variants: values, targeting: membersOf(rule, `${at}.targeting`) },
      ...(isText ? { description, metadata: others } : { metadata: metadata as Members }),
    },
    `${at}.`,
  );
}

function membersOf(value: unknown, param: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw invalidField(param, 'type', 'This must be a JSON object.');
}

/** The rule with evaluators in the place of references to them, within bounds: some that name one another twice would double at each level. */
function withEvaluators(rule: unknown, evaluators: Members, param: string): unknown {
  let parts = 0;
  const put = (part: unknown, depth: number): unknown => {
    parts += 1;
    if (parts > RULE.nodesMax || depth > 2 * RULE.depthMax)
      throw invalidField(param, 'too_complex', `With its evaluators a rule has at most ${RULE.nodesMax} parts.`);
    if (part === null || typeof part !== 'object') return part;
    if (Array.isArray(part)) return part.map((each) => put(each, depth + 1));
    const { $ref: name, ...others } = part as Members;
    if (typeof name !== 'string' || Object.keys(others).length > 0)
      return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, put(each, depth + 1)]));
    if (Object.hasOwn(evaluators, name)) return put(evaluators[name], depth + 1);
    const message = `There is no evaluator ${JSON.stringify(name.slice(0, 100))} in $evaluators.`;
    throw invalidField(param, 'unknown_evaluator', message);
  };
  return put(rule, 0);
}
