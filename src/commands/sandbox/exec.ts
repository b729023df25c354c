import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { repeated, rest, value } from '../../cli/parameter.ts';
import { SvcError } from '../../errors.ts';
import { runChild, sandboxVariables } from './child.ts';
import { type CountCalls, expectation, rateLimit, summary, unmet } from './gates.ts';
import {
  directoryFrom,
  directoryParameter,
  FAULT_GRAMMAR,
  openServer,
  SERVER_PARAMETERS,
} from './server-options.ts';

/** `svc sandbox exec` */
export const exec = defineCommand({
  name: 'exec',
  summary: 'run a command against a sandbox of its own, and say what it asked for',
  description: `Starts a sandbox on a free port, sets SVC_BASE_URL, SVC_MANAGEMENT_API_KEY and SVC_PRIVATE_API_KEY for the command, and the AWS_ variables of its bucket, s3://sandbox, where none are set; runs it, and ends the sandbox. Its state is a fresh one, removed afterwards, unless --directory is given. The exit code is the command's own (127: not found), or 10 when something that --expect or --max-rate asks for is not so. ${FAULT_GRAMMAR}`,
  examples: [
    ['svc sandbox exec -- ./nightly-job.sh', 'the job meets a sandbox instead of the service'],
    ["svc sandbox exec --expect 'GET /logs>=1' --max-rate 10/10s -- ./export.sh", 'a gate for CI'],
    ["svc sandbox exec --fault '503@GET /logs:#1-2' -- ./export.sh", 'does it survive an outage?'],
  ],
  exitCodes: [10, 126, 127],
  // The command meets the sandbox, whatever the environment names.
  newProfile: true,
  parameters: {
    command: rest('<command...>', 'what to run; put it after --'),
    expect: repeated(
      '--expect <calls>',
      "such as 'GET /logs>=1'; also <=, =, >, <; can be given again",
      expectation,
    ),
    maxRate: value('--max-rate <rate>', 'the most requests in any such time, such as 10/10s', rateLimit),
    directory: {
      ...directoryParameter,
      description: 'where its state is, and stays; by default a fresh place',
    },
    ...SERVER_PARAMETERS,
  },
  async run(context, input) {
    const count = await counter(input.expect.map(({ call }) => call));
    const directory = await place(context, input.directory);
    const sandbox = await openServer(context, { directory, port: 0 }, input);
    const code = await runChild(context, input.command, sandboxVariables(context.system.env, sandbox));
    const calls = sandbox.ledger().filter(({ event }) => event === undefined);
    context.notices.note(summary(calls));
    const wrong = unmet(
      input,
      calls.map(({ at }) => Date.parse(at)),
      count(calls),
    );
    if (wrong.length === 0 || context.signal.aborted) return code;
    throw new SvcError('threshold', `the command did not do what was expected: ${wrong.join('; ')}`, {
      hint: code === 0 ? undefined : `It ended with exit code ${code}: look there first.`,
      facts: { unmet: wrong, exit_code: code },
    });
  },
});

type Calls = readonly { readonly method: string; readonly path: string }[];

/** Checks the paths of expectations before anything is started. */
async function counter(expected: readonly string[]): Promise<(calls: Calls) => CountCalls> {
  const { matchesCall, readCallPattern } = await import('../../sandbox/call-pattern.ts');
  if (expected.some((call) => readCallPattern(call) === undefined))
    throw new SvcError(
      'usage',
      '--expect must name a path without query, such as /logs or /account-updater/**',
    );
  return (calls) => (call) => {
    const pattern = readCallPattern(call);
    return calls.filter(({ method, path: target }) => pattern && matchesCall(pattern, method, target)).length;
  };
}

async function place(context: Context, given: string | undefined): Promise<string> {
  if (given !== undefined) return directoryFrom(context, given);
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-sandbox-'));
  context.onClose(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
