// What a host of files gives: a video, or what only says that it is one.
import type { ServerResponse } from 'node:http';

export type VideoBehaviour =
  | 'sound'
  | 'html'
  | 'json'
  | 'empty'
  | 'gone'
  | 'forbidden'
  | 'busy'
  | 'huge'
  | 'endless'
  | 'silent'
  | 'breaks'
  | 'stalls'
  | 'garbled'
  | 'redirect'
  | 'loop'
  | { readonly redirectTo: string }
  | { readonly bytes: Uint8Array };

/** The first boxes of an MP4, and then some: enough for whoever looks at the beginning. Tests that need a video bring one. */
export const BYTES: Uint8Array = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(4_000, 7),
]);

export function answerVideo(video: VideoBehaviour, res: ServerResponse, assets: string): void {
  res.on('error', () => undefined);
  if (typeof video === 'object') {
    if ('redirectTo' in video) res.writeHead(302, { location: video.redirectTo }).end();
    else res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.bytes.length }).end(video.bytes);
    return;
  }
  BEHAVIOURS[video](res, assets);
}

const MP4 = { 'content-type': 'video/mp4' };

const BEHAVIOURS: Readonly<Record<Extract<VideoBehaviour, string>, (res: ServerResponse, assets: string) => unknown>> =
  {
    sound: (res) => res.writeHead(200, { ...MP4, 'content-length': BYTES.length }).end(BYTES),
    html: (res) => res.writeHead(200, MP4).end('<!doctype html><title>Please sign in</title>'),
    json: (res) => res.writeHead(200, MP4).end('{"error":{"message":"not yet"}}'),
    empty: (res) => res.writeHead(200, MP4).end(),
    gone: (res) => res.writeHead(404).end(),
    forbidden: (res) => res.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
    busy: (res) => res.writeHead(503).end(),
    huge: (res) => res.writeHead(200, { ...MP4, 'content-length': 4 * 1024 ** 3 }).write(BYTES),
    endless: (res) => {
      res.writeHead(200, MP4).write(BYTES);
      const more = () => {
        while (!res.destroyed && res.write(BYTES));
        if (!res.destroyed) res.once('drain', more);
      };
      more();
    },
    silent: () => undefined,
    breaks: (res) => {
      res.writeHead(200, { ...MP4, 'content-length': 2 * BYTES.length }).write(BYTES, () => res.destroy());
    },
    stalls: (res) => res.writeHead(200, { ...MP4, 'content-length': 2 * BYTES.length }).write(BYTES),
    // In the middle its chunks end being chunks.
    garbled: (res) => res.writeHead(200, MP4).write(BYTES, () => res.socket?.end('\r\nno chunk\r\n')),
    redirect: (res, assets) => res.writeHead(302, { location: `${assets}/plain/video.mp4` }).end(),
    loop: (res) => res.writeHead(302, { location: '/loop' }).end(),
  };
