// ASSETS_URL: a folder, or a bucket of S3 with the names that sign for it.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ipaddr from 'ipaddr.js';
import { ConfigError, type Variables } from './variables.ts';

export type AssetsLocation =
  | { readonly kind: 'folder'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Empty, or with a slash at its end. */
      readonly prefix: string;
      /** Origin of the service. */
      readonly endpoint: string;
      readonly region: string;
      readonly pathStyle: boolean;
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      /** For files that are being made; absolute. */
      readonly workFolder: string;
    };

const NAME = 'ASSETS_URL';
const FORM = 'must be file:///folder or s3://bucket/prefix?endpoint=https://…&region=…&path_style=true';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([A-Za-z0-9_][A-Za-z0-9_.-]*\/)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const PARAMETERS = ['endpoint', 'region', 'path_style'];

/** Throws ConfigError. */
export function assetsLocation(variables: Variables, dataDir: string): AssetsLocation {
  const value = variables.text(NAME);
  const [accessKeyId, secretAccessKey] = ['ASSETS_ACCESS_KEY_ID', 'ASSETS_SECRET_ACCESS_KEY'].map((name) =>
    variables.text(name),
  );
  if (value === undefined) return { kind: 'folder', folder: join(dataDir, 'assets') };
  const url = URL.parse(value);
  if (url?.protocol === 'file:' && url.host === '') return { kind: 'folder', folder: fileURLToPath(url) };
  if (url?.protocol !== 's3:' || url.username !== '' || url.hash !== '') throw new ConfigError(`${NAME} ${FORM}`);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError(`${NAME} is a bucket: ASSETS_ACCESS_KEY_ID and ASSETS_SECRET_ACCESS_KEY must sign for it`);
  return { kind: 's3', ...bucketOf(url), accessKeyId, secretAccessKey, workFolder: join(dataDir, 'assets-work') };
}

function bucketOf(url: URL) {
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw new ConfigError(`${NAME} has an unknown parameter ${unknown}; it ${FORM}`);
  const bucket = requireLike(BUCKET, url.host, 'its bucket');
  const prefix = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .join('/');
  const region = requireLike(REGION, url.searchParams.get('region') ?? 'us-east-1', 'region');
  const endpoint = endpointOf(url.searchParams.get('endpoint'), region);
  const style = url.searchParams.get('path_style') ?? String(url.searchParams.has('endpoint'));
  if (style !== 'true' && style !== 'false') throw new ConfigError(`${NAME}: path_style must be true or false`);
  const pathStyle = style === 'true';
  if (!pathStyle && ipaddr.isValid(endpoint.hostname.replace(/^\[|\]$/g, '')))
    throw new ConfigError(`${NAME}: an endpoint that is an address needs path_style=true`);
  return {
    ...{ bucket, region, pathStyle, endpoint: endpoint.origin },
    prefix: requireLike(PREFIX, prefix === '' ? '' : `${prefix}/`, 'its prefix'),
  };
}

function endpointOf(sent: string | null, region: string): URL {
  const zone = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = URL.parse(sent ?? `https://s3.${region}.${zone}`);
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  throw new ConfigError(`${NAME}: endpoint must be an http or https URL without a path`);
}

function requireLike(pattern: RegExp, value: string, what: string): string {
  if (pattern.test(value)) return value;
  throw new ConfigError(`${NAME}: ${what} must be like ${pattern.source}, not ${JSON.stringify(value.slice(0, 80))}`);
}
