import type { Clock, System } from '../../base/system.ts';
import type { Client } from '../../client/api/client.ts';
import type { ApiKey } from '../../client/http/core.ts';
import type { Trace } from '../../client/http/exchange.ts';
import type { ApiRequest } from '../../client/http/request.ts';
import type { KeyType, TenantFacts } from '../../schema/tenant.ts';
import type { Settings } from '../config/settings.ts';
import type { Query } from '../output/jq.ts';
import type { Terminal } from '../output/terminal.ts';
import type { View } from '../output/view.ts';
import type { Globals } from './global-parameters.ts';
import { flag, type Input, type Parameters, suggesting, value } from './parameter.ts';
import { names } from './value-parsers.ts';

/** A command line that works, and what it does. */
export type Example = readonly [line: string, does: string];

/** What is said of a command beside its name, summary and parameters. */
export interface CommandFacts {
  /** More, shown in the command's own help. */
  readonly description?: string;
  /** First in the help. */
  readonly examples: readonly Example[];
  readonly permissions?: readonly string[];
  /** Runs with settings that cannot be used as well: those of them that can be used stay. */
  readonly anySettings?: boolean;
  /** Exit codes beyond the ordinary ones that this command can end with. */
  readonly exitCodes?: readonly number[];
  /** What it prints can be long and comes to an end (its input may decide): a terminal shows it in a pager. */
  readonly paged?: boolean | ((input: Readonly<Record<string, unknown>>) => boolean);
  readonly newProfile?: boolean;
  /** It changes something at the service or costs money: the tenant is shown first. Other commands can only read. */
  readonly changes?: true;
  /** What `--fields` can choose from in what this command prints. */
  readonly fields?: readonly string[];
}

/** What a command ends with: an exit code, nothing for 0, or a request to show in place of sending it. */
export type Result = number | void | Preview;

/** A command as its file declares it: facts, parameters, and a function of typed input and a context. */
export interface CommandSpec extends CommandFacts {
  readonly parameters: Parameters;
  /** Resolves to the exit code; nothing means 0. Failures are thrown. */
  readonly run: (context: Context, input: Readonly<Record<string, unknown>>) => Promise<Result>;
  /** The first request that the command would send, for `--curl`, which sends nothing. */
  readonly request?: (context: Context, input: Readonly<Record<string, unknown>>) => Promise<PreviewRequest>;
}

export interface GroupSpec {
  readonly commands: readonly Entry[];
  /** The command that runs when none is named. */
  readonly defaultCommand?: string | undefined;
}

interface Named {
  readonly name: string;
  readonly summary: string;
}

export type Command = Named & CommandSpec;

export type Group = Named & GroupSpec;

/** A word of the tree. The file behind it loads only when it is typed. */
export interface Entry<Node = Group | Command> extends Named {
  /** Left out of lists of commands and of completion; it has its own help. */
  readonly hidden: boolean;
  readonly load: () => Promise<Node>;
}

/** The whole program: what follows `svc`, and what `svc` alone runs. */
export interface Program {
  readonly tree: readonly Entry[];
  readonly welcome: Entry<Command>;
}

