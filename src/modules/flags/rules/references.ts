// flagd's `$evaluators`: rules that others name by `{"$ref": "…"}`. Each is put in its places when flags are imported, within the bounds of a rule:
// evaluators that name one another twice would else double at each level.
import { invalidField } from '../../../problems/problem.ts';
import { RULE } from '../limits.ts';

type Evaluators = Readonly<Record<string, unknown>>;

/** The rule without references. Throws VALIDATION_FAILED. */
export function withoutReferences(rule: unknown, evaluators: Evaluators, param: string): unknown {
  const counted = { parts: 0 };
  const put = (part: unknown, depth: number): unknown => {
    counted.parts += 1;
    if (counted.parts > RULE.nodesMax || depth > 2 * RULE.depthMax)
      throw invalidField(param, 'too_complex', `With its evaluators a rule has at most ${RULE.nodesMax} parts.`);
    if (part === null || typeof part !== 'object') return part;
    if (Array.isArray(part)) return part.map((each) => put(each, depth + 1));
    const name = referenceOf(part);
    if (name === null)
      return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, put(each, depth + 1)]));
    if (!Object.hasOwn(evaluators, name))
      throw invalidField(
        param,
        'unknown_evaluator',
        `There is no evaluator ${JSON.stringify(name.slice(0, 100))} in $evaluators.`,
      );
    return put(evaluators[name], depth + 1);
  };
  return put(rule, 0);
}

function referenceOf(part: object): string | null {
  const [name, ...more] = Object.keys(part);
  const value = (part as Evaluators).$ref;
  return name === '$ref' && more.length === 0 && typeof value === 'string' ? value : null;
}
