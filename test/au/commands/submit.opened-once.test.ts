import fs from 'node:fs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startSandbox } from '../../../src/emulator/server.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { svcHere } from '../../support/run-here.ts';

it('au submit --wait opens a request file of one part four times: to check, to upload, and to hash and compare', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-opened-'));
  const sandbox = await startSandbox({ directory, logCount: 0, processingMs: 0 });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await sandbox.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const file = join(directory, 'tokens.csv');
  writeFileSync(file, exampleRequestFile());
  const spies = [vi.spyOn(promises, 'open'), vi.spyOn(fs, 'openSync'), vi.spyOn(fs, 'createReadStream')];
  const { code } = await svcHere(['au', 'submit', file, '--wait'], {
    baseUrl: new URL(sandbox.url),
    env: { SVC_API_KEY: '', SVC_PRIVATE_API_KEY: 'sandbox-private-key' },
  });
  expect(code).toBe(0);
  const opened = spies.flatMap((spy) => spy.mock.calls.filter(([path]) => path === file));
  expect(opened).toHaveLength(4);
});
