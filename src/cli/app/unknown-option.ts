import type { CommanderError } from 'commander';
import { nearest, questionOf, typedOption } from '../../base/security/typed-word.ts';
import type { Meaning } from '../glossary/glossary.ts';
import { GLOBAL_PARAMETERS } from './global-parameters.ts';
import { KEY_OPTIONS, VERSION_WORDS } from './habits.ts';
import { optionWords, type Parameter, type Parameters, takesValue } from './parameter.ts';
import { mendedLine, valueShown } from './mended-line.ts';
import { type Mistake, parameterOf, type Place, typedPath, withValue } from './place.ts';
import { isListed, isOfKind, optionsFor } from './value-kind.ts';

/** An option as typed, in its place. */
interface Typed {
  readonly place: Place;
  /** The index of the option in the typed line. */
  readonly at: number;
  readonly name: string;
  /** The text after `=`, or the next word if it is no option. */
  readonly value: string | undefined;
  /** Whether the value is the next word. */
  readonly isApart: boolean;
  /** The words before it that are arguments. */
  readonly before: readonly string[];
  readonly path: readonly string[];
  /** The options that the command takes, and its arguments. */
  readonly parameters: Parameters;
}

/** Explains an option that the command does not have, with the option that was probably meant. */
export async function unknownOption({ message }: CommanderError, place: Place): Promise<Mistake> {
  const typed = await typedIn(message, place);
  const { name, path, parameters } = typed;
  const known = knownOptions(typed);
  if (parameterOf(name, parameters) !== undefined)
    return { message: `${name} takes no value`, next: mended(typed, [name]) };
  const ofOtherTools = place.habits.options.flatMap(([words]) => words.split(' '));
  const wrong = typedOption(name, [...known, ...KEY_OPTIONS, ...ofOtherTools]);
  const what = { message: `unknown option ${wrong} for '${place.words}'` };
  if (KEY_OPTIONS.includes(name)) {
    const next = path[0] === 'login' ? ['login', '--management-key-stdin'] : ['login'];
    return { ...what, hint: 'No option takes a key, because process lists show options.', next };
  }
  if (path.length === 0 && name === '-v') return { ...what, next: VERSION_WORDS };
  const meanings = await place.meanings();
  const instead =
    assigned(typed) ??
    fromHabit(typed, place, meanings) ??
    byLetters(typed, known, meanings) ??
    byValue(typed, meanings);
  return { ...what, ...instead };
}

async function typedIn(message: string, place: Place): Promise<Typed> {
  const [, text = ''] = /unknown option '([^']*)/.exec(message) ?? [];
  const [name = '', ...rest] = text.split('=');
  const { args } = place.parser;
  const at = args.indexOf(text);
  const after = at < 0 ? undefined : args[at + 1];
  const isApart = rest.length === 0 && after?.startsWith('-') === false;
  return {
    place,
    at: place.argv.lastIndexOf(text),
    name,
    value: isApart ? after : rest.length > 0 ? rest.join('=') : undefined,
    isApart,
    before: args.slice(0, Math.max(at, 0)),
    path: await typedPath(place),
    parameters: { ...place.parameters, ...GLOBAL_PARAMETERS },
  };
}

function knownOptions({ path, parameters }: Typed): string[] {
  const own = path.length === 0 ? ['--version', '--help'] : ['--help'];
  return own.concat(Object.values(parameters).flatMap(optionWords));
}

/**
 * Returns the typed line with other words in place of the option. They contain the value that stood apart from it, unless
 * it remains an argument.
 */
function mended({ place, at, path, isApart }: Typed, words: readonly string[], remains = !isApart): string[] {
  const value: readonly (readonly [number, readonly string[]])[] = remains ? [] : [[at + 1, []]];
  return mendedLine(place, { path, parameters: place.parameters, instead: new Map([[at, words], ...value]) });
}

/** Returns the typed line with a known option, or an argument such as `<dir>`, in place of the typed option. */
function withOption(option: string, typed: Typed, meanings: readonly Meaning[]): string[] {
  const { value, before, parameters } = typed;
  const parameter = parameterOf(option, parameters);
  if (option.startsWith('<') && value !== undefined && before.length === 0) return mended(typed, [], true);
  if (parameter?.kind === 'flag') return mended(typed, [option], true);
  return mended(typed, withTyped(option, typed, meanings));
}

/** Understands `--filter operation=delete`, where the command has an option `--operation`. */
function assigned(typed: Typed): Partial<Mistake> | undefined {
  const { value = '', parameters, place } = typed;
  const [, name = '', wanted = ''] = /^([a-z][a-z_-]*)=(.+)$/i.exec(value) ?? [];
  const option = `--${name.replaceAll('_', '-')}`;
  const parameter = name === '' ? undefined : parameterOf(option, parameters);
  if (parameter === undefined || !takesValue(parameter)) return undefined;
  return { hint: questionOf(option), next: mended(typed, [option, valueShown(wanted, parameter, place)]) };
}

