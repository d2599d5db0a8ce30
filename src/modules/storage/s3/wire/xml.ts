// The XML of Amazon S3: bodies of requests as a tree of texts, in which nothing is taken for a number and no space is lost; answers from
// plain objects, in which a list is its entries one after another.
import { isUtf8 } from 'node:buffer';
import { XMLParser } from 'fast-xml-parser';
import { malformed } from './refusals.ts';

export interface XmlElement {
  readonly name: string;
  /** Its own, without that of its elements. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const DEPTH_MAX = 10;
/** A thousand keys to delete with two elements each, or 10,000 parts with three. */
const ELEMENTS_MAX = 50_000;
const TEXT = '#text';
const CDATA = '#cdata';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  // Decoded below, once: a type declaration could define more.
  processEntities: false,
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: DEPTH_MAX,
  cdataPropName: CDATA,
});

type Node = Readonly<Record<string, unknown>>;

/** The root element, which must have this name. Throws MalformedXML. */
export function readXml(body: Buffer, root: string): XmlElement {
  if (!isUtf8(body)) throw malformed('The body is not valid UTF-8.');
  const text = body.toString('utf8');
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw malformed('The body must not have a document type.');
  if (elementsIn(text) > ELEMENTS_MAX) throw malformed('The body has too many elements.');
  const roots = parsed(text)
    .map((node) => elementOf(node))
    .filter((each) => each !== null);
  const [first] = roots;
  if (first === undefined || roots.length > 1 || first.name !== root) throw malformed(`The body must be one ${root}.`);
  return first;
}

function elementsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('</'); at !== -1; at = text.indexOf('</', at + 2)) count += 1;
  return count;
}

function parsed(text: string): readonly Node[] {
  try {
    return parser.parse(text, true);
  } catch (error) {
    throw malformed(`The body is not well-formed XML: ${(error as Error).message.slice(0, 100)}`);
  }
}

/** Null: a text between elements. */
function elementOf(node: Node): XmlElement | null {
  const name = Object.keys(node).find((each) => each !== ':@') as string;
  if (name === TEXT || name === CDATA) return null;
  const content = node[name] as readonly Node[];
  const texts = content.map((each) => {
    if (TEXT in each) return decoded(String(each[TEXT]));
    return CDATA in each ? (each[CDATA] as readonly Node[]).map((of) => String(of[TEXT])).join('') : '';
  });
  return { name, text: texts.join(''), children: content.map(elementOf).filter((each) => each !== null) };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const CODE_POINT_MAX = 0x10ffff;

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) {
      const character = ENTITIES[name];
      if (character === undefined) throw malformed(`The entity ${whole} is not known.`);
      return character;
    }
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (code > CODE_POINT_MAX || (code >= 0xd800 && code <= 0xdfff)) throw malformed(`${whole} is no character.`);
    return String.fromCodePoint(code);
  });
}

/** Undefined: there is none. Throws MalformedXML for several. */
export function childOf(element: XmlElement, name: string): XmlElement | undefined {
  const [first, ...more] = childrenOf(element, name);
  if (more.length > 0) throw malformed(`${element.name} has several ${name}.`);
  return first;
}

export function childrenOf({ children }: XmlElement, name: string): readonly XmlElement[] {
  return children.filter((each) => each.name === name);
}

export function textOf(element: XmlElement, name: string): string | undefined {
  return childOf(element, name)?.text;
}

/** Throws MalformedXML where it is missing. */
export function requiredText(element: XmlElement, name: string): string {
  const text = textOf(element, name);
  if (text === undefined) throw malformed(`${element.name} needs ${name}.`);
  return text;
}

export type XmlValue = string | number | boolean | XmlFields | undefined | readonly (string | XmlFields)[];
export interface XmlFields {
  readonly [name: string]: XmlValue;
}

/** What is undefined is left out. `content`: of the root, its elements or its text. */
export function xmlDocument(root: string, content: XmlFields | string): string {
  const namespace = root === 'Error' ? '' : ` xmlns="${NAMESPACE}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${typeof content === 'string' ? escaped(content) : contentOf(content)}</${root}>`;
}

function contentOf(fields: XmlFields): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      if (value === undefined) return '';
      const values = Array.isArray(value) ? value : [value];
      return values.map((each) => element(name, each)).join('');
    })
    .join('');
}

function element(name: string, value: string | number | boolean | XmlFields): string {
  const content = typeof value === 'object' ? contentOf(value) : escaped(String(value));
  return `<${name}>${content}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Also characters that XML cannot hold, as Amazon does: whoever has such keys asks for `encoding-type=url`. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
  return text.replaceAll(/[&<>"\u0000-\u001f\u007f\ufffe\uffff]/g, (character) => {
    return ESCAPES[character] ?? `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
  });
}

/** As `encoding-type=url` has keys: all but unreserved characters and slashes in UTF-8 with percent signs. */
export function urlEncoded(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
