// Parses untrusted XML into a tree (XML 1.0, 5th edition). Parts are counted as they are met, and nothing beyond the bounds is built: no
// document costs more than its bounds. Attributes are checked but not kept; document types are refused, so no entity expands.
import { isUtf8 } from 'node:buffer';

export interface XmlElement {
  /** Without its namespace prefix. */
  readonly name: string;
  /** Its own, without that of its elements. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

export interface XmlBounds {
  readonly bytesMax: number;
  /** Elements, attributes, runs of text (white space too), comments and processing instructions together. */
  readonly partsMax: number;
}

/** Says what is wrong with a document. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const DEPTH_MAX = 10;
/** Characters of a run of text, a tag, a comment or a CDATA section. */
const RUN_CHARACTERS_MAX = 8 * 1_024;

/** The root element. Throws XmlError for what is not well-formed, has a document type, or is beyond the bounds. */
export function readXmlTree(body: Buffer, bounds: XmlBounds): XmlElement {
  if (body.length > bounds.bytesMax) throw new XmlError(`The XML may have ${bounds.bytesMax} bytes.`);
  if (!isUtf8(body)) throw new XmlError('The XML is not valid UTF-8.');
  return new Reading(body.toString('utf8').replace(/^\ufeff/, ''), bounds.partsMax).root();
}

/** An element that has begun. */
interface Open {
  readonly qualified: string;
  readonly element: { name: string; text: string; children: XmlElement[] };
}

const NAME = String.raw`[A-Za-z_:\u0080-\uffff][-.\w:\u0080-\uffff]*`;
const START = new RegExp(`^(${NAME})((?:\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)$`);
const END = new RegExp(`^/(${NAME})\\s*$`);
const ATTRIBUTE = /=\s*(?:"[^"]*"|'[^']*')/g;
/** What begins with these ends with those, and not at the next `>`. */
const SECTIONS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

class Reading {
  readonly #text: string;
  readonly #partsMax: number;
  #parts = 0;
  #at = 0;
  readonly #open: Open[] = [];
  #root: XmlElement | null = null;

  constructor(text: string, partsMax: number) {
    this.#text = text;
    this.#partsMax = partsMax;
  }

  root(): XmlElement {
    while (this.#at < this.#text.length) {
      if (this.#text.startsWith('<', this.#at)) this.#markup();
      else this.#run();
    }
    if (this.#open.length > 0) throw new XmlError(`The element ${this.#open.at(-1)?.qualified} has no end.`);
    if (this.#root === null) throw new XmlError('The XML has no element.');
    return this.#root;
  }

  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > this.#partsMax) {
      throw new XmlError(`The XML may have ${this.#partsMax} elements, attributes and texts.`);
    }
  }

  /** What stands before the next `end`, and goes behind it. */
  #upTo(end: string, from: number): string {
    const to = this.#text.indexOf(end, from);
    if (to === -1) throw new XmlError(`The XML breaks off: \`${end}\` is missing.`);
    if (to - from > RUN_CHARACTERS_MAX) throw tooLong();
    this.#at = to + end.length;
    return this.#text.slice(from, to);
  }

  #run(): void {
    const next = this.#text.indexOf('<', this.#at);
    const end = next === -1 ? this.#text.length : next;
    if (end - this.#at > RUN_CHARACTERS_MAX) throw tooLong();
    this.#count(1);
    const run = this.#text.slice(this.#at, end);
    this.#at = end;
    const parent = this.#open.at(-1);
    if (parent !== undefined) parent.element.text += decodeEntities(lines(run));
    else if (/\S/.test(run)) throw new XmlError('The XML has a text outside of its element.');
  }

  #markup(): void {
    for (const [begin, end] of SECTIONS) {
      if (!this.#text.startsWith(begin, this.#at)) continue;
      this.#count(1);
      const content = this.#upTo(end, this.#at + begin.length);
      if (end === ']]>') this.#literal(content);
      return;
    }
    if (this.#text.startsWith('<!', this.#at)) throw new XmlError('The XML must not have a document type.');
    const tag = this.#upTo('>', this.#at + 1);
    if (tag.startsWith('/')) this.#end(tag);
    else this.#start(tag);
  }

  #literal(content: string): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) throw new XmlError('The XML has a text outside of its element.');
    parent.element.text += lines(content);
  }

  #start(tag: string): void {
    this.#count(1 + (tag.includes('=') ? [...tag.matchAll(ATTRIBUTE)].length : 0));
    const [, qualified, , isEmpty] = START.exec(tag) ?? [];
    if (qualified === undefined) throw new XmlError(`<${tag.slice(0, 60)}> is no tag.`);
    if (this.#root !== null && this.#open.length === 0) throw new XmlError('The XML has more than one element.');
    if (this.#open.length === DEPTH_MAX) throw new XmlError(`The XML may have ${DEPTH_MAX} levels.`);
    const element = { name: qualified.slice(qualified.lastIndexOf(':') + 1), text: '', children: [] };
    this.#open.at(-1)?.element.children.push(element);
    this.#root ??= element;
    if (isEmpty === '') this.#open.push({ qualified, element });
  }

  #end(tag: string): void {
    const open = this.#open.pop();
    if (open === undefined || END.exec(tag)?.[1] !== open.qualified) {
      throw new XmlError(`<${tag.slice(0, 60)}> ends no element that is open.`);
    }
  }
}

function tooLong(): XmlError {
  return new XmlError(`A text or tag of the XML may have ${RUN_CHARACTERS_MAX} characters.`);
}

/** Ends of lines as the standard reads them (section 2.11). */
function lines(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const CODE_POINT_MAX = 0x10ffff;

/** Each entity once: what it stands for is not read again. */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) {
      const character = ENTITIES[name];
      if (character === undefined) throw new XmlError(`The entity ${whole} is not known.`);
      return character;
    }
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (code > CODE_POINT_MAX || (code >= 0xd800 && code <= 0xdfff)) throw new XmlError(`${whole} is no character.`);
    return String.fromCodePoint(code);
  });
}
