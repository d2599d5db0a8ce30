// Modules as agents read them: whole, or in parts where a module would be too long. Each part has a document at /llms/ and a list of tools at /mcp/.
import type { Module, ModulePart } from '../kit/module.ts';
import type { Manifest } from './manifest.ts';

export function shownModules({ modules }: Manifest): readonly Module[] {
  return modules.filter(({ capabilities }) => capabilities.length > 0);
}

/** As modules, the module itself first, without what its parts have. */
export function partsOf(module: Module): readonly Module[] {
  const { parts = [] } = module;
  const further = parts.map((part) => partOf(module, part));
  const inParts = new Set(further.flatMap(({ capabilities }) => capabilities));
  const rest = module.capabilities.filter((capability) => !inParts.has(capability));
  return parts.length === 0 ? [module] : [{ ...module, capabilities: rest }, ...further];
}

/** Its errors are those that its calls name. */
function partOf({ capabilities, status }: Module, { name, summary, shownBy }: ModulePart): Module {
  return { name, summary, status, shownBy, capabilities: capabilities.filter(({ id }) => id.startsWith(`${name}.`)) };
}
