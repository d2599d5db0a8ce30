// Removal of page chrome: navigation, site headers and footers, notices, advertisements. Elements are recognized by name, role, and words in
// `id` and `class`. A word never removes an element that holds a large part of the page's text.
import { type Measure, type Measures, measuresOf, NOTHING } from './measure.ts';
import { ELEMENT_NODE, type Element } from './tree.ts';
import { wordSet } from './words.ts';

const ROLES = wordSet('navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar');
/** Words that take an element with whatever it holds, up to half of the page. */
const ALWAYS = wordSet(
  'nav navbar navigation sidebar breadcrumb breadcrumbs crumbs cookie cookies consent gdpr newsletter',
  'subscribe subscription share sharing sharedaddy addtoany related recommended recommendations suggestions',
  'similar trending advert advertisement advertising adsense sponsored pagination pager popup modal lightbox',
  'offcanvas drawer megamenu topbar masthead colophon noprint printonly editsection catlinks navbox disqus',
  'skiplink outbrain taboola upsell crosssell footer cta sitenotice announcement jumplink feedback signature',
  'lineno linenos copyright foot',
);
/** Words that take an element of which most is links, or that says little. */
const SOMETIMES = wordSet(
  'header head top menu menus social ad ads banner promo promotion toc popular login signin signup register',
  'search tags tools toolbar widget side bottom links more rail aside sponsor filter filters',
  'facets language lang left right skip jump',
);
const COMMENTS = new Set(['comments', 'comment', 'commentlist', 'respond', 'replies']);
const NOTES = /\b(?:note|tip|info|warning|caution|danger|important|admonition|callout|alert|pull-?quote)/i;
const SHORT = 120;
const ARTICLE_TEXT_MIN = 400;

/** Takes them out. `isArticle`: what readers say below is not its content. Returns the measures of what is left. */
export function withoutChrome(body: Element, isArticle: boolean): Measures {
  const before = measuresOf(body);
  const total = before.get(body) ?? NOTHING;
  prune(body, { measures: before, prose: total.text - total.linked }, false);
  const after = measuresOf(body);
  return withoutComments(body, after, isArticle) ? measuresOf(body) : after;
}

interface Page {
  readonly measures: Measures;
  /** Text that is not linked. */
  readonly prose: number;
}

function prune(element: Element, page: Page, isInMain: boolean): void {
  for (let child = element.firstElementChild; child !== null; ) {
    const next = child.nextElementSibling;
    if (isChrome(child, page, isInMain)) child.remove();
    else prune(child, page, isInMain || isMain(child));
    child = next;
  }
}

export const isMain = (element: Element) =>
  element.localName === 'main' || element.localName === 'article' || element.getAttribute('role') === 'main';

function isChrome(element: Element, page: Page, isInMain: boolean): boolean {
  const size = page.measures.get(element) ?? NOTHING;
  const share = page.prose === 0 ? 0 : (size.text - size.linked) / page.prose;
  if (share > 0.5 || isMain(element)) return false;
  const { localName: name } = element;
  if (name === 'nav' || ROLES.has(element.getAttribute('role') ?? '')) return true;
  if (name === 'footer') return element.closest('blockquote,figure') === null;
  if (name === 'header') return !isInMain && size.headings === 0;
  if (name === 'aside')
    return !(isInMain && NOTES.test(element.getAttribute('class') ?? '') && size.linked < size.text / 2);
  if (/^(?:td|tr|th|tbody|pre|code|p|h[1-6])$/.test(name) && !isLayout(name, size))
    return name !== 'p' && isGutter(element);
  if (name === 'form') return size.headings === 0 && size.cells < 4 && size.text < 2 * SHORT;
  return isNamedSo(element, size, share);
}

const isLayout = (name: string, size: Measure) => name === 'td' && size.links > 2;
const isGutter = (element: Element) =>
  wordsOf(element).some((word) => word === 'lineno' || word === 'linenos' || word === 'gutter');

function isNamedSo(element: Element, size: Measure, share: number): boolean {
  const words = wordsOf(element);
  if (words.length === 0) return false;
  const isLinks = size.links > 0 && size.linked >= size.text / 2;
  const holdsContent = size.headings > 0 || size.code > 0 || size.cells > 8;
  if (words.some(isAlways)) return !holdsContent || isLinks || share < 0.1;
  if (!words.some((word) => SOMETIMES.has(word))) return false;
  return !holdsContent && (isLinks || (size.links > 0 && size.text < SHORT)) && share < 0.25;
}

const isAlways = (word: string) => ALWAYS.has(word) || word.endsWith('nav') || word.startsWith('cookie');

/** Of `id` and `class`: `docSidebar_x1` has doc, sidebar and x. */
function wordsOf(element: Element): string[] {
  const named = `${element.getAttribute('id') ?? ''} ${element.getAttribute('class') ?? ''}`;
  if (named === ' ') return [];
  return named
    .slice(0, 400)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

/** Comments are the content of a page that has little else. */
function withoutComments(body: Element, measures: Measures, isArticle: boolean): boolean {
  const found: Element[] = [];
  const look = (element: Element): void => {
    for (let child = element.firstElementChild; child !== null; child = child.nextElementSibling) {
      if (wordsOf(child).some((word) => COMMENTS.has(word)) && !isMain(child)) found.push(child);
      else look(child);
    }
  };
  look(body);
  const sizes = found.map((element) => measures.get(element)?.text ?? 0);
  const held = sizes.reduce((sum, size) => sum + size, 0);
  const total = measures.get(body)?.text ?? 0;
  if (found.length === 0 || held > (isArticle ? total - ARTICLE_TEXT_MIN : total / 2)) return false;
  for (const element of found) element.remove();
  return true;
}

export function childrenOf(element: Element): Element[] {
  const children: Element[] = [];
  for (let node = element.firstChild; node !== null; node = node.nextSibling)
    if (node.nodeType === ELEMENT_NODE) children.push(node as Element);
  return children;
}
