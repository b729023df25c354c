import { isSvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { shellFor } from '../../cli/app/shell.ts';
import { value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { integer } from '../../cli/app/value-parsers.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { SandboxTenant } from '../../emulator/running-sandbox.ts';
import { directoryFrom, directoryParameter, faultsFrom, openServer, SERVER_PARAMETERS } from '../server-options.ts';

/** Returns the types of the tenants, whose keys stand in the notes. */
function typesOf(tenants: unknown): unknown {
  return Array.isArray(tenants) ? tenants.map(({ type }: SandboxTenant) => type) : tenants;
}

const sandboxReadyView: View = {
  name: 'sandbox',
  fields: fieldPaths('url management_key private_key directory tenants'),
  columns: [
    { path: 'url', kind: 'id' },
    { path: 'tenants', kind: 'text', show: typesOf },
  ],
};

export const start = defineCommand({
  description:
    'Prints one record with its address and keys when it is ready. The keys are fixed and not secret. Listens on loopback only.',
  examples: [
    ['svc sandbox start', 'then point any client at http://127.0.0.1:4010'],
    ['svc sandbox start --port 0 -o json', 'on a free port, with one JSON object once it is ready'],
    ["svc sandbox start --fault '429@GET /logs:0.1'", 'one in ten reads of logs is refused'],
    ['svc sandbox start --tenants test,production', 'two tenants, each with its own data and keys'],
    ['svc sandbox start --webhook http://127.0.0.1:8080/events', 'send events to an address'],
  ],
  exitCodes: [130, 143],
  fields: sandboxReadyView.fields,
  parameters: {
    port: value('--port <n>', 'port to listen on; 0 takes a free one (default 4010)', integer(0, 65_535)),
    directory: directoryParameter,
    ...SERVER_PARAMETERS,
  },
  async run(context, input) {
    const print = await recordPrinter(context, sandboxReadyView);
    const directory = await directoryFrom(context, input.directory);
    const sandbox = await openServer(
      context,
      { directory, port: input.port ?? 4010 },
      input,
      await faultsFrom(context, input),
    );
    const [management, privateKey] = sandbox.keys;
    await print({
      url: sandbox.url,
      management_key: management?.value ?? '',
      private_key: privateKey?.value ?? '',
      directory,
      tenants: sandbox.tenants,
    });
    const { notices, system } = context;
    notices.note('to use it in another shell:');
    const variables = {
      SVC_BASE_URL: sandbox.url,
      SVC_MANAGEMENT_API_KEY: management?.value ?? '',
      SVC_PRIVATE_API_KEY: privateKey?.value ?? '',
    };
    const shell = shellFor(system);
    for (const [name, text] of Object.entries(variables)) notices.command(shell.setVariable(name, text));
    for (const { type, management_key, private_key } of sandbox.tenants.slice(1))
      notices.note(`another tenant (${type}): ${management_key} and ${private_key}`);
    notices.note('stop it with Ctrl-C');
    return untilEnded(context);
  },
});

// Ending a server by a signal is no error, but has the exit code of the signal.
async function untilEnded({ signal, notices }: Context): Promise<number> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  notices.note('sandbox stopped');
  return isSvcError(signal.reason) ? signal.reason.exitCode : 0;
}
