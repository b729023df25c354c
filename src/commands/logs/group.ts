import type { Group } from '../../app/command.ts';
import { archive } from './archive.ts';
import { entityTypes, list } from './list.ts';
import { search } from './search.ts';
import { stats } from './stats.ts';
import { tail } from './tail.ts';
import { verify } from './verify.ts';

/** `svc logs` */
export const logs: Group = {
  name: 'logs',
  summary: 'audit logs of the tenant',
  commands: [list, tail, archive, search, verify, stats, entityTypes],
  defaultCommand: 'list',
};
