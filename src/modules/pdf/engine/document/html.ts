// Prepares HTML for the document engine: removes scripts and elements that have no place on paper, inlines style sheets, and bounds the size of
// a document. Names of what is left out go to `ignored`.
import { parseHTML } from 'linkedom';
import { Refused } from '../refused.ts';
import type { Asset, MarginLine } from '../wire.ts';
import { applySheets, knownStyle, variablesOf } from './css.ts';
import type { Document, Element } from './dom.ts';
import { squareTables } from './tables.ts';

const DEPTH_MAX = 150;
const ELEMENTS_MAX = 100_000;
/** More columns have no room on paper. */
const SPAN_MAX = { colspan: 30, rowspan: 100 };
const MARGIN_HTML_CHARACTERS_MAX = 100_000;
/** What may not stay: it runs, loads, or is read by the layout as orders of its own. */
const REMOVED =
  'script,style,link,meta,iframe,frame,object,embed,applet,template,noscript,base,audio,video,canvas,dialog';
const MISSED = [
  'script',
  'iframe',
  'object',
  'embed',
  'canvas',
  'video',
  'audio',
  'form',
  'input',
  'textarea',
  'select',
];
/** Inside SVG: what loads, and what draws HTML. */
const REMOVED_FROM_SVG = 'image,foreignObject,script,style,animate,set,animateTransform,animateMotion';

export function readHtml(content: string, ignored: Set<string>, assets: readonly Asset[] = []): Document {
  const isWhole = /<html[\s>]/i.test(content.slice(0, 10_000)) || /<body[\s>]/i.test(content);
  const whole = isWhole ? content : `<!doctype html><html><head></head><body>${content}</body></html>`;
  refuseDeep(whole);
  const { document } = parseHTML(whole) as unknown as { document: Document };
  if (document.body === null) throw new Refused('content', 'empty', 'The content has nothing to print.');
  linkSheets(document, assets);
  clean(document, ignored);
  return document;
}

