import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R91: svc sandbox exec keeps its command from the ledger that machines share', async () => {
  const home = temporaryDirectory();
  const seen = join(home, 'seen');
  const script = "require('fs').writeFileSync(process.argv[1], String(process.env.SVC_LEDGER))";
  const argv = ['sandbox', 'exec', '--', process.execPath, '-e', script, seen];
  succeeded(await svcHere(argv, { home, env: { SVC_LEDGER: join(home, 'shared') }, clock: systemClock }));
  expect(readFileSync(seen, 'utf8')).toBe('none');
});
