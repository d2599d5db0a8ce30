// What a context may be, whoever sends it: within these bounds every rule that was accepted ends soon (cost.ts).
import { invalidField } from '../../../problems/problem.ts';
import { CONTEXT } from '../limits.ts';

/** Attributes of whom a flag is evaluated for; `targetingKey` names them. */
export type Context = Readonly<Record<string, unknown>>;

/** `characters`: of its JSON. Throws VALIDATION_FAILED. */
export function checkContext(context: Context, characters: number): void {
  if (characters > CONTEXT.bytesMax) throw refusal('bytes', `A context has at most ${CONTEXT.bytesMax} bytes of JSON.`);
  let nodes = 0;
  const visit = (value: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > CONTEXT.nodesMax) throw refusal('members', `A context has at most ${CONTEXT.nodesMax} values.`);
    if (typeof value === 'string' && value.length > CONTEXT.textCharactersMax)
      throw refusal('length', `A text of a context has at most ${CONTEXT.textCharactersMax} characters.`);
    if (typeof value !== 'object' || value === null) return;
    if (depth >= CONTEXT.depthMax)
      throw refusal('depth', `A context is nested at most ${CONTEXT.depthMax} levels deep.`);
    for (const each of Object.values(value)) visit(each, depth + 1);
  };
  visit(context, 0);
}

const refusal = (detail: string, message: string) => invalidField('context', detail, message);
