import type { Group } from '../../cli/command.ts';
import { cards } from './cards.ts';
import { clock } from './clock.ts';
import { exec } from './exec.ts';
import { openapi } from './openapi.ts';
import { requests } from './requests.ts';
import { reset } from './reset.ts';
import { start } from './start.ts';

/** `svc sandbox` */
export const sandbox: Group = {
  name: 'sandbox',
  summary: 'the service emulated on this machine',
  commands: [start, exec, cards, clock, requests, reset, openapi],
};
