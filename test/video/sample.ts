// Videos of the sandbox for tests, and what is in a file.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BufferSource, Input, MP4 } from 'mediabunny';
import type { SandboxRequest } from '../../src/modules/video/vendors/port.ts';
import { videoSandbox } from '../../src/modules/video/vendors/sandbox/render.ts';

export interface MadeVideo {
  readonly video: Buffer;
  readonly thumbnail: Buffer;
  readonly digest: string;
}

export async function makeVideo(over: Partial<SandboxRequest> & { prompt?: string } = {}): Promise<MadeVideo> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-video-'));
  const [videoPath, thumbnailPath] = [join(folder, 'video.mp4'), join(folder, 'video.jpg')];
  try {
    await videoSandbox.render({
      scenes: [{ prompt: over.prompt ?? 'A paper boat on a pond.', seconds: 1, seed: 7 }],
      widthPx: 320,
      heightPx: 180,
      image: null,
      videoPath,
      thumbnailPath,
      onProgress: () => undefined,
      signal: new AbortController().signal,
      ...over,
    });
    const video = await readFile(videoPath);
    const digest = createHash('sha256').update(video).digest('hex');
    return { video, thumbnail: await readFile(thumbnailPath), digest };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What the container says. */
export async function inspect(video: Uint8Array) {
  const input = new Input({ source: new BufferSource(video), formats: [MP4] });
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
export function boxesOf(video: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < video.length; at += video.readUInt32BE(at))
    names.push(video.toString('latin1', at + 4, at + 8));
  return names;
}
