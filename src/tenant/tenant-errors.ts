import { SvcError } from '../base/errors.ts';
import { describeTenant, factsOf } from '../cli/app/tenant-mark.ts';
import type { Tenant } from '../schema/tenant.ts';
import { UUID } from '../schema/uuid.ts';
import { didYouMean, sentences, typedWord } from '../base/security/typed-word.ts';

/** The error for an update or a deletion that cannot be confirmed. */
export function cannotConfirm(
  what: string,
  why: string,
  details: Pick<SvcError, 'hint'> & { next?: string[] },
): SvcError {
  return new SvcError('input_needed', `${what} must be confirmed: ${why}`, details);
}

/** The error for `--confirm` with the id of another tenant. */
export function confirmsAnother(): SvcError {
  return new SvcError('usage', 'the id given with --confirm is not that of this tenant; nothing was deleted', {
    hint: 'Check the profile: the key decides which tenant it is.',
  });
}

/** The error for a tenant that may only be deleted with `--production`. */
export function notATestTenant(description: string): SvcError {
  return new SvcError('usage', `this is a ${description}; nothing was deleted`, {
    hint: 'To delete it anyway, add --production.',
  });
}

/** The error for a typed name that is not the tenant's. */
export function nameDiffers(): SvcError {
  return new SvcError('usage', 'name does not match; nothing was deleted', {
    hint: 'Run the command again and type the name as shown.',
  });
}

/** The error for a tenant that changed between the difference that was shown and the update. */
export function changedMeanwhile(fields: readonly string[]): SvcError {
  return new SvcError('conflict', `the tenant changed meanwhile: ${fields.join(', ')}; nothing was written`, {
    hint: 'Run the command again: it shows the difference from the present tenant.',
    facts: { fields },
  });
}

/** The error for an update after which the service returns other values. */
export function updateIgnored(fields: readonly string[]): SvcError {
  return new SvcError(
    'checksum_mismatch',
    `the service accepted the update, but these fields differ in its response: ${fields.join(', ')}`,
    { next: ['tenant', 'show'], facts: { fields } },
  );
}

/** The error for a tenant that is not as a file says. `unknown` names a setting that neither svc nor the tenant knows. */
export function tenantDiffers(file: string, fields: readonly string[], typed: string, unknown?: string): SvcError {
  const accept = 'To accept the tenant as it is, export it again. To change it back, update it from the file.';
  return new SvcError('threshold', `the tenant is not as ${file} says: ${fields.join(', ')}`, {
    hint: sentences(unknown, accept),
    next: ['tenant', 'update', '--file', typed, ...(unknown === undefined ? [] : ['--allow-unknown', '--dry-run'])],
    facts: { fields },
  });
}

/** The error for a usage report without the numbers that `--warn-at` compares. */
export function usageUnknown(missing: string): SvcError {
  return new SvcError('bad_response', `--warn-at cannot be checked: the usage report has no ${missing}`, {
    hint: 'The report lacks it; -o json shows the whole report.',
  });
}

/** The error for a share of included tokens that `--warn-at` warns of. */
export function usageReached(
  sent: { readonly active: string | undefined; readonly included: string | undefined },
  share: string,
  facts: { readonly warn_at_percent: number } & Readonly<Record<string, number>>,
): SvcError {
  const used = `${sent.active} of ${sent.included} included monthly active tokens are used (${share})`;
  return new SvcError('threshold', `${used}: ${facts.warn_at_percent}% is reached`, {
    hint: 'Plan for more included tokens, or check which types use them.',
    next: ['tenant', 'usage'],
    facts,
  });
}

/** The error for a member with another type than documented. An update replaces the whole tenant, so it would be lost. */
export function unreadableMember(member: 'name' | 'settings', hint: string): SvcError {
  return new SvcError(
    'bad_response',
    `the service sent the ${member} of the tenant with another type than documented; nothing was changed`,
    { hint, next: ['tenant', 'show'] },
  );
}

/** The error for a value that is not sent. */
export function refusedValue(message: string, hint = 'Fix the file and run the command again.'): SvcError {
  return new SvcError('refused_input', `${message}; nothing was sent`, { hint });
}

/** The error for a setting that is neither known nor on the tenant. */
export function unknownSetting(name: string, all: readonly string[], where: string): SvcError {
  return new SvcError('usage', `unknown setting ${typedWord(name, all)}${where}; nothing was sent`, {
    hint: sentences(didYouMean(name, all), `The tenant knows: ${all.join(', ')}.`),
  });
}

const CHANGEABLE = 'Only name and settings can be changed.';

/** The error for a member of a file that no tenant has. */
export function unknownMember(name: string, known: readonly string[], where: string, effect: string): SvcError {
  const what = `${typedWord(name, known)} in the file${where}`;
  return new SvcError('refused_input', `${what} is not a member of the tenant${effect}`, {
    hint: sentences(didYouMean(name, ['name', 'settings', ...known]), CHANGEABLE),
  });
}

/** The error for a file about another tenant than that of the key. An id that is none is not shown. */
export function fileOfAnother(file: string, id: unknown, tenant: Tenant, effect: string): SvcError {
  const other = typeof id === 'string' && UUID.test(id) ? ` (${id})` : '';
  const own = `the ${describeTenant(factsOf(tenant))} (${tenant.id})`;
  return new SvcError('config', `${file} is about another tenant${other}; this key belongs to ${own}${effect}`, {
    hint: 'Check the profile and the file: the key decides which tenant it is.',
    facts: { tenant: tenant.id },
  });
}

/** The error for a file that names neither a name nor a setting of a tenant, nor anything else of it. */
export function nothingToCompare(file: string): SvcError {
  return new SvcError('refused_input', `${file} names nothing to compare: no name, no setting and no other member`, {
    hint: "Name what the tenant should have, as 'svc tenant export' does.",
    next: ['tenant', 'export'],
  });
}

/** The error for a file that was made from an earlier state of the tenant. */
export function fileIsOld(differing: string): SvcError {
  return new SvcError('conflict', `the tenant changed since the file was made from it (${differing})`, {
    hint: 'Make the file again from the present tenant, or leave these members out of it.',
  });
}

/** The error for a file with other values of what only the service sets. */
export function fileDiffers(differing: string): SvcError {
  return new SvcError(
    'refused_input',
    `the file differs in what cannot be changed: ${differing}; nothing was changed`,
    { hint: `Check the profile and the file. ${CHANGEABLE}` },
  );
}
