// axe-core in a page of the test's browser: what it finds of WCAG 2.2 A and AA and of good practice.
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const { source } = axe;

/** Fails with the rules that the page breaks, and where. It is injected by the browser itself: the page's policy allows no script. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(source);
  const found = await page.evaluate(`axe.run(document, { preload: false }).then(({ violations, passes }) => ({
    violations: violations.map(({ id, help, nodes }) => id + ': ' + help + ' at ' + nodes.map(({ target }) => target.join(' ')).join(', ')),
    passed: passes.length,
  }))`);
  const { violations, passed } = found as { violations: string[]; passed: number };
  expect(violations, page.url()).toEqual([]);
  // A page that axe saw nothing of would find nothing either.
  expect(passed).toBeGreaterThan(5);
}
