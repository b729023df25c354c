import type { Group } from '../../cli/command.ts';
import { SHELLS } from '../../completion/shells.ts';
import { install } from './install.ts';
import { printCommand } from './print.ts';

/** `svc completion` */
export const completion: Group = {
  name: 'completion',
  summary: 'completion of commands, options and values with TAB',
  commands: [install, ...SHELLS.map(printCommand)],
};
