// How requests at roots of S3 are routed.
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { S3Addresses } from '../../config/s3.ts';
import { s3Roots } from './s3-roots.ts';

const routed = (settings: S3Addresses, url: string, { host = 'qm.example.com', localPort = 8787 } = {}) =>
  s3Roots(settings)?.({ url, headers: { host }, socket: { localPort } } as IncomingMessage);

describe('a request', () => {
  test('is routed as it is where no root is set', () => {
    expect(s3Roots({ port: null, domain: null })).toBeUndefined();
  });

  test('at the port of S3 is one below /s3, and at another port is not', () => {
    const settings = { port: 9000, domain: null };
    expect(routed(settings, '/a/b%2Fc?x=1', { localPort: 9000 })).toBe('/s3/a/b%2Fc?x=1');
    expect(routed(settings, '/', { localPort: 9000 })).toBe('/s3/');
    expect(routed(settings, '/v1/x')).toBe('/v1/x');
    expect(routed(settings, '*', { localPort: 9000 })).toBe('*');
  });

  test.each([
    ['s3.example.com', '/a/b', '/s3/a/b'],
    ['S3.Example.com:8443', '/a/b', '/s3/a/b'],
    ['photos.s3.example.com', '/2024//x?list-type=2', '/s3/photos/2024//x?list-type=2'],
    ['my.photos.s3.example.com', '/', '/s3/my.photos/'],
    ['a%2fb.s3.example.com', '/', '/s3/a%252fb/'],
    ['xs3.example.com', '/v1/x', '/v1/x'],
    ['s3.example.com.evil.org', '/v1/x', '/v1/x'],
    ['', '/v1/x', '/v1/x'],
  ])('to the host %o is one of its bucket: %s is %s', (host, url, due) => {
    expect(routed({ port: null, domain: 's3.example.com' }, url, { host })).toBe(due);
  });

  test('to the host at the port is one of its bucket', () => {
    const at = { host: 'b.s3.example.com', localPort: 9000 };
    expect(routed({ port: 9000, domain: 's3.example.com' }, '/k', at)).toBe('/s3/b/k');
  });
});
