import type { Clock, System } from '../../base/system.ts';
import type { Client } from '../../client/api/client.ts';
import type { ApiKey } from '../../client/http/core.ts';
import type { Trace } from '../../client/http/trace.ts';
import type { ApiRequest } from '../../client/http/request.ts';
import type { KeyType, TenantFacts } from '../../schema/tenant.ts';
import type { Settings } from '../config/settings.ts';
import type { Query } from '../output/jq.ts';
import type { Terminal } from '../output/terminal.ts';
import type { View } from '../output/view.ts';
import type { Globals } from './global-parameters.ts';
import { flag, type Input, type Parameters, suggesting, value } from './parameter.ts';
import { names } from './value-parsers.ts';

/** An example command line that works, and a description of its effect. */
export type Example = readonly [line: string, does: string];

/** An exit code, and what it means for one command. */
export type OwnExitCode = readonly [code: number, meaning: string];

/** Facts about a command beside its name, summary and parameters; help and the man page show them. */
export interface CommandFacts {
  /** A paragraph shown in the command's own help. */
  readonly description?: string;
  /** A further paragraph, for which help has no room; the man page and `svc commands` show it. */
  readonly details?: string;
  /** Examples, which stand first in the help. */
  readonly examples: readonly Example[];
  readonly permissions?: readonly string[];
  /** Whether the command ignores invalid settings instead of failing on them. */
  readonly anySettings?: boolean;
  /** Further exit codes of this command. Help shows the codes that have a meaning of their own. */
  readonly exitCodes?: readonly (number | OwnExitCode)[];
  /** Whether a terminal shows the output in a pager. Suits output that can be long and that ends. */
  readonly paged?: boolean | ((input: Readonly<Record<string, unknown>>) => boolean);
  /** Whether the command may name a profile that does not exist yet. */
  readonly newProfile?: boolean;
  /** Set for commands that change something at the service or cost money. Clients of other commands can only read. */
  readonly changes?: true;
  /** Set for commands whose only result is their output: they refuse to start with standard output closed. */
  readonly onlyPrints?: true | ((input: Readonly<Record<string, unknown>>) => boolean);
  /**
   * Set for lists and streams, which end when the reader of their output is gone (`| head`). All other commands continue
   * without output, so that their exit code reports the result of their work.
   */
  readonly endsWithReader?: true;
  /** Fields of the output that `--fields` can choose. */
  readonly fields?: readonly string[];
}

/** The outcome of a command: an exit code, nothing for 0, or a request to show instead of sending. */
export type Result = number | void | Preview;

/** A command as its file declares it. */
export interface CommandSpec extends CommandFacts {
  readonly parameters: Parameters;
  /** Resolves to the exit code; nothing means 0. Failures are thrown. */
  readonly run: (context: Context, input: Readonly<Record<string, unknown>>) => Promise<Result>;
  /** The first request that the command would send, for `--curl`, which sends nothing. */
  readonly request?: (context: Context, input: Readonly<Record<string, unknown>>) => Promise<PreviewRequest>;
  /** The directory for the state of a rehearsal, as typed; undefined for a normal run. */
  readonly rehearsal?: (input: Readonly<Record<string, unknown>>) => string | undefined;
}

export interface GroupSpec {
  readonly commands: readonly Entry[];
  /** The command that runs when the group is typed alone. */
  readonly defaultCommand?: string | undefined;
}

interface Named {
  readonly name: string;
  readonly summary: string;
}

export type Command = Named & CommandSpec;

export type Group = Named & GroupSpec;

/** A word of the command line. Its file loads only when the word is typed. */
export interface Entry<Node = Group | Command> extends Named {
  /** Whether the word is missing from lists of commands and from completion. Its own help still works. */
  readonly hidden: boolean;
  /** Whether `svc --help` leaves the word to `svc help`. */
  readonly rare?: boolean | undefined;
  /** The commands of a group. */
  readonly commands?: readonly Entry[] | undefined;
  readonly load: () => Promise<Node>;
}

/** The whole program: its commands and examples. */
export interface Program {
  readonly tree: readonly Entry[];
  /** The command that `svc` alone runs. */
  readonly welcome: Entry<Command>;
  /** The first examples that `svc --help` shows. */
  readonly examples: readonly Example[];
  /** Words of other tools, for suggestions. Loaded only after a mistake. */
  readonly otherTools: () => Promise<OtherTools>;
}

/** Common words of other tools (gh, stripe, aws, kubectl), with the svc words for the same purpose. */
export interface OtherTools {
  /** The svc command for words typed after `svc`. */
  readonly commands: Readonly<Record<string, string>>;
  /** The svc option for a typed option. */
  readonly options: Readonly<Record<string, string>>;
}

