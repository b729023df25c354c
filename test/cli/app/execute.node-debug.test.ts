import { expect, it } from 'vitest';
import { ended, svcHere } from '../../support/run-here.ts';

it.each(['undici', 'net,FETCH', 'websocket', '*'])(
  'R06: a command does not run where NODE_DEBUG=%s would print signed addresses',
  async (NODE_DEBUG) => {
    ended(await svcHere(['logs'], { env: { NODE_DEBUG } }), 3, {
      stdout: '',
      error: { message: 'NODE_DEBUG would print signed addresses, which are secrets; nothing was done' },
    });
    expect((await svcHere(['completion', 'bash'], { env: { NODE_DEBUG } })).code).toBe(0);
  },
);
