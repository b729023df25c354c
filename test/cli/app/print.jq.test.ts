import { expect, it } from 'vitest';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';

const EXPRESSION = String.raw`"a\n::warning::forged", "::error::forged", "b\r\n  ##[error]forged", "two\nlines", "std::string", {a: "::x"}`;

async function printed(env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = succeeded(await svcHere(['explain', 'UPD_PAN', '--jq', EXPRESSION], { env }));
  return stdout;
}

it('strings of --jq are printed without quotes, but for those that the runner of GitHub would take for a command', async () => {
  expect(await printed({})).toBe(
    'a\n::warning::forged\n::error::forged\nb\r\n  ##[error]forged\ntwo\nlines\nstd::string\n{"a":"::x"}\n',
  );
  expect(await printed({ GITHUB_ACTIONS: 'true' })).toBe(
    String.raw`"a\n::warning::forged"
"::error::forged"
"b\r\n  ##[error]forged"
two
lines
std::string
{"a":"::x"}
`,
  );
});

it.each([
  ['.operation', "With -o json the whole list is one array: begin the expression with '.[] |', or leave -o json out."],
  ['.[].operation.x', expect.stringContaining('The command itself succeeded')],
])('--jq %s with -o json says why it fails', async (expression, hint) => {
  const argv = ['--sandbox', 'logs', '-n', '2', '-o', 'json', '--jq', expression];
  ended(await svcHere(argv), 1, { error: { code: 'expression', hint } });
});
