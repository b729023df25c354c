import type { ValueParser } from './values.ts';

/** One option or argument of a command, as data: the parser, help and completion are made from it. */
export interface Parameter<T> {
  readonly kind: 'argument' | 'flag' | 'value' | 'repeated';
  /** `--entity-type <type>` for an option, `<file>` or `[job]` for an argument. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[] | undefined;
  readonly default?: T | undefined;
  /** Environment variables that stand in for the option, for help. */
  readonly environment?: string;
  readonly parse: ValueParser<unknown>;
}

/** The parameters of a command, by the name that its run function sees. Arguments are in typed order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What a run function gets for its parameters. */
export type Input<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

const asTyped: ValueParser<string> = (value) => value;

/** An argument that must be given. */
export function argument(syntax: `<${string}>`, description: string, parse = asTyped): Parameter<string> {
  return { kind: 'argument', syntax, description, parse };
}

/** An argument that may be left out. */
export function optionalArgument(
  syntax: `[${string}]`,
  description: string,
  parse = asTyped,
): Parameter<string | undefined> {
  return { kind: 'argument', syntax, description, parse };
}

/** A switch: true when given. */
export function flag(syntax: string, description: string): Parameter<boolean> {
  return { kind: 'flag', syntax, description, default: false, parse: () => true };
}

/** An option with a value that may be left out. */
export function value<T>(
  syntax: string,
  description: string,
  parse: ValueParser<T>,
): Parameter<T | undefined> {
  return { kind: 'value', syntax, description, parse };
}

/** An option with a value of a known few. */
export function choice<const C extends string>(
  syntax: string,
  description: string,
  choices: readonly C[],
): Parameter<C | undefined> {
  return { kind: 'value', syntax, description, choices, parse: asTyped };
}

/** An option that may be given several times. */
export function repeated<T>(
  syntax: string,
  description: string,
  parse: ValueParser<T>,
): Parameter<readonly T[]> {
  return { kind: 'repeated', syntax, description, default: [], parse };
}

/** The option's words: `['-p', '--profile']`. */
export function optionWords(parameter: Parameter<unknown>): string[] {
  return parameter.syntax.split(/[ ,|]+/).filter((word) => word.startsWith('-'));
}
