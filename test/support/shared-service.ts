// One service with the defaults for all files of a worker that ask for it: a start takes a database and a third of a second of processor
// time. Accounts keep its tests apart. What moves its clock, stops it, makes an operator, or counts what the whole service does starts a
// service of its own (`startTestService`).
import { startTestService, type TestService } from './service.ts';

export type SharedService = Omit<TestService, 'advance' | 'stop'>;

let started: Promise<SharedService> | undefined;

/** The worker's service. It is started by the first who asks, and ends with the worker. */
export function sharedService(): Promise<SharedService> {
  started ??= startTestService();
  return started;
}
