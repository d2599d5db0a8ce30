// Modules of the specification that are not built: a call of one is told so, and not that its name is a typo.
import { type Problem, problem } from '../../problems/problem.ts';
import { moduleTags } from '../version.ts';

/** First segments below /v1 that belong to the module `ai`, beside its name. */
const AI_SEGMENTS = ['chat'];

/** First segment of a path below /v1, or of a capability id, to the name of its module. */
export function plannedModules(built: readonly { readonly name: string }[]): ReadonlyMap<string, string> {
  const names = new Set(built.map(({ name }) => name));
  // One tag is no name: "ai (chat-completions-compatible)".
  const planned = moduleTags.filter((tag) => /^[a-z]+$/.test(tag) && !names.has(tag));
  const ofAi = planned.includes('ai') ? AI_SEGMENTS : [];
  return new Map([...planned.map((name) => [name, name] as const), ...ofAi.map((segment) => [segment, 'ai'] as const)]);
}

export function notBuilt(module: string): Problem {
  return problem('CAPABILITY_NOT_FOUND', {
    detail: 'planned',
    message: `The module ${module} is planned and not available here.`,
  });
}
