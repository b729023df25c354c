import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HereResult, startSandboxHere, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** Creates an empty directory for settings, and starts a sandbox as the service. */
export async function place(
  options: Parameters<typeof startSandboxHere>[0] = {},
): Promise<{
  svc: (line: string, input?: string) => Promise<HereResult>;
  config: () => string;
  url: string;
  env: Record<string, string>;
}> {
  const directory = temporaryDirectory();
  const { baseUrl } = await startSandboxHere(options);
  const env = { SVC_CONFIG_DIR: directory, SVC_CACHE_DIR: join(directory, 'cache'), PATH: process.env['PATH'] ?? '' };
  const url = baseUrl.href.replace(/\/$/, '');
  return {
    url,
    env,
    svc: (line, input) =>
      svcHere(words(line), { env: { SVC_BASE_URL: url, ...env }, ...(input === undefined ? {} : { input }) }),
    config: () =>
      existsSync(join(directory, 'config.json')) ? readFileSync(join(directory, 'config.json'), 'utf8') : '',
  };
}

function words(line: string): string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
}
