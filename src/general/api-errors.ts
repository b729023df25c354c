import { SvcError } from '../base/errors.ts';
import { didYouMean, typedWord } from '../base/security/typed-word.ts';

/** The error for a path that does not show which key it needs. */
export function whichKey(path: string): SvcError {
  return new SvcError('usage', `cannot tell which key ${path} needs`, {
    hint: 'Give --key management or --key private.',
  });
}

/** The error for a method that no endpoint has. */
export function unknownMethod(typed: string, methods: readonly string[]): SvcError {
  return new SvcError('usage', `<method> must be one of ${methods.join(', ')}, not ${typedWord(typed, methods)}`, {
    hint: didYouMean(typed.toUpperCase(), methods),
    next: ['api', 'GET', '<path>'],
  });
}

/** The error for a deletion of the tenant without its own command. */
export function tenantDeletion(): SvcError {
  return new SvcError('usage', 'deleting the tenant has its own command; nothing was sent', {
    hint: 'It asks for the name of the tenant first:',
    next: ['tenant', 'delete'],
  });
}
