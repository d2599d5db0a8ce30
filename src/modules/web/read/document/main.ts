// Main content of a page. Chrome is removed first; then the page's own markup, or Readability, locates the content. Readability alone loses
// tables, prices and posts: parts that it leaves out stay if they look like content.
import { Readability } from '@mozilla/readability';
import { childrenOf, isMain, withoutChrome } from './chrome.ts';
import { type Measure, type Measures, NOTHING } from './measure.ts';
import { emptyDocument, type Parsed } from './parse.ts';
import type { Element } from './tree.ts';

/** The smallest part of the page's text that its main content may have. */
const SHARE_MIN = 0.5;
/** Readability's answer says where the content is only when it has so much of the text. */
const VOTE_MIN = 0.35;
/** It takes some 50 µs for each: of larger pages names and roles alone tell. */
const VOTE_ELEMENTS_MAX = 15_000;

/** Of which nothing is left out. */
const PARTS = /^(?:table|thead|tbody|tfoot|tr|ul|ol|li|dl|p|pre|blockquote)$/;

export function mainOf(page: Parsed): Element {
  const { body } = page;
  const isArticle = saysArticle(page);
  const measures = withoutChrome(body, isArticle);
  const total = measures.get(body)?.text ?? 0;
  const named = namedMain(body, measures, total);
  if (named !== null && !isArticle) return withoutLists(named, measures);
  const core = page.elements > VOTE_ELEMENTS_MAX ? null : coreOf(body, measures);
  const root = named !== null && (core === null || holds(named, core)) ? named : body;
  if (core !== null) withoutEdges(root, core, measures, isArticle);
  return withoutLists(root, measures);
}

const holds = (element: Element, within: Element) => element === within || pathOf(within).includes(element);

/** By what it says to those who share it, or to search engines. */
function saysArticle({ meta, json }: Parsed): boolean {
  if (json.some((text) => /"@type"\s*:\s*"(?:QAPage|DiscussionForumPosting|Product)"/.test(text))) return false;
  return (
    meta.get('og:type') === 'article' || json.some((text) => /"@type"\s*:\s*"(?:\w*Article|BlogPosting)"/.test(text))
  );
}

/** Where the page says it is: `<main>`, or its only article. */
function namedMain(body: Element, measures: Measures, total: number): Element | null {
  const mains = [...body.querySelectorAll('main,[role=main]')];
  const articles = [...body.querySelectorAll('article')].filter((each) => !each.parentElement?.closest('article'));
  const sizeOf = (element: Element) => measures.get(element)?.text ?? 0;
  const large = [...mains, ...(articles.length === 1 ? articles : [])].filter(
    (each) => sizeOf(each) >= total * SHARE_MIN,
  );
  return large.sort((a, b) => sizeOf(a) - sizeOf(b))[0] ?? null;
}

/** The smallest element that holds all that Readability keeps, and the page's heading if it is near; null when it keeps too little to tell. */
function coreOf(root: Element, measures: Measures): Element | null {
  const total = measures.get(root)?.text ?? 0;
  const numbered: Element[] = [];
  for (const element of root.querySelectorAll('p,li,td,pre,h1,h2,h3,h4,dd,blockquote')) {
    element.setAttribute('data-n', String(numbered.length));
    numbered.push(element);
  }
  const document = emptyDocument();
  for (const child of childrenOf(root)) document.body.appendChild(child.cloneNode(true));
  const options = { charThreshold: 200, keepClasses: true, serializer: (node: unknown) => node as Element };
  const article = new Readability<Element>(document as never, options).parse();
  const kept = article?.content?.querySelectorAll('[data-n]') ?? [];
  const numbers = [...kept].map((each) => Number(each.getAttribute('data-n')));
  for (const element of numbered) element.removeAttribute('data-n');
  if ((article?.length ?? 0) < total * VOTE_MIN) return null;
  let core = commonParent(numbers.flatMap((number) => numbered[number] ?? []));
  while (core !== null && PARTS.test(core.localName)) core = core.parentElement;
  const heading = root.querySelector('h1');
  const near = core === null || heading === null ? null : commonParent([heading, core]);
  return near !== null && near !== root && near.localName !== 'body' && near.parentElement !== root ? near : core;
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

/** Beside the core only what looks like content stays; beside that of an article, no lists of other pages. */
function withoutEdges(root: Element, core: Element, measures: Measures, isArticle: boolean): void {
  for (let at = core; at !== root && at.parentElement !== null; at = at.parentElement)
    for (const beside of childrenOf(at.parentElement)) {
      const size = measures.get(beside) ?? NOTHING;
      if (beside !== at && !(looksLikeContent(beside, size) && !(isArticle && isTeaserList(size)))) beside.remove();
    }
}

function looksLikeContent(element: Element, size: Measure): boolean {
  if (isMain(element) || size.headings > 0 || size.code > 0 || size.cells >= 4) return true;
  if (/^(?:h[1-6]|figure)$/.test(element.localName)) return true;
  return size.text >= 80 && size.linked < size.text * 0.4;
}

const isTeaserList = (size: Measure) =>
  size.headings === 0 && size.code === 0 && (size.teasers >= 2 || size.linked > size.text * 0.25);

/** Lists of links before the first text and after the last: at the level where the page has its blocks, and within the largest of them. */
function withoutLists(root: Element, measures: Measures): Element {
  const sizeOf = (element: Element) => measures.get(element) ?? NOTHING;
  const prose = Math.max(1, sizeOf(root).text - sizeOf(root).linked);
  for (let stage: Element | undefined = root; stage !== undefined; ) {
    const blocks: Element[] = childrenOf(stage);
    const isText = (block: Element) => sizeOf(block).text - sizeOf(block).linked >= Math.max(60, prose * 0.15);
    const [first, last] = [blocks.findIndex(isText), blocks.findLastIndex(isText)];
    if (first === -1) break;
    for (const [at, block] of blocks.entries()) if ((at < first || at > last) && isList(sizeOf(block))) block.remove();
    stage = blocks.find((block) => sizeOf(block).text - sizeOf(block).linked > prose * 0.7);
  }
  return root;
}

const isList = ({ text, linked, links, headings, code, cells }: Measure) =>
  links >= 2 && linked >= text * 0.5 && headings === 0 && code === 0 && cells < 4;
