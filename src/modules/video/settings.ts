// Operator settings of the video module.
import type { Variables } from '../../config/variables.ts';
import { PICKUP_HOURS } from '../../jobs/limits.ts';

export function videoSettings(variables: Variables) {
  return {
    /** How long a video is kept that is not stored, hours. */
    pickupHours: variables.integer('VIDEO_PICKUP_HOURS', PICKUP_HOURS, { min: 1, max: 24 * 30 }),
    /** The program that takes pictures out of videos; null: none does. */
    ffmpegPath: variables.text('FFMPEG_PATH') ?? null,
    /** Videos that the sandbox makes at once on this process; each takes a core. Of two or more, one account never has all. */
    sandboxThreads: variables.integer('VIDEO_SANDBOX_THREADS', 2, { min: 1, max: 64 }),
  };
}

export type VideoSettings = ReturnType<typeof videoSettings>;
