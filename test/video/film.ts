// Films of the sandbox for tests, and what is in a file.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BufferSource, Input, MP4 } from 'mediabunny';
import type { SandboxRequest } from '../../src/modules/video/vendors/port.ts';
import { filmSandbox } from '../../src/modules/video/vendors/sandbox/render.ts';

export interface MadeFilm {
  readonly film: Buffer;
  readonly thumbnail: Buffer;
  readonly digest: string;
}

export async function makeFilm(over: Partial<SandboxRequest> & { prompt?: string } = {}): Promise<MadeFilm> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-film-'));
  const [filmPath, thumbnailPath] = [join(folder, 'film.mp4'), join(folder, 'film.jpg')];
  try {
    await filmSandbox.render({
      scenes: [{ prompt: over.prompt ?? 'A paper boat on a pond.', seconds: 1, seed: 7 }],
      ...{ widthPx: 320, heightPx: 180, image: null, filmPath, thumbnailPath },
      onProgress: () => undefined,
      signal: new AbortController().signal,
      ...over,
    });
    const film = await readFile(filmPath);
    const digest = createHash('sha256').update(film).digest('hex');
    return { film, thumbnail: await readFile(thumbnailPath), digest };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What the container says. */
export async function inspect(film: Uint8Array) {
  const input = new Input({ source: new BufferSource(film), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('there is no video track');
  return {
    codec: await track.getCodecParameterString(),
    widthPx: track.codedWidth,
    heightPx: track.codedHeight,
    seconds: await track.computeDuration(),
    frames: (await track.computePacketStats()).packetCount,
  };
}

/** Names of the boxes at the top of an MP4, in order. */
export function boxesOf(film: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < film.length; at += film.readUInt32BE(at)) names.push(film.toString('latin1', at + 4, at + 8));
  return names;
}
