// Which documents /llms/ has: one for each module, and one for each part of a module that would be too long.
import type { Module, ModulePart } from '../../../kit/module.ts';
import type { Manifest } from '../../../manifest/manifest.ts';

export function shownModules({ modules }: Manifest): readonly Module[] {
  return modules.filter(({ capabilities }) => capabilities.length > 0);
}

/** As modules, the module itself first, without what its parts have. */
export function documentsOf(module: Module): readonly Module[] {
  const { parts = [] } = module;
  const ofParts = parts.map((part) => partOf(module, part));
  const inParts = new Set(ofParts.flatMap(({ capabilities }) => capabilities));
  const rest = module.capabilities.filter((capability) => !inParts.has(capability));
  return parts.length === 0 ? [module] : [{ ...module, capabilities: rest }, ...ofParts];
}

/** Its errors are those that its calls name. */
function partOf({ capabilities, status }: Module, { name, summary, shownBy }: ModulePart): Module {
  return { name, summary, status, shownBy, capabilities: capabilities.filter(({ id }) => id.startsWith(`${name}.`)) };
}
