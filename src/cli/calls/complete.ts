// `qm complete`: the candidates at the cursor, one word a line, for the scripts of `qm completion`. Makes no network requests.
import { Command } from 'commander';
import { fieldsWithin, type JsonSchema } from '../../manifest/json-schema.ts';
import { type Discovery, keptDiscovery } from '../client/discovery.ts';
import { address } from '../client/profile.ts';
import { adminCommands, callingCommands } from '../commands.ts';
import { printable } from '../output.ts';
import { typesOf } from './input.ts';

export function completeCommand(): Command {
  return new Command('complete').argument('[words...]').action(async (words: string[]) => {
    for (const candidate of await candidatesFor(words)) process.stdout.write(`${printable(candidate)}\n`);
  });
}

/** @param words after `qm`; the last one is begun */
async function candidatesFor(words: readonly string[]): Promise<string[]> {
  const begun = words.at(-1) ?? '';
  const all = await offerWords(words.slice(0, -1), begun);
  return [...new Set(all)].filter((candidate) => candidate.startsWith(begun));
}

async function offerWords(before: readonly string[], begun: string): Promise<string[]> {
  const [first, second] = before;
  if (first === undefined)
    return begun.startsWith('-') ? ['--help', '--version'] : [...Object.keys(callingCommands), 'admin'];
  if (first === 'admin' && second === undefined) return Object.keys(adminCommands);
  if (first === 'call' && !begun.startsWith('-')) return inputOf(before.slice(1), begun);
  if (before.at(-1) === '--types') return [...((await readDiscovery())?.events ?? [])];
  const named = first === 'admin' ? adminCommands[second as string] : (callingCommands[first] ?? adminCommands[first]);
  if (named === undefined) return [];
  return wordsOf(await named.load(), before.slice(first === 'admin' ? 2 : 1));
}

/** Subcommands and options of the command that the words lead to, and what its argument may be. */
function wordsOf(command: Command, words: readonly string[]): string[] {
  const at = words.reduce((found, word) => found.commands.find((each) => each.name() === word) ?? found, command);
  const choices = at.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const options = at.options.flatMap(({ long }) => (long == null ? [] : [long]));
  return [...at.commands.map((each) => each.name()), ...choices, ...options, '--help'];
}

/** Names of capabilities, then the fields of the one that is named; of a field with few values these. */
async function inputOf(before: readonly string[], begun: string): Promise<string[]> {
  const capabilities = (await readDiscovery())?.capabilities ?? {};
  const [id] = before;
  if (id === undefined) return Object.keys(capabilities);
  const schema = Object.hasOwn(capabilities, id) ? capabilities[id]?.schema : undefined;
  if (schema === undefined) return [];
  const given = new Set(before.slice(1).map((word) => word.replace(/:?=.*$/s, '')));
  return fieldsWithin(schema).flatMap(({ path, schema: field }) => {
    if (path.includes('[]') || given.has(path)) return [];
    return begun.startsWith(`${path}=`) ? valuesOf(field).map((value) => `${path}=${value}`) : [`${path}=`];
  });
}

function valuesOf(schema: JsonSchema): string[] {
  if (schema.enum !== undefined) return schema.enum.map(String);
  return typesOf(schema).has('boolean') ? ['true', 'false'] : [];
}

async function readDiscovery(): Promise<Discovery | null> {
  return keptDiscovery(await address());
}
