// Replies to a challenge of the sandbox in place of the cardholder.

import { isSvcError, SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import type { Client } from '../client/api/client.ts';
import { isLoopbackHost } from '../schema/address.ts';
import { reportPage } from './challenge-page.ts';
import type { ChallengeReply } from './suite.ts';

const PAGE_LIMITS = { connect: 5_000, headers: 10_000, idle: 5_000, body: 10_000 };

/** Replies to a challenge of the sandbox, on loopback, in place of the cardholder. Reports the page of any other service. */
export async function answerChallenge(
  context: Context,
  { transport }: Client,
  page: string | undefined,
  challenge: ChallengeReply,
): Promise<void> {
  const { signal } = context;
  const url = page !== undefined && URL.canParse(page) ? new URL(page) : undefined;
  if (url === undefined || !isLoopbackHost(url.hostname)) return reportPage(context, page, false);
  const { exchange } = await import('../client/http/exchange.ts');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  // A page with a code uses `code`; a page that represents a banking app uses `answer`.
  const body = challenge === 'complete' ? 'answer=approve&code=123456' : 'answer=cancel';
  try {
    (await exchange(transport, { method: 'POST', url, headers, body, limits: PAGE_LIMITS, signal })).discard();
  } catch (error) {
    if (signal.aborted || isSvcError(error)) throw error;
    throw new SvcError('network', 'the challenge page of the sandbox did not respond', { cause: error });
  }
}
