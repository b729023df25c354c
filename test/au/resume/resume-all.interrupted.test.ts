import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { openQuickDesk } from '../commands/support.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';

const OF_CYCLE = 'au resume 2026-12 --wait --out all.csv --fail-on err=5%';

it.each([
  {
    line: 'au resume --wait --fail-on err=5% --stale 8d --exec true',
    again: 'au resume --wait --fail-on err=5% --stale 691200s --exec true',
    on: 'the machine that sent the file',
  },
  { line: 'au wait', again: 'au resume --wait', on: 'the machine that sent the file' },
  { line: OF_CYCLE, again: OF_CYCLE, on: 'the machine that sent the file' },
  { line: OF_CYCLE, again: OF_CYCLE, on: 'another machine' },
])('R43: an interrupt of svc $line prints the same command again on $on', async ({ line, again, on }) => {
  const interrupt = new AbortController();
  let polls = -Infinity;
  const desk = await openQuickDesk({
    processingMs: 3_600_000,
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method === 'GET' && /\/jobs\/[^/]+$/.test(incoming.url ?? '') && (polls += 1) === 4)
        interrupt.abort(new SvcError('interrupted', 'interrupted'));
      proceed();
    },
  });
  const shared = { SVC_LEDGER: desk.home.file('ledger') };
  const elsewhere = on === 'another machine' ? { SVC_STATE_DIR: desk.home.file('elsewhere') } : {};
  expect(await desk.svc('au submit tokens.csv --cycle 2026-12', shared)).toMatchObject({ code: 0 });
  polls = 0;
  const env = desk.home.environment({ ...desk.env, ...shared, ...elsewhere });
  const here = { home: desk.home.path, env, signal: interrupt.signal };
  const ended = await svcHere(line.split(' '), here);
  expect(ended.code, ended.stderr).toBe(130);
  expect(errorIn(ended)).toMatchObject({ next: `svc ${again}` });
});
