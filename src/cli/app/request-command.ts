import type { ApiRequest } from '../../client/http/request.ts';
import { type CommandFacts, type CommandSpec, type Context, defineCommand, Preview } from './command.ts';
import type { Input, Parameters } from './parameter.ts';

/**
 * Declares a command that sends one request and shows the response. `--curl` and `--dry-run` show exactly this request.
 */
export function defineRequestCommand<const P extends Parameters, T>(
  spec: CommandFacts & {
    readonly parameters: P;
    readonly request: (context: Context, input: Input<P>) => Promise<ApiRequest<T>>;
    /** The argument that may be the first eight digits of an id, as tables of log entries show ids. */
    readonly loggedId?: (keyof P & string) | undefined;
    /** Checks the output options before anything is sent. @returns the function that shows the response */
    readonly printer: (context: Context, input: Input<P>) => Promise<(response: T) => Promise<void>>;
  },
): CommandSpec {
  const { request, printer, loggedId, ...facts } = spec;
  return defineCommand({
    ...facts,
    async run(context, input) {
      const print = await printer(context, input);
      const toSend = await request(context, input);
      if (input['dryRun'] === true) return new Preview(toSend);
      const client = await context.client();
      if (loggedId === undefined) return print(await client.send(toSend));
      const { loggedIds, wholeId } = await import('./whole-id.ts');
      const id = await wholeId(context, String(input[loggedId]), () => loggedIds(client));
      return print(await client.send(await request(context, { ...input, [loggedId]: id })));
    },
    request,
  });
}
