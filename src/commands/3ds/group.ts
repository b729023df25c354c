import type { Group } from '../../app/command.ts';
import { authenticate } from './authenticate.ts';
import { challengeResult } from './challenge-result.ts';
import { explain } from './explain.ts';
import { create, show } from './session.ts';
import { template } from './template.ts';
import { validate } from './validate.ts';

/** `svc 3ds` */
export const threeDs: Group = {
  name: '3ds',
  summary: '3-D Secure: authenticate the cardholder behind a card token',
  commands: [create, show, template, validate, authenticate, challengeResult, explain],
};
