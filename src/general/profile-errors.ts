import { SvcError } from '../base/errors.ts';
import { didYouMean, isShowable, sentences, typedWord } from '../base/security/typed-word.ts';

/** The error for a setting that profiles do not have. */
export function unknownSetting(typed: string, all: readonly string[]): SvcError {
  return new SvcError('usage', `unknown setting ${typedWord(typed, all)}`, {
    hint: sentences(didYouMean(typed, all), `Choose one of ${all.join(', ')}.`),
  });
}

/** The error for a change of the profile of the sandbox. */
export function builtInProfile(): SvcError {
  return new SvcError('usage', 'the profile sandbox is built in and has no settings to change', {
    hint: 'Name a stored profile with --profile.',
    next: ['profile', 'list'],
  });
}

/** The error for a setting of a new profile whose name is like that of another one. */
export function mistypedProfile(typed: string, meant: string, [setting, value]: readonly [string, string]): SvcError {
  return new SvcError('usage', `there is no profile ${typedWord(typed, [meant])}. Did you mean '${meant}'?`, {
    hint: 'To create a profile of that name, add --create. To set it in the other one:',
    next: ['profile', 'set', setting, isShowable(value) ? value : '<value>', '--profile', meant],
  });
}

/** The error for a setting that was given both a value and `--unset`, or neither. */
export function valueOrUnset(setting: string, example: string): SvcError {
  return new SvcError('usage', 'give either a value or --unset', {
    hint: 'For example:',
    next: ['profile', 'set', setting, example],
  });
}

/** The error for a key command without a base URL. Its output is a key, which goes to one base URL only. */
export function keyWithoutBaseUrl(): SvcError {
  return new SvcError('config', 'the profile has no base URL that the key could be for', {
    hint: 'Set it first:',
    next: ['profile', 'set', 'base_url', '<url>'],
  });
}
