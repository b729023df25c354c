import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellFor } from '../../../src/cli/app/shell.ts';
import { curlCommand, type CurlRequest } from '../../../src/cli/app/preview.ts';
import { assert, constantFrom, property, string } from 'fast-check';

const curl = (request: CurlRequest): string => curlCommand(request, shellFor({ platform: 'linux', env: {} }));

/** Returns the words with which a shell would start curl. */
function wordsOf(command: string, env: Record<string, string> = {}): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  const told = execFileSync('/bin/sh', ['-c', script], { env: { ...env }, encoding: 'utf8' });
  return told.split('\0').slice(0, -1);
}

const LINE = string({ unit: constantFrom(...Array.from(`aZ09 '"$\`\\!*?#&;|<>()[]{}~=-\n@é漢`)) });

it('a curl command takes the key from its variable when it runs', () => {
  const command = curl({ method: 'GET', url: 'https://a.example/logs', headers: {}, keyVariable: 'SVC_API_KEY' });
  expect(wordsOf(command, { SVC_API_KEY: "k'1" })).toEqual(['-H', "SVC-API-KEY: k'1", 'https://a.example/logs']);
});

it('a curl command writes what a reader could overlook as JSON does', () => {
  const body = JSON.stringify({ a: 'x\u202Ey\u{E0041}\u0085' });
  const [, , , sent = ''] = wordsOf(curl({ method: 'PUT', url: 'https://a.example/', headers: {}, body }));
  expect(sent).toMatch(/^[ -~]+$/);
  expect(JSON.parse(sent)).toEqual(JSON.parse(body));
});

it('a curl command is written for PowerShell on Windows', () => {
  const request = { method: 'PUT', url: 'https://a.example/', headers: {}, keyVariable: 'SVC_API_KEY', body: "it's" };
  expect(curlCommand(request, shellFor({ platform: 'win32', env: {} }))).toBe(
    "curl --request PUT `\n  -H \"SVC-API-KEY: $env:SVC_API_KEY\" `\n  --data-raw 'it''s' `\n  'https://a.example/'\n",
  );
});

it('a curl command lets curl take brackets as they are', () => {
  expect(wordsOf(curl({ method: 'GET', url: 'http://[::1]:8/a?b={c}', headers: {} }))).toContain('--globoff');
  const toStore = { method: 'PUT', url: { variable: 'STORE_URL' }, headers: {} };
  expect(wordsOf(curl({ ...toStore, upload: 't[1].csv' }))).toContain('--globoff');
  expect(wordsOf(curl({ ...toStore, upload: 't.csv' }))).not.toContain('--globoff');
});

it('a curl command says to curl exactly what the request holds, whatever a shell makes of its characters', () => {
  assert(
    property(LINE, LINE, (body, path) => {
      const url = new URL(`https://api.example/${path}`).href;
      const words = wordsOf(curl({ method: 'POST', url, headers: { 'x-a': 'it\'s "x"' }, body }));
      expect(words.filter((word) => word !== '--globoff')).toEqual([
        '--request',
        'POST',
        '--header',
        'x-a: it\'s "x"',
        '--data-raw',
        body,
        url,
      ]);
    }),
    { numRuns: Number(process.env['SOAK'] ?? 0) > 0 ? 1000 : 12 },
  );
});
