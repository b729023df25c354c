import type { Client } from '../../api/client.ts';
import type { Context } from '../../cli/context.ts';
import { sameProfile } from '../../cli/same-profile.ts';
import type { Authentication } from '../../schema/three-ds/authentication.ts';
import { isOpen, outcomeLines } from '../../three-ds/outcome.ts';
import { sessionOutcome } from './session-outcome.ts';

/** Says on stderr what an outcome means, who bears the loss, and what to do next. */
export async function tellOutcome(
  { notices, globals }: Context,
  client: Client,
  id: string,
  result: Authentication,
): Promise<void> {
  if (!notices.shows('normal')) return;
  const more = wantsReason(result) ? await sessionOutcome(client, id) : undefined;
  for (const line of outcomeLines({ ...reasonsOf(more), ...reasonsOf(result), ...result }))
    notices.note(line);
  if (more?.cardholder_info)
    notices.note(
      sameProfile(
        `the issuer has a text for the cardholder: 'svc 3ds show ${id} -o json --fields authentication.cardholder_info'`,
        globals,
      ),
    );
}

function wantsReason(result: Authentication): boolean {
  return !isOpen(result) && result.authentication_status !== 'successful';
}

function reasonsOf(outcome: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const names = ['authentication_status_reason', 'challenge_cancel_reason'];
  return Object.fromEntries(
    names.flatMap((name) => (typeof outcome[name] === 'string' ? [[name, outcome[name]]] : [])),
  );
}
