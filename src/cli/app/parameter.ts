import { newFile, type ValueParser } from './value-parsers.ts';

/** One option or argument of a command. The parser, help and completion are derived from it. */
export interface Parameter<T> {
  readonly kind: 'argument' | 'flag' | 'value' | 'repeated';
  /** `--entity-type <type>` for an option, `<file>` or `[job]` for an argument. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[] | undefined;
  readonly default?: T | undefined;
  /** The names of conflicting parameters. */
  readonly conflicts?: readonly string[] | undefined;
  /** Environment variables that set the same value, for help. */
  readonly environment?: string;
  /** Values for completion, beyond choices and the syntax `<file>`, `<dir>` and `<job>`. */
  readonly suggest?: Suggest | undefined;
  /** Whether help and completion leave out the option, which still works. */
  readonly hidden?: boolean | undefined;
  /** Whether only the full help and the man page show the option, because new users do not need it. */
  readonly rare?: boolean | undefined;
  /** How the command uses the named file. A command never replaces a file that it reads. */
  readonly file?: FileUse | undefined;
  /** The usual file name extensions, such as `.csv`. Hints about a missing file list files with these. */
  readonly extensions?: readonly string[] | undefined;
  readonly parse: ValueParser<unknown>;
}

/** A file that is `extended` is read first and then appended to. */
export type FileUse = 'read' | 'written' | 'extended';

/** A value that completion offers, and its description. */
export type Suggestion = readonly [value: string, description: string];

/** Completes with the glossary words of a kind. */
interface WordsOfKind {
  readonly wordsOf: string;
}

/** Completes each word of a list joined by commas or semicolons, and suggestions that begin with @ after an @. */
interface Joined {
  readonly joined: () => readonly Suggestion[] | Promise<readonly Suggestion[]>;
}

/**
 * A source of suggestions for completion: a kind of value stored on this machine, words of the glossary, or a function
 * of the arguments typed before, without side effects. If a function returns names that end in `=`, they are offered first,
 * then the values of a typed name.
 */
export type Suggest =
  | 'profile'
  | 'stored profile'
  | 'entity type'
  | 'actor'
  | 'field'
  | 'job'
  | 'cycle'
  | WordsOfKind
  | Joined
  | ((typed: readonly string[]) => readonly Suggestion[] | Promise<readonly Suggestion[]>);

/** The parameters of a command, by their names in its input. Arguments are in the order in which they are typed. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The input of a command's run function: the parsed value of each parameter. */
export type Input<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

const asTyped: ValueParser<string> = (value) => value;

export function argument(syntax: `<${string}>`, description: string, parse = asTyped): Parameter<string> {
  return { kind: 'argument', syntax, description, parse };
}

export function optionalArgument(
  syntax: `[${string}]`,
  description: string,
  parse = asTyped,
): Parameter<string | undefined> {
  return { kind: 'argument', syntax, description, parse };
}

/** Declares an argument that takes all remaining words, at least one. A word that looks like an option must follow `--`. */
export function rest(syntax: `<${string}...>`, description: string): Parameter<readonly string[]> {
  return { kind: 'argument', syntax, description, parse: asTyped };
}

/** The argument of `svc sandbox exec`: the command that it runs, with the options of that command. */
export const COMMAND_TO_RUN = '<command...>';
export const PUT_AFTER_DASHES = 'Put the command to run, with its options, after --:';

/** Declares an argument that takes all remaining words, or none. */
export function optionalRest(syntax: `[${string}...]`, description: string): Parameter<readonly string[]> {
  return { kind: 'argument', syntax, description, parse: asTyped };
}

export function flag(syntax: string, description: string): Parameter<boolean> {
  return { kind: 'flag', syntax, description, default: false, parse: () => true };
}

export function value<T>(syntax: string, description: string, parse: ValueParser<T>): Parameter<T | undefined> {
  return { kind: 'value', syntax, description, parse };
}

export function choice<const C extends string>(
  syntax: string,
  description: string,
  choices: readonly C[],
): Parameter<C | undefined> {
  return { kind: 'value', syntax, description, choices, parse: asTyped };
}

export function repeated<T>(syntax: string, description: string, parse: ValueParser<T>): Parameter<readonly T[]> {
  return { kind: 'repeated', syntax, description, default: [], parse };
}

/** Declares that the command reads the file or directory that the parameter names. */
export function reading<T>(parameter: Parameter<T>, extensions: readonly string[] = []): Parameter<T> {
  const parse = (text: string): unknown => parameter.parse(parameter.kind === 'argument' ? pathWord(text) : text);
  return { ...parameter, file: 'read', extensions, parse };
}

// In a printed command, a file named `-x.csv` would be read as an option.
function pathWord(path: string): string {
  return /^-./.test(path) ? `./${path}` : path;
}

/** The file name extensions of documents, such as request bodies and settings. */
export const DOCUMENTS: readonly string[] = ['.json', '.yaml', '.yml'];

/** Declares that the command writes the file that the parameter names. */
export function writing<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, file: 'written', parse: (typed) => parameter.parse(newFile(typed)) };
}

/** Declares that the command reads the file that the parameter names, and appends to it. */
export function extending<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...writing(parameter), file: 'extended' };
}

/** Returns the words of an option, such as `-o` and `--output`; none for an argument. */
export function optionWords(parameter: Parameter<unknown>): string[] {
  // The name of the value is cut off first, since `<json|->` contains a dash too.
  const words = parameter.syntax.replace(/ [<[].*$/, '').split(/[ ,]+/);
  return words.filter((word) => word.startsWith('-'));
}

export function suggesting<T>(suggest: Suggest, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, suggest };
}

/** Declares that only the full help shows the option, because new users do not need it. */
export function rare<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, rare: true };
}

/** Declares an option that help and completion leave out, because hardly anybody needs it. */
export function hidden<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, hidden: true };
}

export function conflicting<T>(conflicts: readonly string[], parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, conflicts };
}

/** Returns the suggestions `name=` and `name=value` for each value. */
export function assignmentsOf(name: string, meaning: string, values: readonly Suggestion[]): Suggestion[] {
  const nameOnly: Suggestion = [`${name}=`, meaning];
  return [nameOnly].concat(values.map(([value, about]) => [`${name}=${value}`, about]));
}

export function takesValue(parameter: Parameter<unknown>): boolean {
  return parameter.kind === 'value' || parameter.kind === 'repeated';
}

/** Returns `<time>` for `--since <time>`. A shell would read `<cycle|job>` as a pipe, so that only `<cycle>` is left. */
export function placeholder(syntax: string): string {
  return `<${nameOf(syntax)}>`;
}

/** Returns the name of a value from a syntax: `time` for `--since <time>`. */
export function nameOf(syntax: string): string {
  return /[<[][^\w]*(\w(?:[\w.,=-]*\w)?)[^>\]]*[>\]]$/.exec(syntax)?.[1] ?? 'value';
}
