// Splits a prompt into a storyboard: one shot for each sentence.

import { withoutOrders } from '../../../../jobs/orders.ts';
import type { Scene } from '../port.ts';

export interface Shot {
  readonly text: string;
  readonly frames: number;
  readonly seed: number;
}

export const FRAMES_PER_SECOND = 24;
/** A shot is to be read. */
const SHOT_FRAMES_MIN = 12;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The shots of all scenes; their frames are those of the scenes, exactly. */
export function shotsOf(scenes: readonly Scene[]): Shot[] {
  return scenes.flatMap((scene) => {
    const frames = scene.seconds * FRAMES_PER_SECOND;
    const texts = textsOf(scene.prompt).slice(0, Math.max(1, Math.floor(frames / SHOT_FRAMES_MIN)));
    const seed = scene.seed ?? hashOf(scene.prompt);
    // Frames that do not divide evenly go to the first shots.
    return texts.map((text, i) => ({
      text,
      frames: Math.floor(frames / texts.length) + (i < frames % texts.length ? 1 : 0),
      seed: hashOf(`${seed}/${i}/${text}`),
    }));
  });
}

function textsOf(prompt: string): string[] {
  const said = withoutOrders(prompt);
  const texts = [...sentences.segment(said)].map(({ segment }) => segment.trim()).filter((text) => text !== '');
  return texts.length === 0 ? [''] : texts;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Numbers of [0, 1) that depend on nothing but the seed (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
