import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/errors.ts';
import { parse } from '../../src/program/parse.ts';
import { EXIT_CODE_MEANINGS } from '../../src/program/topics.ts';

describe('help topics', () => {
  it('R55 explain every exit code that a failure can have, in the numbers that README gives', () => {
    const explained = new Set(EXIT_CODE_MEANINGS.map(([code]) => code));
    expect(Object.values(EXIT_CODES).filter((code) => !explained.has(code))).toEqual([]);
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    for (const code of explained) expect(readme).toMatch(new RegExp(`\\| (\\d+, )*${code}(, \\d+)* \\|`));
  });

  it.each(['exit-codes', 'environment'])('svc help %s shows its topic', async (topic) => {
    const invocation = await parse(['help', topic]);
    expect(invocation).toMatchObject({
      kind: 'help',
      text: expect.stringContaining(topic === 'environment' ? 'SVC_PROFILE' : 'outcome_unknown'),
    });
  });
});
