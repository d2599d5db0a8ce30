// Name of the service and version of its contract; every surface takes these values from here.

export const serviceName = 'quartermaster';

/** Date of the wire shapes; also `api_version` of webhook events. Changes only when a shape that callers parse grows in a notable way. */
export const apiVersion = '2026-11-01';

/** Version of the price book that the modules' prices make together; entries of the ledger name it. */
export const priceVersion = '2026-11-01';

/** Version of the interface description (specification, "Versioning"). */
export const specVersion = '0.1.0';

/** Regions that the specification names (x-svc-regions); a deployment serves one of them. */
export const specRegions = ['western', 'china'] as const;

/** Every module tag of the specification, in its order. Those without a built module are listed as planned. */
export const moduleTags: readonly string[] = [
  'account',
  'ai',
  'ai (chat-completions-compatible)',
  'analytics',
  'auth',
  'captcha',
  'cron',
  'db',
  'dns',
  'email',
  'errors',
  'flags',
  'image',
  'logs',
  'metrics',
  'pdf',
  'queue',
  'realtime',
  'risk',
  'rtc',
  'sms',
  'storage',
  'vector',
  'video',
  'web',
];
