import type { Command, Group, Program } from './command.ts';
import type { Globals } from './global-parameters.ts';
import type { TopicName } from './topics.ts';

/** A parsed command line: help, a command to run, or the version. */
export type Invocation = HelpRequest | RunRequest | { readonly kind: 'version' };

export interface RunRequest {
  readonly kind: 'run';
  readonly command: Command;
  /** The words that name the command, such as `logs list`. */
  readonly words: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly globals: Globals;
}

export interface HelpRequest {
  readonly kind: 'help';
  readonly about: About;
  /** Whether to show everything, as `svc help` does. `--help` shows only what a new user needs. */
  readonly full: boolean;
}

export type About =
  | { readonly kind: 'tool'; readonly program: Pick<Program, 'tree' | 'examples'> }
  | { readonly kind: 'group'; readonly group: Group; readonly words: string }
  | { readonly kind: 'command'; readonly command: Command; readonly words: string }
  | { readonly kind: 'topic'; readonly topic: TopicName };
