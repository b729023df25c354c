import { checkKey, keyFailure, type KeyCheck, namesOf, type TenantFacts } from '../cli/check-key.ts';
import type { Context } from '../cli/context.ts';
import { shownHost } from '../address.ts';
import type { KeyKind } from '../config/document.ts';
import { SvcError } from '../errors.ts';
import { cleanText } from '../render/clean.ts';
import { tenantMark } from '../views/tenant.ts';
import type { Place } from './login.ts';

/** A key that somebody gave, or the command that prints it. */
export interface GivenKey {
  readonly kind: KeyKind;
  readonly value: string;
  readonly command?: string | undefined;
  /** Where it came from, for messages. */
  readonly from: string;
  /** The tenant that the service told, once it was tried. */
  tenant?: TenantFacts | undefined;
}

/**
 * Tries a key and says what the service answered; the tenant is noted on the key.
 * @throws SvcError for a key that is refused or of the other kind, and when the service cannot be asked
 */
export async function checkedKey(context: Context, key: GivenKey, { baseUrl, check }: Place): Promise<void> {
  if (!check) return;
  context.progress.waiting(`trying the ${key.kind} key`);
  const found = await checkKey(
    context,
    key.kind,
    { value: key.value, origin: key.from },
    { baseUrl },
  ).finally(() => context.progress.end());
  const failure = keyFailure(found, key.from);
  if (failure && found.verdict === 'unclear') throw unreachable(failure, baseUrl);
  if (failure) throw notStored(failure, key.kind);
  tell(context, found);
  key.tenant = found.tenant;
}

function tell({ notices, noticePalette }: Context, check: KeyCheck): void {
  const { kind, tenant, verdict } = check;
  if (tenant && notices.shows('normal'))
    notices.report(
      `${tenantMark(tenant.type, noticePalette)} ${noticePalette.strong(cleanText(tenant.name))} (${cleanText(tenant.id)})\n`,
    );
  if (verdict === 'powerless') {
    return notices.warn(`the ${kind} key is known to the service, but none of its reads is allowed (403)`);
  }
  notices.note(`the ${kind} key is good: ${namesOf(check, 'allowed').join(', ')}`);
  const forbidden = namesOf(check, 'forbidden', 'refused');
  if (forbidden.length > 0) notices.note(`  not allowed: ${forbidden.join(', ')}`);
  const unclear = namesOf(check, 'unclear');
  if (unclear.length > 0) notices.warn(`no clear answer about ${unclear.join(', ')}`);
}

function notStored(error: SvcError, kind: KeyKind): SvcError {
  const isOther = error.facts?.['key_kind'] !== undefined;
  const { status, requestId, facts } = error;
  const hint = isOther
    ? error.hint
    : `Nothing was stored. Check that it is a ${kind} key of this environment, whole and still valid.`;
  return new SvcError(error.code, error.message, { status, requestId, facts, hint });
}

function unreachable(error: SvcError, baseUrl: URL): SvcError {
  return new SvcError(error.code, `the key could not be tried at ${shownHost(baseUrl)}: ${error.message}`, {
    status: error.status,
    requestId: error.requestId,
    facts: error.facts,
    hint: `${error.hint ?? ''} Nothing was stored; --no-check stores without asking.`.trim(),
  });
}
