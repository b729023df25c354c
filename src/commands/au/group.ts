import type { Group } from '../../app/command.ts';
import { abandon } from './abandon.ts';
import { check } from './check.ts';
import { download } from './download.ts';
import { next } from './next.ts';
import { report } from './report.ts';
import { list, status } from './status.ts';
import { create, upload } from './steps.ts';
import { submit } from './submit.ts';
import { sync } from './sync.ts';
import { wait } from './wait.ts';

/** `svc au` */
export const au: Group = {
  name: 'au',
  summary: 'Account Updater: refresh card tokens in batch jobs',
  commands: [submit, check, create, upload, status, list, wait, download, sync, abandon, report, next],
};
