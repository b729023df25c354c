import type { Group } from '../../app/command.ts';
import { clock, reset } from './control.ts';
import { exec } from './exec.ts';
import { cards, openapi, requests } from './inspect.ts';
import { start } from './start.ts';

/** `svc sandbox` */
export const sandbox: Group = {
  name: 'sandbox',
  summary: 'the service emulated on this machine',
  commands: [start, exec, cards, clock, requests, reset, openapi],
};
