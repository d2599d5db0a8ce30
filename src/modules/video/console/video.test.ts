import { expect, test } from 'vitest';
import { nameOf } from './video.ts';

test('a video whose prompt is gone has a name all the same, so that its link can be read', () => {
  expect(nameOf({ prompt: '' }).text).toBe('Expired video');
  expect(nameOf({ prompt: 'A boat.' }).text).toContain('A boat.');
});
