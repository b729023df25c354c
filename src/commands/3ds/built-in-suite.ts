import type { Scenario } from '../../three-ds/suite.ts';
import { threeDsCards } from '../sandbox/three-ds-cards.ts';

/** What a test card is to end with: its published name says so. */
function outcomeOf(scenario: string): string {
  if (scenario.includes('Directory Server Error')) return '424';
  if (scenario.includes('Internal 3DS Server Error')) return '500';
  return /successful|attempted|failed|unavailable|rejected/.exec(scenario.toLowerCase())?.[0] ?? 'unavailable';
}

/** A scenario for every test card. */
export async function builtInSuite(): Promise<Scenario[]> {
  return (await threeDsCards()).map(({ scenario, network, number }) => ({
    name: `${scenario}, ${network} ${number.slice(-4)}`,
    card: number,
    type: 'customer',
    expect: outcomeOf(scenario),
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
