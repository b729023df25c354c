import type { ChallengeAnswer } from '../events.ts';
import { outcomeOf } from '../outcome.ts';
import { answeredPage, challengePage, RIGHT_CODE, type Challenged } from './challenge-page.ts';
import { sendElsewhere, sendPage } from './html.ts';
import { OtherPage, readForm, visitedSession, type Visit } from './serve.ts';

/** Shows a challenge. */
export function showChallenge(visit: Visit): void {
  sendPage(visit.exchange, challengePage(challengedOf(visit)));
}

/** Takes an answer to a challenge. The browser then asks for the page anew, so that going back sends nothing. */
export async function answerChallenge(visit: Visit): Promise<void> {
  const form = await readForm(visit.exchange);
  const challenged = challengedOf(visit);
  const { session, authentication, now } = challenged;
  const outcome = outcomeOf(session, authentication, now);
  if (outcome.status !== 'challenge') throw new OtherPage(answeredPage());
  const answer = answerIn(form, outcome.challenge?.type === 'out-of-band');
  if (answer === undefined) throw new OtherPage(challengePage(challenged, true));
  const { service, exchange } = visit;
  service.state.record({ type: '3ds-challenge', at: now, session: session.id, answer });
  sendElsewhere(exchange, 303, exchange.incoming.url ?? '');
}

function challengedOf(visit: Visit): Challenged {
  const session = visitedSession(visit, 'challenge');
  const { authentication } = session;
  // The address is known to nobody before.
  if (authentication === undefined) throw new Error('a challenge page without a challenge');
  return { session, authentication, now: visit.now };
}

/** Undefined for a form that holds no answer. */
function answerIn(form: URLSearchParams, isApp: boolean): ChallengeAnswer | undefined {
  const answer = form.get('answer');
  if (answer === 'cancel') return answer;
  if (isApp) return answer === 'approve' || answer === 'decline' ? answer : undefined;
  // A code copied from elsewhere often comes with spaces.
  const code = (form.get('code') ?? '').replaceAll(/\s/g, '');
  if (code === '') return undefined;
  return code === RIGHT_CODE ? 'right-code' : 'wrong-code';
}
