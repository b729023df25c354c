import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { svcHere } from '../../support/run-here.ts';

it('R91: svc sandbox exec keeps its command from the ledger that machines share', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-exec-ledger-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const seen = join(home, 'seen');
  const script = "require('fs').writeFileSync(process.argv[1], String(process.env.SVC_LEDGER))";
  const argv = ['sandbox', 'exec', '--', process.execPath, '-e', script, seen];
  const { code, stderr } = await svcHere(argv, { home, env: { SVC_LEDGER: join(home, 'shared') }, clock: systemClock });
  expect(code, stderr).toBe(0);
  expect(readFileSync(seen, 'utf8')).toBe('none');
});
