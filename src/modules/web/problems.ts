// Error codes of the web module. Its files throw these and the shared ones with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const webProblems = {
  TARGET_REJECTED: problemEntry(
    400,
    'The URL may not be fetched.',
    'Use an http or https URL of a public host, on port 80 or 443. The redirects of the page are checked too. The operator may allow private networks (ALLOW_PRIVATE_SOURCES).',
  ),
  ROBOTS_DISALLOWED: problemEntry(
    403,
    'The site does not allow robots to fetch this URL.',
    'Read its /robots.txt; fetch another page, or ask the site for permission. code_detail robots_unreachable: the file could not be read; try again later.',
  ),
  TARGET_FAILED: problemEntry(
    502,
    'The page could not be fetched.',
    'code_detail says why: dns, connect, tls, timeout, reset, protocol. Check the URL, or try again later.',
    true,
  ),
  CRAWL_NOT_FOUND: problemEntry(404, 'The crawl does not exist.', 'Check crawl_id; crawls are kept for 24 hours.'),
};

export const problem = problemsWith(webProblems);
