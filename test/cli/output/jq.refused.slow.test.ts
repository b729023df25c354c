import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { Query } from '../../../src/cli/output/jq.ts';

const never = new AbortController().signal;

async function refusal(expression: string): Promise<{ message: string; hint: string }> {
  const error: unknown = await Query.open(expression, never).catch((thrown: unknown) => thrown);
  if (!isSvcError(error, 'usage')) throw new Error(`not refused: ${expression}`, { cause: error });
  return { message: error.message, hint: error.hint ?? '' };
}

describe('an expression that jq cannot take', () => {
  it.each([
    ['.[', /^not a jq expression: syntax error at /],
    ['.a | map', /it calls a function that jq does not have/],
    ['$nothing', /it uses a variable that it does not define/],
    [') | (1', /^not a jq expression: syntax error at /],
    ['# only words', /^not a jq expression/],
    ["'single'", /a character that cannot stand there/],
    ['"open', /^not a jq expression/],
    ['break $x', /^not a jq expression/],
  ])('`%s` is named for what it is', async (expression, message) => {
    expect((await refusal(expression)).message).toMatch(message);
  });

  it.each(['%s', '.%s(', '$%s', '"%s', '{%s', 'import "%s" as $x; .', 'break $%s', "'%s'"])(
    'R05: an expression that jq cannot take is not repeated: %s',
    async (form) => {
      const canary = 'key_canary7Qz4Xw91Lm';
      const { message, hint } = await refusal(form.replace('%s', canary));
      expect(message + hint).not.toContain(canary);
    },
  );
});
