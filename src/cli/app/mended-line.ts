import path from 'node:path';
import { isShowable } from '../../base/security/typed-word.ts';
import { GLOBAL_PARAMETERS } from './global-parameters.ts';
import { KEY_OPTIONS } from './habits.ts';
import { option, type ServiceNamed, serviceOptions } from './hint.ts';
import { type Parameter, type Parameters, takesValue } from './parameter.ts';
import { argumentsOf, isDirectory, isFile, parameterOf, type Place, placeholder } from './place.ts';
import { isTime } from './value-kind.ts';

/** A word of the typed line: an option with its value, or a word of the command or an argument. */
export interface TypedWord {
  /** The index in the typed line. */
  readonly at: number;
  readonly text: string;
  /** The name of an option, without its value; undefined for any other word. */
  readonly option?: string;
  /** What declares the option; undefined for an unknown one. */
  readonly parameter?: Parameter<unknown> | undefined;
  readonly value?: string | undefined;
}

/** How a line is mended. */
export interface Mend {
  /** The words of the command. */
  readonly path: readonly string[];
  /** How many typed words `path` replaces; by default as many as it has. */
  readonly typed?: number;
  /** The parameters of the command. */
  readonly parameters: Parameters;
  /** What replaces a typed word, or an option and its value, by its index in the line. */
  readonly instead?: ReadonlyMap<number, readonly string[]>;
}

/** The options that name the service. They stand before the command, so that each is named once. */
const NAME_THE_SERVICE: ReadonlySet<unknown> = new Set([
  GLOBAL_PARAMETERS.profile,
  GLOBAL_PARAMETERS.sandbox,
  GLOBAL_PARAMETERS.baseUrl,
]);

/**
 * Returns the service that a line names, for a line that the parser refused. A sandbox and a profile exclude each other,
 * and are both named: with neither of them, the line would be for another service.
 */
export function serviceIn(argv: readonly string[]): ServiceNamed {
  return serviceNamed(typedWords(separated(argv, {}), {}));
}

function serviceNamed(words: readonly TypedWord[]): ServiceNamed {
  const valueOf = (named: Parameter<unknown>) => words.findLast(({ parameter }) => parameter === named)?.value;
  return {
    sandbox: words.some(({ parameter }) => parameter === GLOBAL_PARAMETERS.sandbox),
    profile: valueOf(GLOBAL_PARAMETERS.profile),
    baseUrl: valueOf(GLOBAL_PARAMETERS.baseUrl),
  };
}

/** Returns the typed line with `-y -n` for `-yn`, so that each option of one letter is mended or repeated. */
export function separated(argv: readonly string[], parameters: Parameters): string[] {
  const all = { ...parameters, ...GLOBAL_PARAMETERS };
  const found: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    let text = argv[at] ?? '';
    if (text === '--') return [...found, ...argv.slice(at)];
    for (;;) {
      const [, name = '', rest = ''] = /^(-[^-])([^=].*)$/s.exec(text) ?? [];
      if (parameterOf(name, all)?.kind !== 'flag') break;
      found.push(name);
      text = `-${rest}`;
    }
    found.push(text);
    if (takesNext(parameterOf(text, all), argv[at + 1])) found.push(argv[(at += 1)] ?? '');
  }
  return found;
}

/** Splits the typed line into options, with their values, and other words. */
export function typedWords(argv: readonly string[], parameters: Parameters): TypedWord[] {
  const all = { ...parameters, ...GLOBAL_PARAMETERS };
  const found: TypedWord[] = [];
  let onlyArguments = false;
  for (let at = 0; at < argv.length; at += 1) {
    const text = argv[at] ?? '';
    if (text === '--' && !onlyArguments) onlyArguments = true;
    else if (onlyArguments || !/^-./.test(text)) found.push({ at, text });
    else {
      const [, name = '', joined] = /^(--[^=]*|-[^-])=?(.+)?$/s.exec(text) ?? [undefined, text];
      const parameter = parameterOf(name, all);
      const isNext = joined === undefined && takesNext(parameter, argv[at + 1]);
      found.push({ at, text, option: name, parameter, value: isNext ? argv[at + 1] : joined });
      if (isNext) at += 1;
    }
  }
  return found;
}