function fromHabit(typed: Typed, { habits }: Place, meanings: readonly Meaning[]): Partial<Mistake> | undefined {
  const { name } = typed;
  const habit = habits.options.find(([words]) => words.split(' ').includes(name));
  if (habit === undefined) return undefined;
  const [, options, why] = habit;
  const [meant, ...others] = meantBy(typed, options, meanings);
  if (meant === undefined) return why === undefined ? undefined : { hint: why };
  const commandOf = (option: string): string[] => withOption(option, typed, meanings);
  const hint = why ?? (meant.startsWith('<') ? `The ${meant} stands alone.` : questionOf(textOf(meant)));
  return { hint, next: commandOf(meant), ...(others.length > 0 && { alternatives: others.map(commandOf) }) };
}

/** Chooses among the counterparts of an option: those that take its value, if any do; else all that the command has. */
function meantBy(
  { value, before, parameters }: Typed,
  options: readonly string[],
  meanings: readonly Meaning[],
): readonly string[] {
  const found = options.map((option) => ({ option, parameter: parameterOf(option, parameters) }));
  const had = found.filter(
    ({ parameter }) => parameter !== undefined && (parameter.kind !== 'argument' || before.length === 0),
  );
  if (value === undefined) return had.map(({ option }) => option);
  const best =
    had.find(({ parameter }) => parameter && isOfKind(parameter, value, meanings)) ??
    had.find(({ option, parameter }) => parameter && !option.includes(' ') && isOpen(parameter)) ??
    had[0];
  return best === undefined ? [] : [best.option];
}

function textOf(option: string): string {
  return option.replace('--output ', '-o ');
}

/**
 * Finds the option that is spelled like the typed one: at a greater distance, or by its beginning, only if it takes the
 * value that was typed.
 */
function byLetters(typed: Typed, known: readonly string[], meanings: readonly Meaning[]): Partial<Mistake> | undefined {
  const { name, value, parameters } = typed;
  const alike = known.filter((option) => {
    const parameter = parameterOf(option, parameters);
    return parameter === undefined ? value === undefined : isLikely(parameter, name, value, meanings);
  });
  // One changed letter turns any one-letter option into any other, so only its case may differ.
  const meant = name.length <= 2 ? nearest(name, known, 0) : (nearest(name, known, 1) ?? nearest(name, alike));
  return meant === undefined ? undefined : { hint: questionOf(meant), next: withOption(meant, typed, meanings) };
}

/** Tells whether an option can have been meant although its name is not nearly the typed one. */
function isLikely(
  parameter: Parameter<unknown>,
  name: string,
  value: string | undefined,
  meanings: readonly Meaning[],
): boolean {
  const isBegun = optionWords(parameter).some((one) => one.startsWith(name));
  if (!takesValue(parameter)) return value === undefined && isBegun;
  return value !== undefined && (isOfKind(parameter, value, meanings) || (isBegun && isOpen(parameter)));
}

/** Tells whether an option takes any text. */
function isOpen({ kind, choices, parse }: Parameter<unknown>): boolean {
  if (kind === 'flag' || choices !== undefined) return false;
  try {
    parse('\0');
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds the option for a value that only it takes: `--operation` for `--action delete`, or `--output` for `--csv`, whose
 * own name is a value.
 */
function byValue(typed: Typed, meanings: readonly Meaning[]): Partial<Mistake> | undefined {
  const { parameters } = typed;
  const value = typed.value ?? typed.name.replace(/^--/, '');
  const found = optionsFor(value, Object.values(parameters), meanings, () => false);
  const option = found?.shape === 'listed' ? found.options[0] : undefined;
  const name = option && optionWords(option).at(-1);
  return name && value ? { hint: questionOf(name), next: mended(typed, [name, value]) } : undefined;
}

/** Returns an option as words, with the typed value if the option takes it and it cannot be a secret; else a placeholder. */
function withTyped(option: string, { value = '', parameters, place }: Typed, meanings: readonly Meaning[]): string[] {
  const parameter = parameterOf(option, parameters);
  if (parameter === undefined || option.includes(' ') || value === '' || !takesValue(parameter))
    return withValue(option, parameters);
  if (isListed(parameter, value, meanings)) return [option, value];
  return isOpen(parameter) || isOfKind(parameter, value, meanings)
    ? [option, valueShown(value, parameter, place)]
    : withValue(option, parameters);
}
