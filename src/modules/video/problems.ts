// Error codes of video; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const videoProblems = {
  LINK_EXPIRED: problemEntry(
    403,
    'The link has expired.',
    'Links are signed and end by time. Get a new one with GET /v1/video/download_url/{job_id}.',
  ),
};

export const problem = problemsWith(videoProblems);
