// ASSETS_URL: a folder, or an S3 bucket with the variables that hold its credentials.
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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

const FORM = 'must be file:///folder or s3://bucket/prefix?endpoint=https://…&region=…&path_style=true';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([A-Za-z0-9_][A-Za-z0-9_.-]*\/)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const PARAMETERS = ['endpoint', 'region', 'path_style'];

/** Throws ConfigError. */
export function assetsLocation(variables: Variables, dataDir: string): AssetsLocation {
  const keys = keysOf(variables, 'ASSETS');
  const value = variables.text('ASSETS_URL');
  if (value === undefined) return { kind: 'folder', folder: join(dataDir, 'assets') };
  const url = URL.parse(value);
  if (url?.protocol === 'file:' && url.host === '') return { kind: 'folder', folder: fileURLToPath(url) };
  return bucketLocation(url, { name: 'ASSETS_URL', prefix: 'ASSETS', keys, workFolder: join(dataDir, 'assets-work') });
}

/** Of a backup: a folder, or a URL as ASSETS_URL has them. Throws ConfigError. */
export function backupLocation(variables: Variables, place: string): AssetsLocation {
  const keys = keysOf(variables, 'BACKUP');
  if (!place.startsWith('s3:')) return { kind: 'folder', folder: resolve(place) };
  const workFolder = join(tmpdir(), `quartermaster-backup-${process.pid}`);
  return bucketLocation(URL.parse(place), { name: 'the place of the backup', prefix: 'BACKUP', keys, workFolder });
}

interface BucketNames {
  /** What messages call the URL. */
  readonly name: string;
  readonly prefix: string;
  readonly keys: readonly (string | undefined)[];
  readonly workFolder: string;
}

const keysOf = (variables: Variables, prefix: string) =>
  [`${prefix}_ACCESS_KEY_ID`, `${prefix}_SECRET_ACCESS_KEY`].map((name) => variables.text(name));

function bucketLocation(url: URL | null, { name, prefix, keys, workFolder }: BucketNames): AssetsLocation {
  const [accessKeyId, secretAccessKey] = keys;
  if (url?.protocol !== 's3:' || url.username !== '' || url.hash !== '') throw new ConfigError(`${name} ${FORM}`);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError(
      `${name} is a bucket: ${prefix}_ACCESS_KEY_ID and ${prefix}_SECRET_ACCESS_KEY must sign for it`,
    );
  return { kind: 's3', ...bucketOf(url, name), accessKeyId, secretAccessKey, workFolder };
}

function bucketOf(url: URL, name: string) {
  const unknown = [...url.searchParams.keys()].find((each) => !PARAMETERS.includes(each));
  if (unknown !== undefined) throw new ConfigError(`${name} has an unknown parameter ${unknown}; it ${FORM}`);
  const bucket = requireLike(BUCKET, url.host, `${name}: its bucket`);
  const prefix = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .join('/');
  const region = requireLike(REGION, url.searchParams.get('region') ?? 'us-east-1', `${name}: region`);
  const endpoint = endpointOf(url.searchParams.get('endpoint'), region, name);
  const style = url.searchParams.get('path_style') ?? String(url.searchParams.has('endpoint'));
  if (style !== 'true' && style !== 'false') throw new ConfigError(`${name}: path_style must be true or false`);
  const pathStyle = style === 'true';
  if (!pathStyle && ipaddr.isValid(endpoint.hostname.replace(/^\[|\]$/g, '')))
    throw new ConfigError(`${name}: an endpoint that is an address needs path_style=true`);
  return {
    bucket,
    region,
    pathStyle,
    endpoint: endpoint.origin,
    prefix: requireLike(PREFIX, prefix === '' ? '' : `${prefix}/`, `${name}: its prefix`),
  };
}

function endpointOf(sent: string | null, region: string, name: string): URL {
  const zone = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = URL.parse(sent ?? `https://s3.${region}.${zone}`);
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  throw new ConfigError(`${name}: endpoint must be an http or https URL without a path`);
}

function requireLike(pattern: RegExp, value: string, what: string): string {
  if (pattern.test(value)) return value;
  throw new ConfigError(`${what} must be like ${pattern.source}, not ${JSON.stringify(value.slice(0, 80))}`);
}