/** The export name for a word: `entityTypes` for `entity-types`. */
type ExportName<Word extends string> = Word extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<ExportName<Tail>>}`
  : Word;

/** Lists a command or group: its word, its summary, and its module, which exports the command under this word. */
export function entry<
  const Word extends string,
  Module extends { readonly [Name in ExportName<Word>]: CommandSpec | GroupSpec },
>(
  name: Word,
  summary: string,
  load: () => Promise<Module>,
  { hidden = false, rare = false } = {},
): Entry<Module[ExportName<Word>] & Named> {
  const exported = name.replaceAll(/-./g, ([, letter = '']) => letter.toUpperCase()) as ExportName<Word>;
  return { name, summary, hidden, rare, load: async () => ({ ...(await load())[exported], name, summary }) };
}

/** Lists a group: its word, its summary, its commands and the default command, if any. */
export function group(
  name: string,
  summary: string,
  commands: readonly Entry[],
  { defaultCommand, hidden = false }: { defaultCommand?: string; hidden?: boolean } = {},
): Entry<Group> {
  return { name, summary, hidden, commands, load: async () => ({ name, summary, commands, defaultCommand }) };
}

export function isGroup(node: Group | Command): node is Group {
  return 'commands' in node;
}

/** A command, and the words after `svc` that name it. */
export interface CommandInTree {
  readonly words: string;
  readonly command: Command;
  /** The words of the group, for the group's default command. */
  readonly shorter?: string | undefined;
}

/**
 * Returns the command of an entry, or all commands of a group and its subgroups. `before` has the words typed before the
 * entry.
 */
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

/**
 * Returns the exit codes that a command can end with. Codes of signals are included only if the command declares them.
 */
export function exitCodesOf(command: CommandFacts): number[] {
  const own = (command.exitCodes ?? []).map((code) => (typeof code === 'number' ? code : code[0]));
  const codes = [0, 1, 2, 3, ...(command.permissions ? [4, 5, 6, 7, 8] : []), ...own];
  return [...new Set(codes)].toSorted((a, b) => a - b);
}

/** Declares a command. Its run function receives each parameter by name and with its type. */
export function defineCommand<const P extends Parameters>(
  spec: CommandFacts & {
    readonly parameters: P;
    readonly run: (context: Context, input: Input<P>) => Promise<Result>;
    readonly request?: (context: Context, input: Input<P>) => Promise<PreviewRequest>;
    readonly rehearsal?: (input: Input<P>) => string | undefined;
  },
): CommandSpec {
  const { run, request, rehearsal, ...facts } = spec;
  // The parser fills exactly the declared parameters, so the input has the declared type.
  return {
    ...facts,
    run: (context, input) => run(context, input as Input<P>),
    ...(request && { request: (context, input) => request(context, input as Input<P>) }),
    ...(rehearsal && { rehearsal: (input) => rehearsal(input as Input<P>) }),
  };
}

/** Overrides for a client that differs from the settings in effect. */
export interface ClientChoice {
  /** Replaces the base URL of the settings. */
  readonly baseUrl?: URL | undefined;
  /** Replaces the keys of the settings. */
  readonly key?: ((kind: KeyType) => Promise<ApiKey>) | undefined;
  /** Ends the client's work earlier than the command's own signal would. */
  readonly signal?: AbortSignal | undefined;
}

/** The context that a command runs in. Members that are expensive to load or open are functions. */
export interface Context extends Omit<Terminal, 'close'> {
  readonly system: System;
  readonly globals: Globals;
  /** Settings from flags, environment and profile, each with its origin. */
  readonly settings: Settings;
  readonly clock: Clock;
  /** Aborts on a signal, on the end of `--timeout`, or when the reader of stdout has gone. */
  readonly signal: AbortSignal;
  readonly query: Query | undefined;
  /** With `--profiles`: returns the function that collects rows for the common list instead of printing them. */
  readonly collect?: ((view: View) => Promise<(row: unknown) => void>) | undefined;
  /** Whether this is a rehearsal: the embedded sandbox accepts any well-formed token and has a separate state. */
  readonly isRehearsal: boolean;
  /** Reports every exchange with `--debug`, and long pauses always. */
  readonly trace: Trace;
  /** Redacts this value in all further output. */
  addSecret(value: string): void;
  /** Opens the client of the service or the embedded sandbox, once. With `--dry-run` or `--curl` it can only read. */
  client(choice?: ClientChoice): Promise<Client>;
  /** Returns a key with its origin, which is found on first use. Throws what `resolveKey` throws. */
  readonly key: (kind: KeyType) => Promise<ApiKey>;
  /** Names the tenant that is about to change, once, on stderr. `read` is the tenant if the command has just read it. */
  reportTenant(read?: TenantFacts): Promise<void>;
  /** Registers cleanup that runs when the command ends, last registered first. */
  onClose(close: () => Promise<void> | void): void;
}

/** The option `--profiles`, for commands that only read. */
export const PROFILES_PARAMETER = {
  profiles: suggesting('profile', value('--profiles <a,b>', 'run for each of these profiles, side by side', names)),
} as const;

/** The option `--dry-run`, for commands that change something. */
export const dryRunParameter = flag('--dry-run', 'check everything; show the request instead of sending it');

/** A request to an address outside the service's API: a pre-signed address, or the target of webhook events. */
export interface DirectRequest {
  readonly method: 'PUT' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly file?: { readonly name: string; readonly bytes: number } | undefined;
  /** The command that shows the address, for an address that is a secret. */
  readonly addressShownBy?: readonly string[] | undefined;
}

/** A request that a command can show instead of sending it. */
export type PreviewRequest = ApiRequest<unknown> | DirectRequest;

/** The result of a preview: a request that is shown and not sent. */
export class Preview {
  readonly request: PreviewRequest;

  constructor(request: PreviewRequest) {
    this.request = request;
  }
}
