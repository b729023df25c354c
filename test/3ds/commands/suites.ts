import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { ScenarioResult } from '../../../src/3ds/scenario-result.ts';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type HereResult, rowsIn, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { type Reply, Scripted } from './support.ts';

export const KEYS = { SVC_API_KEY: '', SVC_PRIVATE_API_KEY: 'sandbox-private-key' };

export function results({ stdout }: HereResult): ScenarioResult[] {
  return rowsIn<ScenarioResult>(stdout);
}

/** Opens a directory for suites, a sandbox and a scripted service for the tests of a file. */
export async function openSuites() {
  const directory = temporaryDirectory();
  const clock = new FakeClock({ start: Date.now() });
  const sandbox = await startSandbox({ directory: join(directory, 'sandbox'), clock });
  const scripted = await Scripted.start();
  afterAll(async () => {
    await sandbox.close();
    await scripted.close();
  });

  /** Runs a command line, with words separated by `|`, against the sandbox or another service. */
  const svc = (line: string, input = '', url = sandbox.url): Promise<HereResult> => {
    const argv = ['3ds', ...line.split('|')];
    return svcHere(argv, { baseUrl: new URL(url), env: KEYS, clock, cwd: directory, input });
  };

  /** Makes the service end every authentication with this outcome. */
  const serve = (outcome: Reply): void => {
    scripted.play(({ method, path }) => {
      if (path === '/3ds/sessions') return [201, { id: 'session-1', type: 'customer' }];
      if (method === 'POST') return outcome;
      return [
        200,
        typeof outcome === 'string' ? {} : { id: 'session-1', ...(outcome[1] as object), authentication: outcome[1] },
      ];
    });
  };
  return { clock, directory, scripted, serve, svc };
}
