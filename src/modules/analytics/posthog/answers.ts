// Answers to PostHog's clients: events accepted, no feature flags, and the configuration of browsers with other features off.
import { pageKeySentence } from '../../../kit/page-access.ts';
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { telemetrySentence, telemetryStatus } from '../../../kit/telemetry.ts';
import type { Problem } from '../../../problems/problem.ts';

const plain = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
/** What pages may send and read. */
export const access = {
  headers: 'Content-Type, Content-Encoding, Authorization, X-Requested-With, X-POSTHOG-SESSION-ID, traceparent',
  exposed: 'Retry-After',
};

export function json(value: object, costNanos?: bigint): RawAnswer {
  const cost = costNanos === undefined ? {} : { costNanos };
  return { status: 200, headers: plain, body: JSON.stringify(value), ...cost };
}

/** In the form of PostHog's own refusals; 402 is told as 429, which its clients repeat. */
export function refusal(forBrowsers: boolean) {
  return (failure: Problem, { requestId }: RawHead): RawAnswer => {
    const { status, headers } = telemetryStatus(failure);
    const detail =
      forBrowsers && failure.code === 'INSUFFICIENT_SCOPE'
        ? pageKeySentence('analytics', 'analytics.capture')
        : telemetrySentence(failure);
    const body = { type: 'request_error', code: failure.code, detail, attr: failure.param, request_id: requestId };
    return { status, headers: { ...plain, ...headers }, body: JSON.stringify(body) };
  };
}

/** As its documentation has it, with everything off that wants more of PostHog than events. */
export const browserConfig = {
  supportedCompression: ['gzip', 'gzip-js', 'base64'],
  hasFeatureFlags: false,
  captureDeadClicks: false,
  capturePerformance: false,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  analytics: { endpoint: '/i/v0/e/' },
  elementsChainAsString: true,
  errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  sessionRecording: false,
  heatmaps: false,
  conversations: false,
  logs: { captureConsoleLogs: false },
  surveys: false,
  productTours: false,
  siteApps: [],
  defaultIdentifiedOnly: true,
};

export const noFlags = {
  flags: {},
  featureFlags: {},
  featureFlagPayloads: {},
  errorsWhileComputingFlags: false,
  quotaLimited: [],
  config: { enable_collect_everything: true },
  ...browserConfig,
};

/** What posthog-js loads as a script. `key`: word characters alone. */
export function configScript(key: string): RawAnswer {
  const text = `(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};window._POSTHOG_REMOTE_CONFIG["${key}"]={config:${JSON.stringify(browserConfig)},siteApps:[]}})();`;
  const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=300' };
  return { status: 200, headers, body: text };
}
