// Parses a page into a tree of its body, and the metadata of its head. Scripts, styles, drawings, controls, invisible elements and unused
// attributes never enter the tree. Bounds apply while the tree is built: nothing is first made and then counted.
import { Parser } from 'htmlparser2';
import { parseHTML } from 'linkedom';
import { Refused } from '../refused.ts';
import type { Document, Element } from './tree.ts';
import { wordSet } from './words.ts';

/** Elements beyond are refused: 10 MiB of nothing but `<a>` have a million. */
const ELEMENTS_MAX = 150_000;
/** Brackets that open a tag, and all of them, also within scripts: counted at once, where building a tree to refuse it takes seconds. */
const TAGS_MAX = 500_000;
const BRACKETS_MAX = 1_500_000;
const ATTRIBUTES_MAX = 1_000;
/** No page means longer runs of blanks, and regular expressions of libraries do not like them. */
const BLANKS_MAX = 200;
const LONG_TEXT = 10_000;
/** Deeper ones stand in the tree at this depth, as browsers have it at 512. */
const DEPTH_MAX = 200;
/** Tags that nothing has closed yet; each closing tag looks through them. */
const OPEN_MAX = 1_000;
const LINKS_MAX = 1_000;
const HEAD_CHARACTERS_MAX = 10_000;
const JSON_CHARACTERS_MAX = 262_144;

const SKIPPED = wordSet(
  'script style template svg iframe frame frameset object embed applet canvas audio video link source track',
  'input select textarea datalist map dialog progress meter',
);
const TRANSPARENT = new Set(['html', 'head', 'body', 'template']);
const KEPT = wordSet(
  'id class role lang dir title alt itemprop datetime cite aria-label colspan rowspan scope align start',
  'value reversed open width height data-lang data-language data-code-language',
);
const LAZY_SOURCES = ['data-src', 'data-original', 'data-lazy-src'];
const SCRIPT_TYPES = /^(?:|module|(?:text|application)\/(?:java|ecma)script.*)$/i;
const HEADINGS = /^(?:h[1-6]|dt|summary)$/;
/** Shown by a click: they are content all the same. */
const SHOWN_LATER = /(?:^|[^a-z])(?:tab(?:s|bed)?|accordion|collapse|collapsible|faq|panel|spoiler)(?![a-z])/i;

export interface Parsed {
  readonly document: Document;
  readonly body: Element;
  readonly title: string;
  readonly language: string | null;
  readonly direction: string | null;
  /** Of `<meta>`: by `name`, `property` or `itemprop`, in lower case; the first of each. */
  readonly meta: ReadonlyMap<string, string>;
  /** Texts of `application/ld+json`. */
  readonly json: readonly string[];
  readonly links: readonly string[];
  readonly elements: number;
  /** Scripts that run: not data in a script element. */
  readonly scripts: number;
}

type Attributes = Readonly<Record<string, string>>;

export function parse(html: string, url: string): Parsed {
  refuseCrowded(html);
  const builder = new Builder(url);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => builder.open(name, attributes),
      onclosetag: () => builder.close(),
      onattribute: () => builder.attribute(),
      ontext: (text) => builder.text(text),
    },
    { decodeEntities: true, lowerCaseAttributeNames: true },
  );
  parser.end(html);
  return builder.finish();
}

function refuseCrowded(html: string): void {
  let [tags, brackets] = [0, 0];
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    brackets += 1;
    const letter = html.charCodeAt(at + 1) | 32;
    if (letter > 96 && letter < 123) tags += 1;
    if (tags > TAGS_MAX || brackets > BRACKETS_MAX)
      throw new Refused('too_complex', `The page has more than ${TAGS_MAX} tags.`);
  }
}

export function emptyDocument(): Document {
  return parseHTML('<!doctype html><html><head></head><body></body></html>').document as unknown as Document;
}

class Builder {
  readonly #document = emptyDocument();
  readonly #meta = new Map<string, string>();
  readonly #links = new Set<string>();
  readonly #json: string[] = [];
  readonly #open: Element[] = [];
  #base: string;
  #at: Element = this.#document.body;
  #pending = '';
  #elements = 0;
  #attributes = 0;
  #scripts = 0;
  /** Levels within an element that is left out. */
  #skipped = 0;
  #headings = 0;
  /** What text is collected into that is no part of the tree. */
  #collecting: 'title' | 'json' | null = null;
  #title = '';
  #language: string | null = null;
  #direction: string | null = null;

  constructor(url: string) {
    this.#base = url;
  }

