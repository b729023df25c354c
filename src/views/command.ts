import type { View } from '../render/view.ts';

/** An argument or option as data. */
export interface ParameterRow {
  readonly syntax: string;
  /** The words of an option; none for an argument. */
  readonly names: readonly string[];
  /** What the value is called; null for a switch. */
  readonly value: string | null;
  readonly required: boolean;
  readonly repeatable: boolean;
  readonly description: string;
  readonly choices: readonly string[];
  readonly default: unknown;
  readonly environment: readonly string[];
}

/** A command as data. */
export interface CommandRow {
  /** The words that are typed, from `svc` on. */
  readonly command: string;
  /** Fewer words that mean the same, where there are some. */
  readonly short_form: string | null;
  readonly summary: string;
  readonly description: string | null;
  readonly arguments: readonly ParameterRow[];
  readonly options: readonly ParameterRow[];
  /** What `--fields` can choose from. */
  readonly fields: readonly string[];
  readonly permissions: readonly string[];
  readonly exit_codes: readonly number[];
  readonly examples: readonly { readonly line: string; readonly does: string }[];
}

/** How commands are shown. */
export const commandView: View<CommandRow> = {
  name: 'command',
  fields: [
    'command',
    'short_form',
    'summary',
    'description',
    'arguments',
    'options',
    'fields',
    'permissions',
    'exit_codes',
    'examples',
  ],
  columns: [
    { path: 'command', kind: 'id' },
    { path: 'summary', kind: 'text' },
  ],
};
