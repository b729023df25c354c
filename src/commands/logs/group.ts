import type { Group } from '../../cli/command.ts';
import { entityTypes } from './entity-types.ts';
import { list } from './list.ts';
import { stats } from './stats.ts';
import { tail } from './tail.ts';

/** `svc logs` */
export const logs: Group = {
  name: 'logs',
  summary: 'audit logs of the tenant',
  commands: [list, tail, stats, entityTypes],
  defaultCommand: 'list',
};