/** A word as the name of an export: `entityTypes` for `entity-types`. */
type ExportName<Word extends string> = Word extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<ExportName<Tail>>}`
  : Word;

/** Lists a command or group: its word, one line for lists, and its module, which exports it by that word. */
export function entry<
  const Word extends string,
  Module extends { readonly [Name in ExportName<Word>]: CommandSpec | GroupSpec },
>(
  name: Word,
  summary: string,
  load: () => Promise<Module>,
  { hidden = false } = {},
): Entry<Module[ExportName<Word>] & Named> {
  const exported = name.replaceAll(/-./g, ([, letter = '']) => letter.toUpperCase()) as ExportName<Word>;
  return { name, summary, hidden, load: async () => ({ ...(await load())[exported], name, summary }) };
}

/** Lists a group: its word, one line for lists, its commands, and which of them runs when none is named. */
export function group(
  name: string,
  summary: string,
  commands: readonly Entry[],
  defaultCommand?: string,
): Entry<Group> {
  return { name, summary, hidden: false, load: async () => ({ name, summary, commands, defaultCommand }) };
}

export function isGroup(node: Group | Command): node is Group {
  return 'commands' in node;
}

/** A command, and the words that name it behind `svc`. */
export interface CommandInTree {
  readonly words: string;
  readonly command: Command;
  /** Fewer words that run it: those of its group. */
  readonly shorter?: string | undefined;
}

/** The command of an entry, or those of its group and the groups in it; `before` are the words in front of it. */
export async function commandsBehind(entry: Entry, before: readonly string[] = []): Promise<CommandInTree[]> {
  const node = await entry.load();
  const path = [...before, entry.name];
  if (!isGroup(node)) return [{ words: path.join(' '), command: node }];
  const behind = node.commands.map(async (each) => {
    const found = await commandsBehind(each, path);
    return each.name === node.defaultCommand ? found.map((one) => ({ ...one, shorter: path.join(' ') })) : found;
  });
  return (await Promise.all(behind)).flat();
}

/** The exit codes that a command can end with, signals aside where it does not name them. */
export function exitCodesOf(command: CommandFacts): number[] {
  const codes = [0, 1, 2, 3, ...(command.permissions ? [4, 5, 6, 7, 8] : []), ...(command.exitCodes ?? [])];
  return [...new Set(codes)].toSorted((a, b) => a - b);
}

/** Declares a command; its run function sees each parameter by name, with its type. */
export function defineCommand<const P extends Parameters>(
  spec: CommandFacts & {
    readonly parameters: P;
    readonly run: (context: Context, input: Input<P>) => Promise<Result>;
    readonly request?: (context: Context, input: Input<P>) => Promise<PreviewRequest>;
  },
): CommandSpec {
  const { run, request, ...facts } = spec;
  // The parser fills exactly the declared parameters, so the input has the declared type.
  return {
    ...facts,
    run: (context, input) => run(context, input as Input<P>),
    ...(request && { request: (context, input) => request(context, input as Input<P>) }),
  };
}

/** Which client is wanted, where it is not just the one of the settings. */
export interface ClientChoice {
  /** In place of the base URL of the settings. */
  readonly baseUrl?: URL | undefined;
  /** In place of the keys of the settings. */
  readonly key?: ((kind: KeyType) => Promise<ApiKey>) | undefined;
  /** Ends its work earlier than the command's own signal would. */
  readonly signal?: AbortSignal | undefined;
}

/** What a command gets. Cheap things are values; what costs to load or to open is a function. */
export interface Context extends Omit<Terminal, 'close'> {
  readonly system: System;
  readonly globals: Globals;
  /** Flags, environment and profile put together, each value with its origin. */
  readonly settings: Settings;
  readonly clock: Clock;
  /** Aborts on a signal, when `--timeout` is over, or when the reader of stdout has gone. */
  readonly signal: AbortSignal;
  readonly query: Query | undefined;
  /** Reports exchanges with `--debug`, and of long pauses always. */
  readonly trace: Trace;
  /** From now on this value is removed from all that leaves. */
  addSecret(value: string): void;
  /** The client of the service or of the embedded sandbox, one a command. With `--dry-run` or `--curl` it can read. */
  client(choice?: ClientChoice): Promise<Client>;
  /** The key of a kind, found when it is first asked for, and where it came from. Throws what `resolveKey` throws. */
  readonly key: (kind: KeyType) => Promise<ApiKey>;
  /** Marks on stderr where a command changes something, once; `read` is the tenant where the command has just read it. */
  reportTenant(read?: TenantFacts): Promise<void>;
  /** With `--profiles`: takes rows in the place of standard output. */
  readonly rows?: RowSink | undefined;
  /** Runs when the command is over, however it ends, last registered first. */
  onClose(close: () => Promise<void> | void): void;
}

/** Where the rows of one profile go, beside those of others. */
export interface RowSink {
  /** Throws `usage` for an unknown field. */
  open<T>(view: View<T>): Promise<(batches: AsyncIterable<readonly T[]>) => Promise<number>>;
}

/** `--profiles` of commands that read, and can do so for several profiles side by side. */
export const PROFILES_PARAMETER = {
  profiles: suggesting('profile', value('--profiles <a,b>', 'run for each of these profiles, side by side', names)),
} as const;

/** `--dry-run` of commands that show the request that would change something. */
export const dryRunParameter = flag('--dry-run', 'check everything and show the request instead of sending it');

/** A request to an address outside the service's API: a pre-signed address, or the target of webhook events. */
export interface DirectRequest {
  readonly method: 'PUT' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly file?: { readonly name: string; readonly bytes: number } | undefined;
}

/** A request that a command can show in place of sending it. */
export type PreviewRequest = ApiRequest<unknown> | DirectRequest;

/** What a command resolves to when it only previews: the request is shown, and nothing is sent. */
export class Preview {
  readonly request: PreviewRequest;

  constructor(request: PreviewRequest) {
    this.request = request;
  }
}
