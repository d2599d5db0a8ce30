// XML of Amazon S3. Request bodies become a tree of texts: no text is parsed as a number, no white space is lost. Answers are built from plain
// objects; a list becomes repeated elements.
import { readXmlTree, type XmlBounds, type XmlElement, XmlError } from '../../../../lib/xml.ts';
import { malformedXml } from './refusals.ts';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const WITHOUT_NAMESPACE: ReadonlySet<string> = new Set(['Error', 'PostResponse']);

/** The root element, which must have this name. Throws MalformedXML. */
export function readXml(body: Buffer, root: string, bounds: XmlBounds): XmlElement {
  const element = treeOf(body, bounds);
  if (element.name !== root) throw malformedXml(`The body must be one ${root}.`);
  return element;
}

function treeOf(body: Buffer, bounds: XmlBounds): XmlElement {
  try {
    return readXmlTree(body, bounds);
  } catch (error) {
    throw error instanceof XmlError ? malformedXml(error.message) : error;
  }
}

/** Undefined: there is none. Throws MalformedXML for several. */
export function childOf(element: XmlElement, name: string): XmlElement | undefined {
  const [first, ...more] = childrenOf(element, name);
  if (more.length > 0) throw malformedXml(`${element.name} has several ${name}.`);
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
  if (text === undefined) throw malformedXml(`${element.name} needs ${name}.`);
  return text;
}

export type XmlValue = string | number | boolean | XmlFields | undefined | readonly (string | XmlFields)[];
/** A name may have attributes behind it. */
export interface XmlFields {
  readonly [name: string]: XmlValue;
}

/** What is undefined is left out. `content`: of the root, its elements or its text. */
export function xmlDocument(root: string, content: XmlFields | string): string {
  const namespace = WITHOUT_NAMESPACE.has(root) ? '' : ` xmlns="${NAMESPACE}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${typeof content === 'string' ? escapeXml(content) : contentOf(content)}</${root}>`;
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
  const content = typeof value === 'object' ? contentOf(value) : escapeXml(String(value));
  return `<${name}>${content}</${name.split(' ', 1)[0]}>`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Also characters that XML cannot hold, as Amazon does: whoever has such keys asks for `encoding-type=url`. */
function escapeXml(text: string): string {
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
