// Charge of one page: as it was sent, or as a browser drew it, which is known at the end. The dearer is held while it may come to that.

import type { ChargedAnswer } from '../../../core/wallet/charge/charge.ts';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { priceOf } from '../../../core/wallet/prices.ts';
import type { CallContext } from '../../../kit/services.ts';
import { DRAWN, FETCH } from '../limits.ts';
import type { WebState } from '../state.ts';
import type { RenderError, RenderWish } from './rendered.ts';

interface PageAnswer {
  readonly text: string;
  readonly rendered: boolean;
}

/** What cannot be paid for is refused before `work`. */
export function chargeForPage(
  ctx: CallContext,
  { core: { prices }, browsers, fetching }: WebState,
  { render }: Pick<RenderWish, 'render'>,
  work: () => Promise<PageAnswer>,
): Promise<ChargedAnswer> {
  let isDrawn = render !== 'never' && browsers.isThere;
  const quoteNanos = () => priceOf(prices, isDrawn ? DRAWN : FETCH, 1n);
  const readPage = async () => {
    const { text, rendered } = await work();
    isDrawn = rendered;
    return text;
  };
  return chargeForAnswer(ctx, fetching, 1n, readPage, quoteNanos);
}

const LACKS: Readonly<Record<RenderError, string>> = {
  no_browser:
    'its scripts draw this page, and this service has no browser (CHROMIUM_PATH): the content is as the site sent it',
  too_complex: 'to draw this page takes too much time or memory: the content is as the site sent it',
  not_shown: 'the browser could not show this page: the content is as the site sent it',
  unsupported_type: 'the browser shows nothing of this page: the content is as the site sent it',
  wait_for_timeout: 'no element of wait_for came within 10 s: the content is as the page was then',
};

/** Tells in the warnings what drawing the page lacked. */
export function warnOfRendering(ctx: Pick<CallContext, 'warnings'>, renderError: RenderError | null): void {
  if (renderError !== null) ctx.warnings.push(`render: ${LACKS[renderError]}.`);
}
