import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { reportError } from '../../../src/cli/output/error-report.ts';
import { type PromptOptions, Prompts } from '../../../src/cli/output/prompt.ts';
import { inputStream, outputOver, Sink } from './streams.ts';

function prompts(options: Partial<PromptOptions> & { columns?: number | undefined; isTTY?: boolean } = {}): Prompts {
  const { columns, isTTY = true, ...rest } = options;
  return new Prompts({
    stdin: () => inputStream(isTTY),
    out: outputOver(new Sink('columns' in options ? columns : 80)),
    env: {},
    noInput: false,
    yes: false,
    signal: new AbortController().signal,
    ...rest,
  });
}

function untouchable(): never {
  throw new Error('standard input was opened');
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('questions that nobody can answer', () => {
  for (const [where, options] of Object.entries({
    'without a terminal to read from': { isTTY: false },
    'without a terminal to ask on': { columns: undefined },
    'with --no-input': { noInput: true },
    'in CI': { env: { CI: 'true' } },
    'under a coding agent': { env: { CLAUDECODE: '1' } },
  }))
    it(`R54: questions that nobody can answer fail at once ${where}, naming the flag to give`, async () => {
      for (const [name, hint] of [
        ['promptHidden', 'Pass --key-stdin'],
        ['promptText', 'Pass --key-stdin'],
        ['confirm', 'Pass --yes.'],
      ] as const) {
        const error = await failureOf(prompts(options)[name]('Key\u202e?', 'Pass --key-stdin'));
        if (!isSvcError(error, 'input_needed')) throw error;
        expect(error.exitCode).toBe(2);
        expect(error.hint).toBe(hint);
        expect(error.message).toBe(String.raw`cannot prompt: Key\u202e?`);
      }
    });

  it('questions that nobody can answer do not open the input where the answer is known not to come', async () => {
    const error = await failureOf(prompts({ noInput: true, stdin: untouchable }).promptText('x', 'y'));
    expect(isSvcError(error, 'input_needed')).toBe(true);
    await prompts({ yes: true, stdin: untouchable }).confirm('x', 'y');
  });

  it('R54: --yes answers ordinary confirmations only', async () => {
    const silent = prompts({ yes: true, isTTY: false });
    await silent.confirm('sure?', 'nothing was changed');
    await expect(silent.promptText('Tenant name:', 'Pass --confirm')).rejects.toThrow('cannot prompt');
  });
});

/** Answers a confirmation with these keys, and returns how it failed. */
async function answered(keys: string): Promise<unknown> {
  const stdin = inputStream(true);
  const end = failureOf(prompts({ stdin: () => stdin }).confirm('sure?', 'nothing was changed'));
  stdin.push(`${keys}\r`);
  return end;
}

describe('a confirmation at a terminal', () => {
  it.each(['y', 'yes', ' YES '])('R54: a confirmation at a terminal takes %j for yes', async (keys) => {
    expect(await answered(keys)).toBeUndefined();
  });

  it.each(['', 'n', 'no', 'yess', 'y es'])(
    'R54: a confirmation at a terminal takes %j for no, which ends the command with 2',
    async (keys) => {
      const error = await answered(keys);
      if (!isSvcError(error, 'declined')) throw error;
      expect([error.exitCode, error.message]).toEqual([2, 'nothing was changed']);
      expect(reportError(error, { machine: false, debug: false })).toBe('nothing was changed\n');
    },
  );
});
