import { it } from 'vitest';
import { ended, svcHere } from '../../support/run-here.ts';

it.each(['undici', 'net,FETCH', 'websocket', '*'])(
  'R06: a command does not run where NODE_DEBUG=%s would print signed addresses',
  async (NODE_DEBUG) => {
    ended(await svcHere(['--sandbox', 'logs'], { env: { NODE_DEBUG } }), 3, {
      stdout: '',
      error: { message: 'NODE_DEBUG would print signed addresses, which are secrets; nothing was done' },
    });
  },
);
