import { expect, test } from 'vitest';
import { warningOf } from './engine-warning.ts';

const built = (release: string) =>
  `Citus ${release} on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit`;

test.each(['12.1.11', '12.1.12', '13.2.1', '13.2.2', '14.0.0', '14.0.1'])(
  'Citus %s is warned of by its number',
  (release) => {
    expect(warningOf(built(release))).toContain(`Citus ${release} `);
  },
);

test.each(['12.1.10', '13.2.0', '13.2.3', '13.2.20', '14.1.0', '14.0devel'])('Citus %s is not', (release) => {
  expect(warningOf(built(release))).toBeNull();
});
