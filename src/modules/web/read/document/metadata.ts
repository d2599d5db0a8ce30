// Page metadata: title, author, language and description. JSON-LD fills gaps that `<meta>` leaves.
import type { Parsed } from './parse.ts';

const LENGTH_MAX = 1_000;
const JSON_NODES_MAX = 2_000;
/** Types of schema.org whose name is the page's. */
const ABOUT = /(?:Article|Posting|Product|Recipe|Event|WebPage|Course|Report|Book|Movie|Question|Dataset)$/;

export interface Metadata {
  readonly title: string | null;
  readonly byline: string | null;
  readonly language: string | null;
  readonly description: string | null;
}

export function metadataOf({ title, language, meta, json, body }: Parsed): Metadata {
  const data = json.map(parseJson).flatMap(thingsOf).filter(isAbout);
  const of = (...names: readonly string[]) =>
    names.map((name) => metadataText(meta.get(name))).find((value) => value !== null) ?? null;
  const firstStated = (name: string) =>
    data.map((thing) => metadataText(thing[name])).find((value) => value !== null) ?? null;
  const author = data.map(({ author: by }) => namesOf(by)).find((names) => names !== null) ?? null;
  const heading = metadataText(body.querySelector('h1')?.textContent);
  return {
    title:
      of('citation_title', 'og:title', 'twitter:title', 'dc.title') ??
      firstStated('headline') ??
      metadataText(title) ??
      firstStated('name') ??
      heading,
    byline:
      of('author', 'citation_author', 'dc.creator', 'parsely-author', 'sailthru.author') ?? author ?? bylineOf(body),
    language: tagOf(language ?? of('content-language', 'og:locale', 'dc.language') ?? firstStated('inLanguage')),
    description:
      of('description', 'og:description', 'twitter:description', 'dc.description') ?? firstStated('description'),
  };
}

type Thing = Readonly<Record<string, unknown>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Objects of a graph, without their parts. Goes without recursion. */
function thingsOf(value: unknown): Thing[] {
  const waiting = [value];
  const things: Thing[] = [];
  for (let seen = 0; waiting.length > 0 && seen < JSON_NODES_MAX; seen += 1) {
    const next = waiting.shift();
    if (Array.isArray(next)) waiting.push(...next.slice(0, JSON_NODES_MAX));
    else if (typeof next === 'object' && next !== null) {
      things.push(next as Thing);
      const { '@graph': graph, mainEntity } = next as Thing;
      waiting.push(...[graph, mainEntity].filter((part) => part !== undefined));
    }
  }
  return things;
}

const isAbout = ({ '@type': type }: Thing) =>
  [type].flat().some((each) => typeof each === 'string' && ABOUT.test(each));

function namesOf(value: unknown): string | null {
  const names = [value]
    .flat()
    .map((each) => metadataText(typeof each === 'object' && each !== null ? (each as Thing).name : each));
  const known = names.filter((name) => name !== null).slice(0, 10);
  return known.length === 0 ? null : known.join(', ');
}

function bylineOf(body: Parsed['body']): string | null {
  const byline = body.querySelector('[rel=author],[itemprop=author],.byline,.author')?.textContent;
  const text = metadataText(byline);
  return text === null || text.length > 100 ? null : text.replace(/^by\s+/i, '');
}

function metadataText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .slice(0, 4 * LENGTH_MAX)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, LENGTH_MAX);
  return text === '' ? null : text;
}

function tagOf(language: string | null): string | null {
  const tag = language?.split(',')[0]?.trim().replaceAll('_', '-') ?? '';
  return /^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}$/i.test(tag) ? tag : null;
}
