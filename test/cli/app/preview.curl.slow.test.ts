import { execFileSync } from 'node:child_process';
import { assert, constantFrom, property, string } from 'fast-check';
import { expect, it } from 'vitest';
import { shellFor } from '../../../src/cli/app/hint.ts';
import { curlCommand, type CurlRequest } from '../../../src/cli/app/preview.ts';

const curl = (request: CurlRequest): string => curlCommand(request, shellFor({ platform: 'linux', env: {} }));

/** Returns the words with which a shell would start curl. */
function wordsOf(command: string, env: Record<string, string> = {}): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  const told = execFileSync('/bin/sh', ['-c', script], { env: { ...env }, encoding: 'utf8' });
  return told.split('\0').slice(0, -1);
}

const LINE = string({ unit: constantFrom(...Array.from(`aZ09 '"$\`\\!*?#&;|<>()[]{}~=-\n@é漢`)) });

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
