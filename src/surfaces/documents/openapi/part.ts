// Parts of the OpenAPI document: the operations and events of some modules, with the schemas they refer to, so a part is complete.
// Clients without a key may request any combination: parts are assembled from texts that are rendered once.
import type { Manifest } from '../../../manifest/manifest.ts';
import { unknownModule } from '../discovery-listing.ts';

/** One member of `paths`, `webhooks` or `schemas`. */
interface Piece {
  /** `"name":{…}` */
  readonly text: string;
  /** Names of the schemas that it refers to. */
  readonly refs: ReadonlySet<string>;
}

interface Operation {
  readonly tags: readonly string[];
}

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

/** The modules of `?module=queue,vector`, in the order of the manifest; null: the whole is asked for. Throws VALIDATION_FAILED. */
export function modulesAsked(manifest: Manifest, query: URLSearchParams): readonly string[] | null {
  const sent = new Set(query.getAll('module').flatMap((value) => value.split(',')));
  if (sent.size === 0) return null;
  const names = manifest.modules.filter(({ capabilities }) => capabilities.length > 0).map(({ name }) => name);
  for (const name of sent) if (!names.includes(name)) throw unknownModule(manifest, names, name);
  return names.filter((name) => sent.has(name));
}

/** What writes the part of some modules as JSON text, of the whole document as plain data. */
export function openapiParts(whole: object): (modules: readonly string[]) => string {
  const { tags, paths, webhooks, components, ...head } = whole as Document;
  const { schemas, ...shared } = components;
  const pathsOf = piecesByModule(paths);
  const webhooksOf = piecesByModule(webhooks);
  const schemaPieces = new Map(Object.entries(schemas).map(([name, schema]) => [name, pieceOf(name, schema)]));
  const sharedText = JSON.stringify(shared).slice(0, -1);
  const sharedRefs = refsOf(sharedText);
  return (modules) => {
    const own = (of: ReadonlyMap<string, readonly Piece[]>) => modules.flatMap((module) => of.get(module) ?? []);
    const pieces = { paths: own(pathsOf), webhooks: own(webhooksOf) };
    const needed = reachableSchemas(schemaPieces, [
      sharedRefs,
      ...[...pieces.paths, ...pieces.webhooks].map(({ refs }) => refs),
    ]);
    const start = JSON.stringify({ ...head, tags: tags.filter(({ name }) => modules.includes(name)) }).slice(0, -1);
    const text = (of: readonly Piece[]) => `{${of.map((piece) => piece.text).join()}}`;
    return `${start},"paths":${text(pieces.paths)},"webhooks":${text(pieces.webhooks)},"components":${sharedText},"schemas":${text(needed)}}}`;
  };
}

function piecesByModule(members: Document['paths']): Map<string, readonly Piece[]> {
  const tagged = Object.entries(members).map(([name, item]) => ({
    module: Object.values(item)[0]?.tags[0] ?? '',
    piece: pieceOf(name, item),
  }));
  const groups = Map.groupBy(tagged, ({ module }) => module);
  return new Map([...groups].map(([module, of]) => [module, of.map(({ piece }) => piece)]));
}

function pieceOf(name: string, value: object): Piece {
  const text = JSON.stringify(value);
  return { text: `${JSON.stringify(name)}:${text}`, refs: refsOf(text) };
}

function refsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(REFERENCE)].map(([, name]) => name as string));
}

/** The schemas that are referred to, and those to which these refer, in the order of the document. */
function reachableSchemas(schemas: ReadonlyMap<string, Piece>, from: readonly ReadonlySet<string>[]): Piece[] {
  const names = new Set(from.flatMap((refs) => [...refs]));
  // A set that grows is walked to its new end.
  for (const name of names) for (const further of schemas.get(name)?.refs ?? []) names.add(further);
  return [...schemas].flatMap(([name, piece]) => (names.has(name) ? [piece] : []));
}
