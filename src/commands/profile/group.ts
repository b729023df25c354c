import type { Group } from '../../cli/command.ts';
import { deleteProfile } from './delete.ts';
import { list } from './list.ts';
import { set } from './set.ts';
import { show } from './show.ts';
import { use } from './use.ts';

/** `svc profile` */
export const profile: Group = {
  name: 'profile',
  summary: 'named settings: list, show, use, set, delete',
  commands: [list, show, use, set, deleteProfile],
  defaultCommand: 'list',
};
