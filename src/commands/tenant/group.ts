import type { Group } from '../../app/command.ts';
import { deleteTenant } from './delete.ts';
import { show } from './show.ts';
import { update } from './update.ts';
import { usage } from './usage.ts';

/** `svc tenant` */
export const tenant: Group = {
  name: 'tenant',
  summary: 'the tenant that the key belongs to',
  commands: [show, update, usage, deleteTenant],
  defaultCommand: 'show',
};
