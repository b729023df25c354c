import { ended, rowOf } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { type Fault, refuseWith } from '../support.ts';

export const MINUTE_MS = 60_000;

export const HOUR_MS = 60 * MINUTE_MS;

export const DAY_MS = 24 * HOUR_MS;

export const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const NOT_FOUND = refuseWith(404, '{"title":"Not Found","status":404}');

/** Lets the service show no job that is read by its id. */
export const hideJobs: Fault = (incoming, outgoing, proceed) => {
  const isRead = incoming.method === 'GET' && /\/account-updater\/jobs\/[^/?]+$/.test(incoming.url ?? '');
  return isRead ? NOT_FOUND(incoming, outgoing, proceed) : proceed();
};

/** Opens a machine that submitted a file, and returns it with its job, which the service does not show now. */
export async function submitted({ options = '', env = {} }: { options?: string; env?: Record<string, string> } = {}) {
  const machine = await openMachine();
  const sent = rowOf(await machine.svc(`au submit tokens.csv ${options}`.trim(), env));
  await machine.clock.advance(MINUTE_MS);
  machine.fault = hideJobs;
  return { machine, job: String(sent['job']) };
}

/** Opens a machine that uploaded a file to a job with `au upload`, or was refused by the store. */
export async function uploaded({ isRefused = false } = {}) {
  const machine = await openMachine();
  const job = String(rowOf(await machine.svc('au create'))['id']);
  if (isRefused)
    machine.fault = ({ method }, outgoing, go) => (method === 'PUT' ? outgoing.writeHead(400).end() : go());
  ended(await machine.svc(`au upload ${job} tokens.csv`), isRefused ? 6 : 0);
  await machine.clock.advance(MINUTE_MS);
  machine.fault = hideJobs;
  return { machine, job };
}
