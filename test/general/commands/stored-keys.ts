import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, startSandboxHere, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

export const DAY_MS = 86_400_000;

/** An operator with an empty config directory, a sandbox as the service, and a clock that the test moves. */
export async function operator() {
  const directory = temporaryDirectory();
  const { baseUrl } = await startSandboxHere();
  const clock = new FakeClock();
  const env = { SVC_CONFIG_DIR: directory, SVC_CACHE_DIR: join(directory, 'cache'), SVC_BASE_URL: baseUrl.href };
  const config = join(directory, 'config.json');
  return {
    clock,
    config: () => readFileSync(config, 'utf8'),
    edit: (change: (text: string) => string) => writeFileSync(config, change(readFileSync(config, 'utf8'))),
    svc: (line: string, { input, more = {} }: { input?: string; more?: Record<string, string> } = {}) =>
      svcHere(line.split(' '), { env: { ...env, ...more }, clock, ...(input === undefined ? {} : { input }) }),
  };
}

export function rowsOf({ stdout }: HereResult): Record<string, unknown>[] {
  return JSON.parse(stdout) as Record<string, unknown>[];
}
