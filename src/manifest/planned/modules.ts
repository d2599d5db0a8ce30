// Modules of the specification that are not built: a call of one is told so, and not that its name is a typo.
import { type Problem, problem } from '../../problems/problem.ts';
import { moduleTags } from '../version.ts';

/** Their names: the first segment of a path below /v1, or of a capability id. */
export function plannedModules(built: readonly { readonly name: string }[]): ReadonlySet<string> {
  const names = new Set(built.map(({ name }) => name));
  // One tag is no name: "ai (chat-completions-compatible)".
  return new Set(moduleTags.filter((tag) => /^[a-z]+$/.test(tag) && !names.has(tag)));
}

export function notBuilt(module: string): Problem {
  return problem('CAPABILITY_NOT_FOUND', {
    detail: 'planned',
    message: `The module ${module} is planned and not available here.`,
  });
}
