// PostHog's client for Node (npm install posthog-node): only host and key change. Web pages take posthog-js with a key of analytics.capture alone.
import { PostHog } from 'posthog-node';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
const posthog = new PostHog(QM_KEY, { host: `${QM_URL}/v1/analytics/posthog` });
posthog.capture({ distinctId: 'browser-4f1c', event: 'plan chosen', properties: { plan: 'pro' } });
posthog.alias({ distinctId: 'user-17', alias: 'browser-4f1c' });
await posthog.shutdown();

const found = await fetch(`${QM_URL}/v1/analytics/person/user-17`, { headers: { Authorization: `Bearer ${QM_KEY}` } });
const { data } = (await found.json()) as { data: { distinct_ids: string[] } };
console.log(data.distinct_ids.toSorted().join(' '));
