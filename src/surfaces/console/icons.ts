// Icons of the navigation and of the links at the top: outlines on a square of 16, as wide as a letter is high.
import { Html } from '../../lib/html.ts';

const paths = {
  start: 'M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7',
  build: 'm8 1.8 5.5 3v6.4L8 14.2l-5.5-3V4.8zM2.5 4.8 8 8l5.5-3.2M8 8v6.2',
  observe: 'M2 13.5h12M3.5 11V8M7 11V3.5M10.5 11V6M13.5 11V4.5',
  reach: 'm14 2-5 12-2.2-4.8L2 7zM14 2 6.8 9.2',
  make: 'm8 1.8 1.6 4.6 4.6 1.6-4.6 1.6L8 14.2 6.4 9.6 1.8 8l4.6-1.6z',
  settings: 'M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7M11 2.5v4M5 9.5v4',
  operator: 'M2.5 2.5h11v4h-11zM2.5 9.5h11v4h-11zM5 4.5h.1M5 11.5h.1',
  docs: 'M8 3.8C6.5 2.6 4.5 2.5 2 2.5v9.8c2.5 0 4.5.1 6 1.2 1.5-1.1 3.5-1.2 6-1.2V2.5c-2.5 0-4.5.1-6 1.3zM8 3.8v9.7',
  help: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM6.2 6.2c.3-2.4 3.8-2.2 3.6 0-.1 1.2-1.8 1.3-1.8 2.8M8 11.3v.1',
} as const;

/** Of the name that stands beside it, so nobody has to hear it. */
export function icon(name: keyof typeof paths): Html {
  return new Html(`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${paths[name]}"/></svg>`);
}