/** The parser looks for global options first, so that a command's option before one of them has no value. */
function takesNext(parameter: Parameter<unknown> | undefined, next: string | undefined): boolean {
  if (parameter === undefined || !takesValue(parameter) || next === undefined) return false;
  const isGlobal = Object.values<unknown>(GLOBAL_PARAMETERS).includes(parameter);
  return isGlobal || parameterOf(next.replace(/^(--[^=]*)=.*$/s, '$1'), GLOBAL_PARAMETERS) === undefined;
}

/**
 * Returns the typed line with the mended words. The typed options that name the service come first, also beside a mended
 * one that excludes them: without them, the line would be for another service. A typed word that may be a secret becomes
 * a placeholder (R05), and so does a missing argument that the command needs. No word is left out: it may be the one that
 * made the line harmless, such as a mistyped --dry-run.
 */
export function mendedLine(place: Pick<Place, 'argv' | 'cwd'>, mend: Mend): string[] {
  const { path: command, typed = command.length, parameters, instead } = mend;
  const line: string[] = [...command];
  const positional = argumentsOf(parameters);
  let seen = 0;
  const words = typedWords(place.argv, parameters);
  for (const word of words) {
    const mended = instead?.get(word.at);
    // A word that becomes an option with its value, or part of another value, is no argument any more.
    if (word.option === undefined && (mended === undefined || mended.length === 1)) seen += 1;
    if (mended !== undefined) line.push(...mended);
    else if (word.option !== undefined) line.push(...optionShown(word, place));
    else if (seen > typed) line.push(...argumentShown(word.text, argumentAt(positional, seen - typed - 1), place));
  }
  const missing = positional.slice(Math.max(0, seen - typed)).filter(({ syntax }) => isMissing(syntax, line));
  const service = serviceNamed(words.filter(({ at }) => !instead?.has(at)));
  return [...serviceOptions(service), ...line, ...missing.map(({ syntax }) => placeholder(syntax))];
}

/** Returns a typed value if it cannot be a secret; else the placeholder of its parameter. */
export function valueShown(value: string, parameter: Parameter<unknown>, place: Pick<Place, 'cwd'>): string {
  return canShow(value, parameter, place) ? value : placeholder(parameter.syntax);
}

function isMissing(syntax: string, line: readonly string[]): boolean {
  return syntax.startsWith('<') && !line.includes(placeholder(syntax));
}

function argumentAt(positional: readonly Parameter<unknown>[], at: number): Parameter<unknown> | undefined {
  const last = positional.at(-1);
  return positional[at] ?? (last?.syntax.includes('...') ? last : undefined);
}

function optionShown({ option: name = '', parameter, value }: TypedWord, place: Pick<Place, 'cwd'>): string[] {
  if (parameter === undefined) {
    const shown = isShowable(name) && !KEY_OPTIONS.includes(name) ? name : '<option>';
    return value === undefined ? [shown] : [shown, '<value>'];
  }
  if (NAME_THE_SERVICE.has(parameter)) return [];
  if (!takesValue(parameter)) return [name];
  return value === undefined
    ? [name, placeholder(parameter.syntax)]
    : option(name, valueShown(value, parameter, place));
}

function argumentShown(word: string, parameter: Parameter<unknown> | undefined, place: Pick<Place, 'cwd'>): string[] {
  if (parameter !== undefined) return [valueShown(word, parameter, place)];
  return [isShowable(word) ? word : '<word>'];
}

function canShow(value: string, { extensions = [], suggest }: Parameter<unknown>, place: Pick<Place, 'cwd'>): boolean {
  const words = suggest === 'field' ? value.split(',') : [value];
  return (
    words.every((word) => isShowable(word)) ||
    isFile(place, value) ||
    isDirectory(place, value) ||
    extensions.includes(path.extname(value)) ||
    isTime(value) ||
    /^\d{1,5}$/.test(value)
  );
}
