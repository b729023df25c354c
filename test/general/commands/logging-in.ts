import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type HereResult, startSandboxHere, svcHere } from '../../support/run-here.ts';

/** Creates an empty directory for settings, and starts a sandbox as the service. */
export async function place(
  options: Parameters<typeof startSandboxHere>[0] = {},
): Promise<{
  svc: (line: string, input?: string) => Promise<HereResult>;
  config: () => string;
  url: string;
  env: Record<string, string>;
}> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-login-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
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
