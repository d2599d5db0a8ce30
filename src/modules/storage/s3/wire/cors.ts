// CORS of a bucket in XML: the setting `cors` of storage.bucket.settings, with the ids that clients gave. And what browsers say of a page.
import type { IncomingHttpHeaders } from 'node:http';
import type { XmlBounds, XmlElement } from '../../../../lib/xml.ts';
import {
  ALLOWED_HEADER_PATTERN,
  CORS_BYTES_MAX,
  CORS_HEADER_CHARACTERS_MAX,
  CORS_METHODS,
  CORS_ORIGIN_CHARACTERS_MAX,
  CORS_RULES_MAX,
  CORS_SECONDS_MAX,
  CORS_VALUES_MAX,
  type CorsMethod,
  EXPOSED_HEADER_PATTERN,
  type KeptCorsRule,
  ORIGIN_PATTERN,
  type PageRequest,
} from '../../buckets/cors.ts';
import { malformedXml, refusal } from './refusals.ts';
import { childrenOf, readXml, textOf, type XmlFields } from './xml.ts';

/** Ten rules with all that they may have, and white space between. */
const BOUNDS: XmlBounds = { bytesMax: 64 * 1_024, partsMax: 3_000 };
const ID_CHARACTERS_MAX = 255;
const PARTS = ['ID', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds'];

/** Throws InvalidRequest, MalformedXML. */
export function readCors(body: Buffer): KeptCorsRule[] {
  const rules = childrenOf(readXml(body, 'CORSConfiguration', BOUNDS), 'CORSRule').map(ruleOf);
  if (rules.length === 0) throw malformedXml('CORSConfiguration needs a CORSRule.');
  if (rules.length > CORS_RULES_MAX) throw invalid(`A bucket has at most ${CORS_RULES_MAX} CORS rules.`);
  const ids = rules.flatMap(({ id }) => (id === null ? [] : [id]));
  if (new Set(ids).size < ids.length) throw invalid('The ID of a CORS rule must be unique.');
  if (Buffer.byteLength(JSON.stringify(rules)) > CORS_BYTES_MAX) {
    throw invalid(`The CORS rules of a bucket may have ${CORS_BYTES_MAX} bytes of JSON together.`);
  }
  return rules;
}

function ruleOf(rule: XmlElement): KeptCorsRule {
  const other = rule.children.find(({ name }) => !PARTS.includes(name));
  if (other !== undefined) throw malformedXml(`${other.name.slice(0, 60)} is no part of a CORSRule.`);
  const id = textOf(rule, 'ID') ?? null;
  if (id !== null && id.length > ID_CHARACTERS_MAX) {
    throw invalid(`The ID of a CORS rule has at most ${ID_CHARACTERS_MAX} characters.`);
  }
  const origins = textsOf(rule, 'AllowedOrigin', new RegExp(ORIGIN_PATTERN, 'u'), CORS_ORIGIN_CHARACTERS_MAX);
  const methods = childrenOf(rule, 'AllowedMethod').map(({ text }) => methodOf(text.trim()));
  if (origins.length === 0 || methods.length === 0) {
    throw malformedXml('A CORSRule needs an AllowedOrigin and an AllowedMethod.');
  }
  return {
    origins,
    methods: [...new Set(methods)],
    headers: textsOf(rule, 'AllowedHeader', new RegExp(ALLOWED_HEADER_PATTERN, 'u'), CORS_HEADER_CHARACTERS_MAX),
    expose: textsOf(rule, 'ExposeHeader', new RegExp(EXPOSED_HEADER_PATTERN, 'u'), CORS_HEADER_CHARACTERS_MAX),
    max_age_seconds: secondsOf(textOf(rule, 'MaxAgeSeconds')?.trim()),
    id,
  };
}

function textsOf(rule: XmlElement, name: string, pattern: RegExp, charactersMax: number): string[] {
  const texts = childrenOf(rule, name).map(({ text }) => text.trim());
  if (texts.length > CORS_VALUES_MAX) throw invalid(`A CORSRule has at most ${CORS_VALUES_MAX} ${name}.`);
  for (const text of texts) {
    if (text.length <= charactersMax && pattern.test(text)) continue;
    const form =
      name === 'AllowedOrigin'
        ? 'scheme, host and port without a path, and one * at most'
        : `the name of a header${name === 'AllowedHeader' ? ', and one * at most' : ''}`;
    throw invalid(`${name} is ${form}.`);
  }
  return texts;
}

function methodOf(text: string): CorsMethod {
  const method = CORS_METHODS.find((each) => each === text);
  if (method !== undefined) return method;
  throw invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${text.slice(0, 20)}`);
}

function secondsOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,8}$/.test(text) && Number(text) <= CORS_SECONDS_MAX) return Number(text);
  throw invalid(`MaxAgeSeconds is a whole number up to ${CORS_SECONDS_MAX}.`);
}

function invalid(message: string) {
  return refusal('InvalidRequest', message);
}

export function corsFields(rules: readonly KeptCorsRule[]): XmlFields {
  return {
    CORSRule: rules.map(({ id, origins, methods, headers, expose, max_age_seconds: seconds }) => ({
      ...(id === null ? {} : { ID: id }),
      AllowedHeader: headers,
      AllowedMethod: methods,
      AllowedOrigin: origins,
      ExposeHeader: expose,
      ...(seconds === null ? {} : { MaxAgeSeconds: seconds }),
    })),
  };
}

/** Of the request itself; null: it comes from no page of another origin. */
export function pageRequestOf(method: string, headers: IncomingHttpHeaders): PageRequest | null {
  const { origin } = headers;
  return origin === undefined || origin.length > CORS_ORIGIN_CHARACTERS_MAX ? null : { origin, method, asked: null };
}

/** What a preflight asks for. Throws BadRequest. */
export function askedBy(headers: IncomingHttpHeaders): PageRequest {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': names } = headers;
  if (origin === undefined) throw refusal('BadRequest', 'Insufficient information. Origin request header needed.');
  if (method === undefined) throw refusal('BadRequest', 'Invalid Access-Control-Request-Method: null');
  const asked = (names ?? '').split(',').map((name) => name.trim());
  return { origin, method, asked: asked.filter((name) => name !== '') };
}
