// Firecrawl's client (npm install @mendable/firecrawl-js): only its address and its key change. A page as Markdown, then its site.
import Firecrawl from '@mendable/firecrawl-js';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
const [url = 'https://example.com/'] = process.argv.slice(2);
const firecrawl = new Firecrawl({ apiKey: QM_KEY, apiUrl: `${QM_URL}/v1/web/firecrawl` });

const { markdown, metadata } = await firecrawl.scrape(url, { formats: ['markdown'] });
console.log(`${metadata?.title}: ${markdown?.length} characters`);
const { status, data } = await firecrawl.crawl(new URL('/', url).href, {
  limit: 5,
  maxDiscoveryDepth: 1,
  pollInterval: 1,
});
console.log(`${status}: ${data.map((page) => page.metadata?.title).join(', ')}`);
