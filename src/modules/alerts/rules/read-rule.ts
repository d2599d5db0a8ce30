// What is looked at, as a call sends it: the source, its fields and the bounds, checked as the source itself checks its questions.
import { scopesAllow } from '../../../core/callers/scopes.ts';
import type { BoundAlertSource } from '../../../kit/alert-source.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { EVERY_SECONDS } from '../limits.ts';
import type { Condition } from '../looks/judge.ts';
import { problem } from '../problems.ts';

export interface SentCondition {
  readonly when: Readonly<Record<string, unknown>>;
  readonly above?: number | null;
  readonly below?: number | null;
  readonly for_seconds?: number;
  readonly keep_firing_seconds?: number;
  readonly every_seconds?: number;
  readonly by?: readonly string[];
}

export interface ReadCondition {
  readonly source: BoundAlertSource;
  /** The fields of the source. */
  readonly fields: unknown;
  readonly above: number | null;
  readonly below: number | null;
  readonly forSeconds: number;
  readonly keepFiringSeconds: number;
  readonly everySeconds: number;
  readonly by: readonly string[];
}

/** Throws VALIDATION_FAILED, INSUFFICIENT_SCOPE, and what the source throws. */
export async function readCondition(ctx: CallContext, sent: SentCondition): Promise<ReadCondition> {
  const { above = null, below = null, by = [] } = sent;
  const [name = ''] = Object.keys(sent.when);
  const source = ctx.core.alertSources.get(name);
  if (source === undefined)
    throw invalidField('when', 'enum', `when names one of ${[...ctx.core.alertSources.keys()].join(', ')}.`);
  requireReader(ctx, source);
  if (above !== null && below !== null)
    throw invalidField('below', 'one_of', 'Send above or below, not both: a rule for each.');
  requireLabels(source, by);
  const fields = sent.when[name];
  try {
    ctx.warnings.push(...(await source.check(ctx, { when: fields, by })));
  } catch (error) {
    throw error instanceof Problem ? within(error, `when.${name}`) : error;
  }
  const { for_seconds: forSeconds = 0, every_seconds: everySeconds = EVERY_SECONDS.usual } = sent;
  const { keep_firing_seconds: keepFiringSeconds = 0 } = sent;
  return { source, fields, above, below, forSeconds, keepFiringSeconds, everySeconds, by };
}

/** A rule tells what it looks at: it needs the right to. */
function requireReader({ core, principal }: CallContext, { name, capability }: BoundAlertSource): void {
  const kind = core.knownScopes.kinds.get(capability) ?? 'admin';
  if (scopesAllow(principal.scopes, capability, kind)) return;
  throw problem('INSUFFICIENT_SCOPE', {
    param: `when.${name}`,
    message: `A rule of ${name} needs the scope of ${capability}, which answers the same.`,
  });
}

function requireLabels({ name, by: known }: BoundAlertSource, by: readonly string[]): void {
  const at = known === null ? -1 : by.findIndex((label) => !known.includes(label));
  if (at === -1) return;
  const words =
    known?.length === 0
      ? `A rule of ${name} has one series: leave by out.`
      : `by of ${name} takes ${known?.join(', ')}.`;
  throw invalidField(`by[${at}]`, 'enum', words);
}

/** What the source found wrong with a field, by its place in the call. */
function within(error: Problem, path: string): Problem {
  const { code, entry, message, detail, param, didYouMean, errors } = error;
  if (param === 'by') return error;
  const place = (name: string | undefined) => (name === undefined ? path : `${path}.${name}`);
  return new Problem(code, entry, {
    message,
    didYouMean,
    param: place(param),
    ...(detail === undefined ? {} : { detail }),
    ...(errors === undefined ? {} : { errors: errors.map((each) => ({ ...each, param: place(each.param) })) }),
    cause: error,
  });
}

/** As the looks judge by it. */
export function conditionOf({ source, above, below, by, ...read }: ReadCondition): Condition {
  const [forMs, keepMs] = [read.forSeconds * 1_000, read.keepFiringSeconds * 1_000];
  return { above, below, forMs, keepMs, by, firesWhenThere: source.firesWhenThere === true };
}
