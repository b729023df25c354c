import type { Scenario } from '../../three-ds/suite.ts';
import { threeDsCards } from '../sandbox/three-ds-cards.ts';

/** What each scenario of the service's test cards is to end with. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'Successful Frictionless Authentication': 'successful',
  'Successful Challenge Authentication': 'successful',
  'Successful Challenge Authentication - Method not Required': 'successful',
  'Successful Mandated Challenge Authentication': 'successful',
  'Successful Out-of-Band Challenge Authentication': 'successful',
  'Attempted Challenge Authentication': 'attempted',
  'Authentication Attempted': 'attempted',
  'Authentication Failed': 'failed',
  'Authentication Unavailable': 'unavailable',
  'Authentication Rejected': 'rejected',
  'Failed Challenge Authentication': 'failed',
  'Failed Out of Band Challenge Authentication': 'failed',
  'Unavailable Challenge Authentication': 'unavailable',
  'Rejected Challenge Authentication': 'rejected',
  '3DS Directory Server Error': '424',
  'Internal 3DS Server Error': '500',
};

/** A scenario for every test card. */
export async function builtInSuite(): Promise<Scenario[]> {
  return (await threeDsCards()).map(({ scenario, network, number }) => ({
    name: `${scenario}, ${network} ${number.slice(-4)}`,
    card: number,
    type: 'customer',
    expect: OUTCOMES[scenario] ?? 'successful',
    challenge: 'complete',
  }));
}

const HEAD = `# Run these scenarios with 'svc 3ds test <this file>'.
#
# card: a test card of the sandbox: its number, or the beginning of its scenario. At a test tenant, give the id of
#   a card token in its place (token:), or of a card token intent (token_intent:).
# expect: a status of the authentication, or the HTTP status of a refusal. An open challenge can be expected too.
# Of each scenario, or up here for all: type: customer or merchant; body: the file of a request body;
# challenge: complete or cancel, which is how svc answers a challenge of the sandbox.
`;

/** The same as the text of a file to start from. */
export async function builtInSuiteText(): Promise<string> {
  const lines = (await builtInSuite()).map(
    ({ name, card, expect }) => `  - name: ${name}\n    card: ${card}\n    expect: ${expect}\n`,
  );
  return `${HEAD}scenarios:\n${lines.join('')}`;
}
