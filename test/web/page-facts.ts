// Thirty saved pages of thirty kinds: three facts of each that a reader of its main content needs, and one piece of the page around it that
// such a reader does not. Regular expressions stand where a layout may put marks of Markdown, cells or lines between words.

import { readFileSync } from 'node:fs';
import { reportPdf } from './page-pdf.ts';

export interface PageFacts {
  readonly file: string;
  readonly facts: readonly [string | RegExp, string | RegExp, string | RegExp];
  readonly chrome: string | RegExp;
}

export const PAGES: readonly PageFacts[] = [
  {
    file: 'news',
    facts: ['212 steel hangers', '£46.3 million', 'vehicles cross the bridge on a working day'],
    chrome: 'Council tax: what you will pay',
  },
  {
    file: 'docs',
    facts: [
      "kind: 'fixed', delayMs: 30_000",
      /`?jitter`?\s*\|\s*ratio\s*\|\s*0\.15/,
      'visibility timeout of 120 seconds',
    ],
    chrome: 'Migrating from version 3',
  },
  { file: 'product', facts: ['€129,00', /Weight\W+1,340 g/, 'Sleeve for a 3 litre bladder'], chrome: 'Join the club' },
  {
    file: 'shop-list',
    facts: [/Schlagbohrmaschine 750 W[\s\S]{0,200}64,95 €/, '119,00 €', '5 Drehzahlen, 18,4 kg'],
    chrome: 'Hotline 0000',
  },
  { file: 'forum', facts: ['F75', 'bag over the copper pipe', '178993'], chrome: 'Users browsing this forum' },
  {
    file: 'question',
    facts: ['sender_id = 7 OR receiver_id = 7', 'it reads 40 rows', /random_page_cost.{0,4} to 1\.1/],
    chrome: 'Can I freeze pizza dough twice',
  },
  {
    file: 'wide-table',
    facts: [/Rail\b[^\n]*10,618\W+\+6\.0%/, /Inland waterway[^\n]*2,980/, 'low water on 47 days'],
    chrome: 'Table 7.3 Ports',
  },
  {
    file: 'tutorial',
    facts: ['bus = Bus(pin=14)', 'onewire-lite==2.3.1', "with open('/log.csv', 'a') as f:"],
    chrome: 'Sweep a servo',
  },
  {
    file: 'arabic',
    facts: ['180,000 متر مكعب', '410 ملايين دينار', /الثانية\W+95,000\W+2028/],
    chrome: 'أسعار الذهب اليوم',
  },
  {
    file: 'chinese',
    facts: ['晚上9点推迟到11点30分', '37.6万人次', 'K203路将延至23点50分'],
    chrome: '公园樱花进入盛花期',
  },
  {
    file: 'japanese',
    facts: ['朝8時30分までに', /びん・缶\W+第2・第4金曜\W+青いコンテナ/, 'ふとんは1枚300円'],
    chrome: 'ペット・動物',
  },
  {
    file: 'recipe',
    facts: [/420\s+ml\s+lukewarm water/, 'Heat the oven to 245 °C', 'Rest: 13 hours'],
    chrome: 'Plum sheet cake',
  },
  {
    file: 'event',
    facts: ['Grande salle du port, quai 7', '18 € (réduit 11 €)', /23 h 45\W+Ciné-concert muet/],
    chrome: 'Le cirque des marées',
  },
  {
    file: 'job',
    facts: ['£38,400 + 22% night allowance', 'Experience with S7 controllers', '28 February 2026'],
    chrome: 'Fire service watch officer',
  },
  {
    file: 'blog',
    facts: ['switches on the kettle in the kitchen at 6:40', 'came to 23.80', 'after 41 seconds'],
    chrome: 'Hosted on a computer under the stairs',
  },
  {
    file: 'release-notes',
    facts: [
      /listener.max\\?_inflight.{0,2} falls from 100 to 32/,
      'CVE-2026-10417',
      'docker pull tidewater/broker:3.12.0',
    ],
    chrome: 'Pull requests 41',
  },
  {
    file: 'legal',
    facts: ['does not exceed 250 watts', 'at least 12 bicycles', 'Made 3rd March 2025'],
    chrome: 'Browse Legislation',
  },
  {
    file: 'faq',
    facts: ['When do I get my bill?', 'Paper bills cost €1.50', 'Fill in form U-3'],
    chrome: 'Solar roofs',
  },
  {
    file: 'directory',
    facts: [
      /router-23\.05\.3\.bin\.gz[^\n]*2026-01-19 04:12\W+8\.1M/,
      'checksums of images',
      /packages\/[^\n]*2026-02-28/,
    ],
    chrome: 'Mirror sponsored',
  },
  {
    file: 'wiki',
    facts: [/Length:?\W+21–26 cm/, 'within 18 days', 'raised to 14 cm in 2019'],
    chrome: 'What links here',
  },
  {
    file: 'timetable',
    facts: [/Hospital, main gate\W+6:04\W+6:34\W+7:07/, 'Valid from 14 December 2025', 'call 30 minutes ahead'],
    chrome: 'Lost property',
  },
  {
    file: 'price-list',
    facts: [
      /Lantern\s[\s\S]{0,20}\$29[\s\S]{0,200}60,000 messages a month/,
      '99.95% uptime agreement',
      /above\W+\$0\.55/,
    ],
    chrome: 'Press kit',
  },
  { file: 'contact', facts: ['17 Ropewalk Lane', /Saturday\W+9:00–12:30/, '0000 555 019'], chrome: 'We bake cookies' },
  {
    file: 'press',
    facts: ['Operating margin 17.9%', /Net debt\W+88\.4\W+131\.0/, '€1.21 to €1.24 billion'],
    chrome: 'Change in the supervisory board',
  },
  {
    file: 'abstract',
    facts: ['24 hydrophones', '52 were found (91.2 %)', '10.5555/ojws.2026.0417'],
    chrome: 'A survey of smart meters',
  },
  { file: 'course', facts: ['7,5 ECTS', 'Mapas web en teselas', /Proyecto\W+45 %/], chrome: 'GEO-212 Hidrología' },
  {
    file: 'mailing-list',
    facts: ['commit 7be21f0', '    # systemctl suspend', '0x1f0000'],
    chrome: 'fix typo in man page',
  },
  {
    file: 'docs-tabs',
    facts: ['apt-get install beacon-agent', 'msiexec /i beacon-agent.msi', /6123\/udp\W+incoming/],
    chrome: 'Behind a proxy',
  },
  { file: 'shell', facts: [/High\W+14:08\W+5\.2 m/, '+0 h 35 min', /Low\W+20:16/], chrome: 'Loading the app' },
  {
    file: 'report.pdf',
    facts: ['1,284 households', '61 percent', '14 heat pumps'],
    chrome: 'Energy advice agency, page',
  },
];

const stands = (fact: string | RegExp, content: string) =>
  typeof fact === 'string' ? content.includes(fact) : fact.test(content);

/** Which facts of the page its content has lost, and whether it has kept what stands around. */
export function factsIn(page: PageFacts, content: string): { lost: string[]; chrome: boolean } {
  const lost = page.facts.filter((fact) => !stands(fact, content)).map(String);
  return { lost, chrome: stands(page.chrome, content) };
}

export async function savedPage(file: string): Promise<Uint8Array> {
  if (file.endsWith('.pdf')) return reportPdf();
  return new Uint8Array(readFileSync(new URL(`./pages/${file}.html`, import.meta.url)));
}
