import { defineCommand } from '../../cli/command.ts';
import { positiveDuration } from '../../cli/duration.ts';
import type { Context } from '../../cli/context.ts';
import { resolvePath } from '../../cli/files.ts';
import { choice, type Input, value } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { sandboxDirectory } from '../../cli/sandbox-directory.ts';
import { integer, text } from '../../cli/values.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import type { RunningSandbox } from '../../sandbox/options.ts';
import { systemCodeOf } from '../../system-code.ts';
import { sandboxReadyView } from '../../views/sandbox.ts';

const parameters = {
  port: value('--port <n>', 'port to listen on; 0 takes a free one (default 4010)', integer(0, 65_535)),
  directory: value('--directory <dir>', 'where its state is; by default the one that --sandbox uses', text),
  seed: value('--seed <n>', 'what its made-up world is grown from', integer(0)),
  logs: value('--logs <n>', 'how many made-up log entries it begins with', integer(0)),
  processing: value(
    '--processing <duration>',
    'how long a job takes after its upload (default 2s)',
    positiveDuration,
  ),
  limits: choice('--limits <when>', "whether the live service's rate limits hold (default off)", [
    'on',
    'off',
  ]),
} as const;

/** `svc sandbox start` */
export const start = defineCommand({
  name: 'start',
  summary: 'run the sandbox as a server on loopback until it is interrupted',
  description:
    'Writes one record with its address and keys when it is ready. Its keys are fixed and no secret. It listens on loopback only.',
  examples: [
    ['svc sandbox start', 'then point any client at http://127.0.0.1:4010'],
    ['svc sandbox start --port 0 -o json', 'on a free port; the ready line is one JSON object'],
  ],
  exitCodes: [130, 143],
  parameters,
  async run(context, input) {
    const print = await recordPrinter(context, sandboxReadyView);
    const directory =
      input.directory === undefined ? sandboxDirectory(context) : resolvePath(context, input.directory);
    const sandbox = await open(context, directory, input);
    context.onClose(() => sandbox.close());
    const [management, privateKey] = sandbox.keys;
    await print({
      url: sandbox.url,
      management_key: management?.value ?? '',
      private_key: privateKey?.value ?? '',
      directory,
    });
    context.notices.note(
      `to use it: export SVC_BASE_URL=${sandbox.url} SVC_MANAGEMENT_API_KEY=${management?.value} SVC_PRIVATE_API_KEY=${privateKey?.value}`,
    );
    context.notices.note('stop it with Ctrl-C');
    return untilEnded(context);
  },
});

async function open(
  context: Context,
  directory: string,
  input: Input<typeof parameters>,
): Promise<RunningSandbox> {
  const { startSandbox } = await import('../../sandbox/server.ts');
  const port = input.port ?? 4010;
  try {
    return await startSandbox({
      directory,
      port,
      clock: context.clock,
      seed: input.seed,
      logCount: input.logs,
      processingMs: input.processing,
      limits: input.limits,
    });
  } catch (error) {
    if (systemCodeOf(error) === 'EADDRINUSE') {
      throw new SvcError('local', `port ${port} is in use`, {
        hint: 'Choose another with --port, or --port 0 for a free one.',
      });
    }
    const why = error instanceof Error ? error.message : 'unknown reason';
    throw new SvcError('local', `the sandbox could not start: ${why}`, {
      hint: 'Choose another place with --directory.',
    });
  }
}

// Being interrupted is how a server ends: no error, but the exit code says what ended it.
async function untilEnded({ signal, notices }: Context): Promise<number> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  notices.note('sandbox stopped');
  return isSvcError(signal.reason) ? signal.reason.exitCode : 0;
}
