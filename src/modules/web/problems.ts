// Error codes of the web module. Its files throw these and the shared ones with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const webProblems = {
  ROBOTS_DISALLOWED: problemEntry(
    403,
    'The site does not allow robots to fetch this URL.',
    'Read its /robots.txt; fetch another page, or ask the site for permission. code_detail robots_unreachable: the file could not be read; try again later.',
  ),
  CRAWL_NOT_FOUND: problemEntry(404, 'The crawl does not exist.', 'Check crawl_id; crawls are kept for 24 hours.'),
};

export const problem = problemsWith(webProblems);
