import type { Context } from './context.ts';
import type { Input, Parameters } from './parameter.ts';
import type { Preview, PreviewRequest } from './preview.ts';

/** A command line that works, and what it does. */
export type Example = readonly [line: string, does: string];

/** What is said of a command beside its parameters. */
export interface CommandFacts {
  readonly name: string;
  /** One line, shown in lists. */
  readonly summary: string;
  /** More, shown in the command's own help. */
  readonly description?: string;
  /** First in the help. */
  readonly examples: readonly Example[];
  /** Permissions that the key needs. */
  readonly permissions?: readonly string[];
  /** Runs with settings that cannot be used as well: those of them that can be used stay. */
  readonly anySettings?: boolean;
  /** Exit codes beyond the ordinary ones that this command can end with. */
  readonly exitCodes?: readonly number[];
  /** What it does counts, not what it prints: a closed standard output (`>&-`) does not stop it. */
  readonly worksElsewhere?: boolean;
  /** What it prints can be long and comes to an end: a terminal shows it through a pager. */
  readonly paged?: boolean;
  /** The profile that is named need not exist yet. */
  readonly newProfile?: boolean;
  /** What `--fields` can choose from in what this command prints. */
  readonly fields?: readonly string[];
}

/** What a command ends with: an exit code, nothing for 0, or a request to show in place of sending it. */
export type Result = number | void | Preview;

/** A command of the tree: facts, parameters, and a function of typed input and a context. */
export interface Command extends CommandFacts {
  readonly parameters: Parameters;
  /** Resolves to the exit code; nothing means 0. Failures are thrown. */
  readonly run: (context: Context, input: Readonly<Record<string, unknown>>) => Promise<Result>;
  /** The first request that the command would send, for `--curl`, which sends nothing. */
  readonly request?: (context: Context, input: Readonly<Record<string, unknown>>) => Promise<PreviewRequest>;
}

/** Several commands under one word. */
export interface Group {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
  /** The command that runs when none is named. */
  readonly defaultCommand?: string;
}

/** A word that can follow `svc`. What is behind it loads only when it is typed. */
export interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Group | Command>;
}

/** Whether a node of the tree holds commands of its own. */
export function isGroup(node: Group | Command): node is Group {
  return 'commands' in node;
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
): Command {
  const { run, request, ...facts } = spec;
  // The parser fills exactly the declared parameters, so the input has the declared type.
  return {
    ...facts,
    run: (context, input) => run(context, input as Input<P>),
    ...(request && { request: (context, input) => request(context, input as Input<P>) }),
  };
}
