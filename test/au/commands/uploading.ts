import { type HereResult, rowOf } from '../../support/run-here.ts';
import type { Fault } from '../support.ts';
import { type Machine } from './machine.ts';

export const MINUTE = 60_000;

/** Submits the example file with another state directory and without a shared ledger. Returns the job. */
export async function submittedElsewhere(machine: Machine, file = 'tokens.csv'): Promise<string> {
  const elsewhere = { SVC_STATE_DIR: machine.path(`elsewhere-${file}`) };
  const { job } = rowOf(await machine.svc(`au submit ${file} --new-ledger`, elsewhere));
  await machine.clock.advance(MINUTE);
  return String(job);
}

/** Creates a job and uploads a file to it. */
export async function upload(machine: Machine, file: string, env = {}, options = ''): Promise<HereResult> {
  const { id } = rowOf(await machine.svc('au create', env));
  return machine.svc(`au upload ${String(id)} ${file} ${options}`.trim(), env);
}

/** Lets the store refuse every file. */
export const refuseUploads: Fault = ({ method }, outgoing, proceed) => {
  if (method !== 'PUT') return proceed();
  outgoing.writeHead(400).end();
};

/** Lets every file get lost after it was sent whole. */
export const loseFiles: Fault = (incoming, outgoing, proceed) => {
  if (incoming.method !== 'PUT') return proceed();
  incoming.resume().on('end', () => outgoing.socket?.destroy());
};
