// Error codes of the sms module.
import { problemEntry } from '../../problems/entry.ts';
import { problemsWith } from '../../problems/problem.ts';

export const smsProblems = {
  SMS_SEND_FAILED: problemEntry(
    502,
    'The carrier refused the message.',
    'Nothing was charged. code_detail is what the carrier said; correct the number, the sender or the text before you try again.',
  ),
};

export const smsProblem = problemsWith(smsProblems);
