import { it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

it.each(['', ' --force --accept-unproven'])(
  'R43: an interrupt of svc au download prints the same command again:%s',
  async (options) => {
    const interrupt = new AbortController();
    const desk = await openQuickDesk({
      intercept: (incoming, outgoing, proceed) => {
        if (incoming.method !== 'GET' || !incoming.url?.startsWith('/store/results/')) return proceed();
        interrupt.abort(new SvcError('interrupted', 'interrupted'));
        outgoing.destroy();
      },
    });
    const submitted = succeeded(await desk.svc('au submit tokens.csv'));
    const { job } = JSON.parse(submitted.stdout) as { readonly job: string };
    await desk.clock.advance(3_600_000);
    const line = `au download ${job} --out again.csv${options}`;
    const env = desk.home.environment(desk.env);
    const here = { home: desk.home.path, env, signal: interrupt.signal, clock: desk.clock };
    ended(await svcHere(line.split(' '), here), 130, { error: { next: `svc ${line}` } });
  },
);