  attribute(): void {
    this.#attributes += 1;
    if (this.#attributes > ATTRIBUTES_MAX)
      throw new Refused('too_complex', `An element of the page has more than ${ATTRIBUTES_MAX} attributes.`);
  }

  open(name: string, attributes: Attributes): void {
    this.#elements += 1;
    this.#attributes = 0;
    if (this.#elements > ELEMENTS_MAX)
      throw new Refused('too_complex', `The page has more than ${ELEMENTS_MAX} elements.`);
    if (this.#open.length + this.#skipped >= OPEN_MAX)
      throw new Refused('too_complex', `The page is nested deeper than ${OPEN_MAX} levels.`);
    if (this.#skipped > 0) {
      this.#skipped += 1;
      return;
    }
    this.#readHead(name, attributes);
    if (this.#isSkipped(name, attributes)) {
      this.#skipped = 1;
      return;
    }
    this.#flush();
    this.#open.push(this.#at);
    if (TRANSPARENT.has(name) || this.#open.length > DEPTH_MAX) return;
    if (HEADINGS.test(name)) this.#headings += 1;
    const element = this.#document.createElement(name);
    this.#describe(element, name, attributes);
    this.#at.appendChild(element);
    this.#at = element;
  }

  close(): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      if (this.#skipped === 0) this.#collecting = null;
      return;
    }
    this.#flush();
    if (HEADINGS.test(this.#at.localName)) this.#headings = Math.max(0, this.#headings - 1);
    this.#at = this.#open.pop() ?? this.#document.body;
  }

  text(text: string): void {
    if (this.#collecting === 'title') this.#title += this.#title.length < HEAD_CHARACTERS_MAX ? text : '';
    else if (this.#collecting === 'json') this.#json[this.#json.length - 1] += text;
    if (this.#skipped === 0) this.#pending += text;
  }

  finish(): Parsed {
    this.#flush();
    return {
      document: this.#document,
      body: this.#document.body,
      title: this.#title,
      language: this.#language,
      direction: this.#direction,
      meta: this.#meta,
      links: [...this.#links],
      elements: this.#elements,
      scripts: this.#scripts,
      json: this.#json.filter((text) => text.length <= JSON_CHARACTERS_MAX),
    };
  }

  /** One node for a text, however many pieces and entities it came in. */
  #flush(): void {
    if (this.#pending === '') return;
    this.#at.appendChild(this.#document.createTextNode(withoutMarks(this.#pending)));
    this.#pending = '';
  }

  #readHead(name: string, attributes: Attributes): void {
    if (name === 'html') {
      this.#language ??= attributes.lang ?? attributes['xml:lang'] ?? null;
      this.#direction ??= attributes.dir ?? null;
    } else if (name === 'base' && attributes.href !== undefined) {
      this.#base = resolveUrl(attributes.href, this.#base) ?? this.#base;
    } else if (name === 'meta') {
      const key = (
        attributes.name ??
        attributes.property ??
        attributes.itemprop ??
        attributes['http-equiv']
      )?.toLowerCase();
      if (key !== undefined && attributes.content !== undefined && this.#meta.size < 200 && !this.#meta.has(key))
        this.#meta.set(key, attributes.content.slice(0, HEAD_CHARACTERS_MAX));
    } else if ((name === 'a' || name === 'area') && attributes.href !== undefined && this.#links.size < LINKS_MAX) {
      const link = resolveUrl(attributes.href, this.#base)?.split('#', 1)[0];
      if (link !== undefined && /^https?:/.test(link)) this.#links.add(link);
    }
  }

  #isSkipped(name: string, attributes: Attributes): boolean {
    if (name === 'title') {
      this.#collecting = this.#title === '' ? 'title' : null;
      return true;
    }
    if (name === 'script' && SCRIPT_TYPES.test(attributes.type ?? '')) this.#scripts += 1;
    if (name === 'script' && /^application\/ld\+json/i.test(attributes.type ?? '') && this.#json.length < 50) {
      this.#collecting = 'json';
      this.#json.push('');
    }
    // What a custom element shows, in HTML that says so.
    if (name === 'template' && attributes.shadowrootmode !== undefined) return false;
    if (SKIPPED.has(name) || name === 'meta' || name === 'base') return true;
    // The question of a list of answers that open by a click is a button.
    if (name === 'button') return this.#headings === 0;
    return isHidden(attributes) && !isShownLater(attributes);
  }

  #describe(element: Element, name: string, attributes: Attributes): void {
    for (const key of Object.keys(attributes))
      if (KEPT.has(key)) element.setAttribute(key, (attributes[key] as string).slice(0, HEAD_CHARACTERS_MAX));
    const align = /text-align\s*:\s*(left|right|center)/i.exec(attributes.style ?? '')?.[1];
    if (align !== undefined) element.setAttribute('align', align.toLowerCase());
    if (name === 'a') this.#address(element, 'href', attributes.href);
    if (name === 'img') this.#address(element, 'src', sourceOf(attributes));
  }

  #address(element: Element, name: string, value: string | undefined): void {
    // Links within the page lead nowhere once it is text.
    const address = value === undefined || value.startsWith('#') ? null : resolveUrl(value, this.#base);
    if (address !== null && /^(?:https?|mailto|tel):/.test(address)) element.setAttribute(name, address);
  }
}

/** Without what a later step takes as a mark of its own. */
function withoutMarks(text: string): string {
  const clean = text.replaceAll(/[\0\ufdd0\ufdd1]/g, '');
  if (clean.length < LONG_TEXT) return clean;
  return clean.replaceAll(/\s+/g, (blanks) => (blanks.length > BLANKS_MAX ? ' ' : blanks));
}

function resolveUrl(address: string, base: string): string | null {
  return address.length > HEAD_CHARACTERS_MAX ? null : (URL.parse(address.trim(), base)?.href ?? null);
}

function sourceOf(attributes: Attributes): string | undefined {
  const lazy = LAZY_SOURCES.map((name) => attributes[name]).find((source) => source !== undefined);
  const largest = attributes.srcset
    ?.trim()
    .split(/\s*,\s+/)
    .at(-1)
    ?.split(/\s/, 1)[0];
  const { src } = attributes;
  return lazy ?? (src === undefined || src.startsWith('data:') ? largest : src);
}

function isHidden(attributes: Attributes): boolean {
  if (attributes.hidden !== undefined && attributes.hidden !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  const { style } = attributes;
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

function isShownLater({ role, class: name = '', id = '' }: Attributes): boolean {
  return role === 'tabpanel' || SHOWN_LATER.test(`${name} ${id}`);
}
