import type { Group } from '../../cli/command.ts';
import { cards } from './cards.ts';
import { reset } from './reset.ts';
import { start } from './start.ts';

/** `svc sandbox` */
export const sandbox: Group = {
  name: 'sandbox',
  summary: 'the service emulated on this machine',
  commands: [start, cards, reset],
};
