import type { Group } from '../../cli/command.ts';
import { authenticate } from './authenticate.ts';
import { challengeResult } from './challenge-result.ts';
import { create } from './create.ts';
import { explain } from './explain.ts';
import { show } from './show.ts';
import { template } from './template.ts';
import { validate } from './validate.ts';

/** `svc 3ds` */
export const threeDs: Group = {
  name: '3ds',
  summary: '3-D Secure: authenticate the cardholder behind a card token',
  commands: [create, show, template, validate, authenticate, challengeResult, explain],
};
