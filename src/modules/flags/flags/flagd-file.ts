// A flag definition of flagd (https://flagd.dev/schema/v0/flags.json), as import reads it.
import { invalidField } from '../../../problems/problem.ts';
import { EVALUATORS_MAX, KEY_PATTERN } from '../limits.ts';
import { withoutReferences } from '../rules/references.ts';
import { checkedFlag, checkMetadata, kindOf, type NewFlag } from './definition.ts';

type Members = Readonly<Record<string, unknown>>;

export interface FlagdFile {
  readonly flags: Members;
  readonly $evaluators?: Members;
  readonly metadata?: Members;
}

const KEY = new RegExp(KEY_PATTERN);
const DESCRIPTION = /^[^\p{Cc}\p{Cs}]{1,500}$/u;

/** Throws VALIDATION_FAILED that names the flag and the field. */
export function readFlagd({ flags, $evaluators = {}, metadata }: FlagdFile): {
  readonly flags: readonly NewFlag[];
  readonly metadata: Members | null;
} {
  if (Object.keys($evaluators).length > EVALUATORS_MAX)
    throw invalidField('$evaluators', 'count', `There are at most ${EVALUATORS_MAX} evaluators.`);
  if (metadata !== undefined) checkMetadata(metadata, 'metadata');
  return {
    flags: Object.entries(flags).map(([key, flag]) => readFlag(key, flag, $evaluators)),
    metadata: metadata ?? null,
  };
}

function readFlag(key: string, sent: unknown, evaluators: Members): NewFlag {
  const at = `flags.${key.slice(0, 128)}`;
  if (!KEY.test(key))
    throw invalidField(at, 'pattern', 'A key has letters, digits, `.`, `_`, `~`, `-` and `:`, up to 128.');
  const { state, variants, defaultVariant = null, targeting, metadata = {} } = membersOf(sent, at);
  if (state !== 'ENABLED' && state !== 'DISABLED')
    throw invalidField(`${at}.state`, 'enum', 'The state of a flag is ENABLED or DISABLED.');
  if (defaultVariant !== null && typeof defaultVariant !== 'string')
    throw invalidField(`${at}.defaultVariant`, 'type', 'defaultVariant is the name of a variant.');
  const values = membersOf(variants, `${at}.variants`);
  const kind = kindOf(Object.values(values)[0]);
  if (kind === null)
    throw invalidField(`${at}.variants`, 'type', 'A flag has variants of one type: boolean, string, number or object.');
  const { description, ...own } = membersOf(metadata, `${at}.metadata`);
  const isText = typeof description === 'string' && DESCRIPTION.test(description);
  const rule = withoutReferences(targeting ?? {}, evaluators, `${at}.targeting`);
  return checkedFlag(
    {
      ...{ key, kind, enabled: state === 'ENABLED', default_variant: defaultVariant === '' ? null : defaultVariant },
      ...{ variants: values, targeting: membersOf(rule, `${at}.targeting`) },
      ...{
        description: isText ? description : null,
        metadata: isText || description === undefined ? own : { ...own, description },
      },
    },
    `${at}.`,
  );
}

function membersOf(value: unknown, param: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw invalidField(param, 'type', 'This must be a JSON object.');
}
