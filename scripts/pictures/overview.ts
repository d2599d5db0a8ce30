// The overview as a person sees it who is signed in by mail, light and dark.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { startBrowser } from '../../test/support/browser.ts';
import { PROJECT } from '../../test/support/process.ts';
import type { PicturedService } from './place.ts';

const VIEW = { viewport: { width: 1_280, height: 1_000 }, deviceScaleFactor: 1.5, locale: 'en-US' };
const QUALITY = 80;
const SHOWN_WITHIN_MS = 10_000;

/** Writes docs/pictures/overview-light.webp and overview-dark.webp. `email`: of an owner of the account. */
export async function takePictures(service: Pick<PicturedService, 'url' | 'qm'>, email: string): Promise<void> {
  const { browser, close } = await startBrowser();
  try {
    const context = await browser.newContext(VIEW);
    const page = await context.newPage();
    page.setDefaultTimeout(SHOWN_WITHIN_MS);
    await page.goto(`${service.url}/console`);
    await page.fill('#email', email);
    await page.click('form:has(#email) button');
    await page.fill('#code', await mailedCode(service));
    await page.click('form:has(#code) button');
    for (const colorScheme of ['light', 'dark'] as const) {
      // A page with plots loads itself again when colours change.
      await page.goto('about:blank');
      await page.emulateMedia({ colorScheme });
      await page.goto(`${service.url}/console`);
      await page.waitForSelector('.drawn canvas');
      const file = join(PROJECT, `docs/pictures/overview-${colorScheme}.webp`);
      await sharp(await page.screenshot())
        .webp({ quality: QUALITY })
        .toFile(file);
      console.log(`${file}: ${Math.ceil((await stat(file)).size / 1_024)} kB`);
    }
  } finally {
    await close();
  }
}

/** Of the newest mail that has one, as it is written there: `123 456`. */
async function mailedCode({ qm }: Pick<PicturedService, 'qm'>): Promise<string> {
  const { items } = (await qm('outbox')) as { items: readonly { readonly text: string }[] };
  const [code] = items.flatMap(({ text }) => /\b\d{3} \d{3}\b/.exec(text)?.[0] ?? []);
  if (code === undefined) throw new Error('no mail with a code was written');
  return code;
}
