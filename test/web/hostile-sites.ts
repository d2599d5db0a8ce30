// Pages that mean harm, by path: compressed without end, without an end, broken, or leading where nobody may go.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';

export type HostilePage = (request: IncomingMessage, response: ServerResponse) => void;

const MIB = 1024 * 1024;
const PLAIN = { 'content-type': 'text/plain' };
const line = 'All work and no play makes a page without an end.\n';
const long = () => Buffer.alloc(64 * MIB, line);

const encoded = (encoding: string, bytes: Buffer): HostilePage => {
  return (_, response) => void response.writeHead(200, { ...PLAIN, 'content-encoding': encoding }).end(bytes);
};

/** Writes for as long as somebody reads. */
export const endless =
  (piece: string | Buffer, headers: Record<string, string> = PLAIN): HostilePage =>
  (_, response) => {
    response.writeHead(200, headers);
    const go = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', go);
    go();
  };

/** 302 to there. */
export const leads =
  (location: string): HostilePage =>
  (_, response) =>
    void response.writeHead(302, { location }).end();

/** They come out as their beginning. */
export const cutPages = (): Readonly<Record<string, HostilePage>> => ({
  '/gzip-bomb': encoded('gzip', gzipSync(long())),
  '/without-an-end': endless(Buffer.alloc(64 * 1024, line)),
  '/gzip-members-without-an-end': endless(gzipSync(Buffer.alloc(64 * 1024, line)), {
    ...PLAIN,
    'content-encoding': 'gzip',
  }),
});

/** They are TARGET_FAILED, with this detail. */
export const failedPages: Readonly<Record<string, readonly [HostilePage, detail: string]>> = {
  '/two-encodings': [encoded('gzip, gzip', gzipSync(gzipSync('a'))), 'protocol'],
  '/brotli-unasked': [encoded('br', brotliCompressSync(line)), 'protocol'],
  '/zstd-unasked': [encoded('zstd', zstdCompressSync(line)), 'protocol'],
  '/unknown-encoding': [encoded('compress', Buffer.from('a')), 'protocol'],
  '/no-gzip': [encoded('gzip', Buffer.from('plain')), 'protocol'],
  '/half-gzip': [encoded('gzip', gzipSync(line.repeat(1_000)).subarray(0, 40)), 'protocol'],
  '/half': [
    (_, response) => {
      response.writeHead(200, { ...PLAIN, 'content-length': '1000' }).write('a');
      setTimeout(() => response.destroy(), 20);
    },
    'reset',
  ],
  '/nothing': [(request) => void request.socket.destroy(), 'reset'],
  '/ten-thousand-headers': [
    (_, response) => {
      for (let i = 0; i < 10_000; i += 1) response.setHeader(`x-${i}`, 'a');
      response.end();
    },
    'protocol',
  ],
  '/no-http': [(request) => void request.socket.end('220 mail.example.org ESMTP\r\n'), 'protocol'],
  '/hints-without-an-end': [
    ({ socket }) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 1);
      socket.on('close', () => clearInterval(timer));
      socket.on('error', () => undefined);
    },
    'protocol',
  ],
  '/around': [leads('/around'), 'protocol'],
  '/further': [(request, response) => leads(`${request.url}a`)(request, response), 'protocol'],
  '/nowhere': [leads('http://[1:2'), 'protocol'],
};

/** Where redirects may not lead. */
export const refusedTargets = [
  ...[
    'file:///etc/passwd',
    'gopher://example.org/',
    'data:text/html,hello',
    'ftp://example.org/',
    'javascript:alert(1)',
  ],
  ...['http://user:secret@example.org/', 'http://example.org:22/', 'https://example.org:8443/', 'http://localhost/'],
  ...['http://127.0.0.1/', 'http://127.1/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://2130706433/'],
  ...[
    'http://１２７.0.0.1/',
    'http://0.0.0.0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
  ],
  ...[
    'http://[64:ff9b::10.0.0.1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
  ],
  ...[
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.100.100.200/',
    'http://224.0.0.1/',
  ],
  ...[
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://single/',
    '//127.0.0.1/',
    'http://127.0.0.1.:80/',
  ],
];
