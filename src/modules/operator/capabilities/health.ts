import Type from 'typebox';
import { callsInLanes } from '../../../core/hear-siblings.ts';
import { liveProcesses } from '../../../core/process/processes.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, whole } from '../../../kit/fields.ts';
import { iso } from '../../../lib/time.ts';
import { lastDoctorResult } from '../../../upkeep/doctor-result.ts';
import { backlogOf } from '../../../webhooks/deliveries/backlog.ts';

const processSchema = Type.Object(
  {
    process_id: Type.String({ description: 'Id of the process; those behind one port share its beginning.' }),
    roles: Type.Array(Type.String(), { description: 'What it does: web, work and render, as ROLES says; cli.' }),
    started_at: instant('When it started.'),
    seen_at: instant('When it last said that it lives.'),
  },
  { title: 'OperatorProcess' },
);

export const health = defineCapability()({
  method: 'GET',
  path: '/v1/operator/health',
  summary: 'Shows whether the service is well.',
  description:
    'For the operator of the service only. The processes of the deployment that were seen in the last three minutes, what waits, and what ' +
    '`qm doctor` found when it last ran. /metrics tells more.',
  keywords: ['service status', 'backlog', 'processes alive', 'doctor result'],
  input: Type.Object({}),
  output: Type.Object(
    {
      processes: Type.Array(processSchema, { description: 'The oldest first, 500 at most.' }),
      lanes: Type.Object(
        { calls_waiting: whole('Billable calls that wait for or are in a commit.') },
        { description: 'Of the processes behind the port that was asked.' },
      ),
      backlog: Type.Object(
        {
          events_waiting: whole('Committed events that have no number yet.'),
          deliveries_due: whole('Webhook deliveries that could be attempted now.'),
          oldest_due_seconds: Type.Number({ description: 'For how long the oldest of them has been due.' }),
        },
        { description: 'What waits to be told.' },
      ),
      doctor: Type.Unsafe<{ at: string; accounts: number; findings: number } | null>({
        type: ['object', 'null'],
        description: 'What `qm doctor` found last; null: it has never run.',
        required: ['at', 'accounts', 'findings'],
        properties: {
          at: instant('When it looked.'),
          accounts: whole('Accounts that it looked at.'),
          findings: whole('What did not add up; the command says what.'),
        },
      }),
    },
    { title: 'OperatorHealth' },
  ),
  examples: [{ title: 'Now', input: {} }],
  async run({ ctx: { core } }) {
    const [processes, waiting, backlog, doctor] = await Promise.all([
      liveProcesses(core.db),
      callsInLanes(core),
      backlogOf(core.db),
      lastDoctorResult(core.db),
    ]);
    return {
      data: {
        processes: processes.map((each) => ({ ...each, started_at: iso(each.started_at), seen_at: iso(each.seen_at) })),
        lanes: { calls_waiting: waiting },
        backlog: {
          events_waiting: backlog.eventsWaiting,
          deliveries_due: backlog.deliveriesDue,
          oldest_due_seconds: backlog.oldestDueSeconds,
        },
        doctor,
      },
    };
  },
});