/** Style sheets that came with the content stand in it. */
function linkSheets(document: Document, assets: readonly Asset[]): void {
  for (const link of [...document.querySelectorAll('link[rel=stylesheet]')]) {
    const asset = assets.find(({ name }) => name === link.getAttribute('href')?.replace(/^\.\//, ''));
    if (asset === undefined) continue;
    const style = document.createElement('style');
    style.textContent = Buffer.from(asset.bytes).toString('utf8');
    link.replaceWith(style);
  }
}

/** A line above or below pages, of HTML: its words. */
export function marginText(line: MarginLine): string | null {
  if ('text' in line) return line.text;
  const numbered = line.html
    .slice(0, MARGIN_HTML_CHARACTERS_MAX)
    .replaceAll(/<(\w+)[^<>]*class=["']?[^"'<>]*pageNumber[^<>]*><\/\1>/g, '{page}')
    .replaceAll(/<(\w+)[^<>]*class=["']?[^"'<>]*totalPages[^<>]*><\/\1>/g, '{pages}');
  const { document } = parseHTML(`<!doctype html><html><body>${numbered}</body></html>`) as unknown as {
    document: Document;
  };
  for (const element of [...document.querySelectorAll('style,script,title')]) element.remove();
  return document.body.textContent?.replaceAll(/\s+/g, ' ').trim() || null;
}

/** Before a tree is made of it. Tags that nothing closes count until their end at the latest: `<p>` and the like are closed by the next. */
function refuseDeep(content: string): void {
  let depth = 0;
  let elements = 0;
  for (const [, slash, name = ''] of content.matchAll(/<(\/?)([a-z][a-z0-9-]{0,30})/gi)) {
    if (
      /^(?:p|li|td|th|tr|dt|dd|option|br|hr|img|input|meta|link|col|area|base|wbr|source|embed|path|rect|circle|line|use)$/i.test(
        name,
      )
    ) {
      elements += 1;
      continue;
    }
    if (slash === '/') depth = Math.max(0, depth - 1);
    else depth += 1;
    elements += 1;
    if (depth > DEPTH_MAX * 4) break;
    if (elements > ELEMENTS_MAX) break;
  }
  if (elements > ELEMENTS_MAX)
    throw new Refused('content', 'too_complex', `The content has more than ${ELEMENTS_MAX} elements.`);
  if (depth > DEPTH_MAX * 4)
    throw new Refused('content', 'too_complex', `The content is nested deeper than ${DEPTH_MAX} levels.`);
}

function clean(document: Document, ignored: Set<string>): void {
  const sheets = [...document.querySelectorAll('style')].map((sheet) => sheet.textContent ?? '');
  for (const name of MISSED) if (firstOf(document, name)) ignored.add(name);
  if (firstOf(document, 'link[rel=stylesheet]')) ignored.add('link');
  for (const element of [...document.querySelectorAll(REMOVED)]) element.remove();
  const variables = variablesOf(sheets);
  const bySheets = applySheets(document, sheets, ignored);
  for (const element of document.querySelectorAll('*')) {
    requireShallow(element);
    if (element.closest('svg') === null) tidy(element, bySheets.get(element) ?? [], variables, ignored);
  }
  for (const svg of document.querySelectorAll('svg')) tidySvg(svg);
  squareTables(document);
  dropBlanks(document.body);
}

const BLOCK =
  /^(?:ADDRESS|ARTICLE|ASIDE|BLOCKQUOTE|BODY|DD|DETAILS|DIV|DL|DT|FIELDSET|FIGCAPTION|FIGURE|FOOTER|FORM|H[1-6]|HEADER|HR|LI|MAIN|NAV|OL|P|PRE|SECTION|SUMMARY|SVG|TABLE|TBODY|TD|TFOOT|TH|THEAD|TR|UL)$/;
const TEXT_NODE = 3;

/** Blanks between blocks are no lines. Goes without recursion. */
function dropBlanks(body: Element): void {
  const waiting: TreeNode[] = [body as unknown as TreeNode];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.nodeName === 'PRE' || next.nodeName === 'svg') continue;
    const isBlock = BLOCK.test(next.nodeName);
    const children = [...next.childNodes];
    for (const [at, child] of children.entries()) {
      if (child.nodeType !== TEXT_NODE) waiting.push(child);
      else if (isBlock && /^\s*$/.test(child.textContent ?? '')) {
        const [before, after] = [children[at - 1], children[at + 1]];
        const isEdge = [before, after].some(
          (beside) => beside === undefined || BLOCK.test(beside.nodeName.toUpperCase()),
        );
        if (isEdge) child.remove();
      }
    }
  }
}

interface TreeNode {
  readonly nodeName: string;
  readonly nodeType: number;
  readonly childNodes: Iterable<TreeNode>;
  readonly textContent: string | null;
  remove(): void;
}

function requireShallow(element: Element): void {
  let depth = 0;
  for (let at = element.parentElement; at !== null; at = at.parentElement) depth += 1;
  if (depth > DEPTH_MAX)
    throw new Refused('content', 'too_complex', `The content is nested deeper than ${DEPTH_MAX} levels.`);
}

function tidy(
  element: Element,
  rules: readonly string[],
  variables: ReadonlyMap<string, string>,
  ignored: Set<string>,
): void {
  const declarations = [...rules, element.getAttribute('style') ?? ''].join(';');
  for (const { name } of [...element.attributes])
    if (/^(?:on|data-|style$|class$|size$)/i.test(name)) element.removeAttribute(name);
  for (const name of ['colspan', 'rowspan'] as const) {
    const span = Number(element.getAttribute(name) ?? 1);
    if (span === 1) element.removeAttribute(name);
    else element.setAttribute(name, String(Math.min(SPAN_MAX[name], Math.max(1, Math.trunc(span) || 1))));
  }
  for (const name of ['width', 'height', 'color']) {
    const value = element.getAttribute(name);
    if (value !== null && !/^(?:\d{1,5}(?:px|%)?|#[0-9a-f]{6}|[a-z]{3,20})$/i.test(value))
      element.removeAttribute(name);
  }
  const href = element.getAttribute('href');
  if (href !== null && !/^(?:https?:|mailto:|tel:|#)/i.test(href)) element.removeAttribute('href');
  const style = knownStyle(declarations, variables, ignored);
  if (style !== '') element.setAttribute('style', style);
}

function tidySvg(svg: Element): void {
  for (const element of [...svg.querySelectorAll(REMOVED_FROM_SVG)]) element.remove();
  for (const element of [svg, ...svg.querySelectorAll('*')])
    for (const { name, value } of [...element.attributes])
      if (/^on/i.test(name) || (/href$/i.test(name) && !value.startsWith('#'))) element.removeAttribute(name);
}

function firstOf(document: Document, selector: string): boolean {
  for (const _ of document.querySelectorAll(selector)) return true;
  return false;
}
