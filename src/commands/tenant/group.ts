import type { Group } from '../../cli/command.ts';
import { show } from './show.ts';

/** `svc tenant` */
export const tenant: Group = {
  name: 'tenant',
  summary: 'the tenant that the key belongs to',
  commands: [show],
  defaultCommand: 'show',
};
