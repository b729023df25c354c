import type { Group } from '../../app/command.ts';
import { listen } from './listen.ts';
import { replay } from './replay.ts';
import { trigger } from './trigger.ts';

/** `svc events` */
export const events: Group = {
  name: 'events',
  summary: 'webhook events: receive, send again, send a sample',
  commands: [listen, replay, trigger],
};
