// The main content of a page. Chrome goes first; then the page says itself where its content is, or Readability is asked, whose answer alone
// loses tables, prices and posts: what it leaves out stays where it looks like content.
import { Readability } from '@mozilla/readability';
import { childrenOf, isMain, withoutChrome } from './chrome.ts';
import { type Measure, type Measures, NOTHING } from './measure.ts';
import { emptyDocument, type Parsed } from './parse.ts';
import type { Element } from './tree.ts';

/** The smallest part of the page's text that its main content may have. */
const SHARE_MIN = 0.5;
/** Readability's answer says where the content is only when it has so much of the text. */
const VOTE_MIN = 0.35;

export function mainOf({ body }: Parsed): Element {
  const measures = withoutChrome(body);
  const total = measures.get(body)?.text ?? 0;
  const named = namedMain(body, measures, total);
  if (named !== null) return named;
  const core = coreOf(body, total);
  return core === null ? body : withoutEdges(body, core, measures);
}

/** Where the page says it is: `<main>`, or its only article. */
function namedMain(body: Element, measures: Measures, total: number): Element | null {
  const mains = [...body.querySelectorAll('main,[role=main]')];
  const articles = [...body.querySelectorAll('article')].filter(
    (each) => each.parentElement?.closest('article') === null,
  );
  const sizeOf = (element: Element) => measures.get(element)?.text ?? 0;
  const largest = [...mains, ...(articles.length === 1 ? articles : [])].filter(
    (each) => sizeOf(each) >= total * SHARE_MIN,
  );
  return largest.sort((a, b) => sizeOf(a) - sizeOf(b))[0] ?? null;
}

/** The smallest element that holds all that Readability keeps; null when it keeps too little to tell. */
function coreOf(body: Element, total: number): Element | null {
  const byNumber = new Map<string, Element>();
  for (const element of body.querySelectorAll('p,li,td,pre,h1,h2,h3,h4,dd,blockquote')) {
    byNumber.set(String(byNumber.size), element);
    element.setAttribute('data-n', String(byNumber.size - 1));
  }
  const document = emptyDocument();
  document.body.append(...childrenOf(body).map((child) => child.cloneNode(true)));
  const article = new Readability(document as never, {
    charThreshold: 200,
    keepClasses: true,
    serializer: (node) => node,
  }).parse();
  const kept = article?.content as unknown as Element | undefined;
  const numbers =
    kept === undefined ? [] : [...kept.querySelectorAll('[data-n]')].map((each) => each.getAttribute('data-n'));
  for (const element of byNumber.values()) element.removeAttribute('data-n');
  if ((article?.length ?? 0) < total * VOTE_MIN) return null;
  return commonParent(numbers.flatMap((number) => byNumber.get(number ?? '') ?? []));
}

function commonParent([first, ...others]: readonly Element[]): Element | null {
  const path = first === undefined ? [] : pathOf(first);
  let depth = path.length - 1;
  for (const other of others) {
    const its = pathOf(other);
    while (depth >= 0 && its[depth] !== path[depth]) depth -= 1;
  }
  return path[depth] ?? null;
}

/** From the root down to its parent. */
function pathOf(element: Element): Element[] {
  const path: Element[] = [];
  for (let at = element.parentElement; at !== null; at = at.parentElement) path.push(at);
  return path.reverse();
}

/** Beside the core only what looks like content stays. */
function withoutEdges(body: Element, core: Element, measures: Measures): Element {
  for (let at = core; at !== body && at.parentElement !== null; at = at.parentElement)
    for (const beside of childrenOf(at.parentElement)) {
      if (beside !== at && !looksLikeContent(beside, measures.get(beside) ?? NOTHING)) beside.remove();
    }
  return body;
}

function looksLikeContent(element: Element, size: Measure): boolean {
  if (isMain(element) || size.headings > 0 || size.code > 0 || size.cells >= 4) return true;
  if (/^h[1-6]$/.test(element.localName)) return true;
  return size.text >= 80 && size.linked < size.text * 0.4;
}
